/**
 * Sharing on trial: what it would come to, and whether it is right, found out while callers are served.
 *
 * In {@linkcode Shadow} every caller has a backend call to itself, and a `ShadowCall` beside it makes the decisions
 * that sharing would make, on answers of which only a print is kept. A {@linkcode Verifier} asks a sample of followers'
 * questions once more after these were answered. What a difference means is found out by an {@linkcode Inquiry}, whose
 * control calls ({@linkcode Run}) have their turn in {@linkcode Places}: never before callers' calls. A method found to
 * answer by who asks is taken out ({@linkcode MethodTrials}).
 *
 * Invariants:
 * - no caller waits for any of it, and no answer depends on it;
 * - of answers nothing is kept but prints, of metadata nothing is told but names;
 * - questions that may have to be asked again are bounded in bytes, those that wait for their turn in number and time;
 * - a method's trial lasts as long as its policy stays as it is.
 *
 * Knows callers by what they ask with, and a backend as something that calls are started at.
 *
 * @module
 */
export type { Asker } from "./asker.ts";
export type { MethodTrial } from "./method_trial.ts";
export type { Shadow } from "./shadow.ts";
export type { ShadowAnswer } from "./shadow_answer.ts";
export type { ContainedCall } from "./contained_call.ts";
export { Trial, type TrialOptions } from "./trial.ts";
export type { FollowedAnswer, SharedReply, Verifier } from "./verifier.ts";
