/**
 * The demo: a slow, counting backend and a sidecar in this process, the same burst through the sidecar and past it, and
 * what the backend counted, told to somebody who has never heard of collapsing ({@linkcode runDemo}). Its pair of
 * backend and sidecar is there for other measurements too ({@linkcode startEmbedded}). {@linkcode runTrialDemo} shows how a
 * service is brought to sharing: by shadow and verify, which find a method out whose answers depend on who asks.
 *
 * Invariants
 * - Before each part the callers pause for longer than a result is kept, so that nothing stored answers a part's first
 *   calls.
 * - The backend is cut off before its clients close, and the sidecar is stopped after them.
 *
 * Exit codes: 0 when every call was answered with OK, 1 when one was not.
 *
 * Refuses: to know what the backend is and how a sidecar is set up; both are handed in.
 *
 * @module
 */
export { type Embedded, type EmbeddedParts, startEmbedded } from "./embedded.ts";
export { type DemoOptions, runDemo } from "./run_demo.ts";
export { runTrialDemo, type TrialDemoParts, type TrialSubject } from "./trial_demo.ts";
