import { type AnswerPrint, type Likeness, likeness } from "./answer_print.ts";

/** What a comparison of a shared answer with the follower's own says (INTERFACE: Trust). */
export type Verdict = "match" | "reordered" | "raced" | "unstable" | "mismatch";

/** A control run that would tell more: the leader's question once more, or the follower's. */
export type Control = "ask_leader" | "ask_follower";

/** All that is known of one suspicion so far. */
export interface Evidence {
  /** What the leader was answered, and the follower with it. */
  readonly shared: AnswerPrint;
  /** What the follower was answered by a call of its own. */
  readonly own: AnswerPrint;
  /** Whether a write came between the leader's question and the end of the last run. */
  readonly raced: boolean;
  /** The leader's question, asked again after `own`. */
  readonly leaderAgain?: AnswerPrint;
  /** The follower's question, asked again after `leaderAgain`. */
  readonly followerAgain?: AnswerPrint;
}

/**
 * What the evidence says, or which control run it still wants. A difference alone accuses nobody: it is a `mismatch`
 * only when the leader's question is answered as before *and* the follower's, asked twice, otherwise both times alike.
 * A clock fails the first, a value that came and went between the runs the second. A write explains any difference.
 */
export function judge(evidence: Evidence): Verdict | Control {
  const { shared, own, raced, leaderAgain, followerAgain } = evidence;
  const first: Likeness = likeness(shared, own);
  if (first !== "different") return first;
  if (raced) return "raced";
  if (leaderAgain === undefined) return "ask_leader";
  if (likeness(shared, leaderAgain) === "different") return "unstable";
  if (followerAgain === undefined) return "ask_follower";
  return likeness(own, followerAgain) === "different" ? "unstable" : "mismatch";
}

/** What is said when no further control run may be made: without one, a difference is `unstable`. */
export function judgeWithoutControl(evidence: Evidence): Verdict {
  const said = judge(evidence);
  return said === "ask_leader" || said === "ask_follower" ? "unstable" : said;
}
