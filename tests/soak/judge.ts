/**
 * What each call may come to. Everything else is a fault of the sidecar's.
 *
 * @module
 */

import { STATUS, statusOfReset } from "../../lib/grpc/mod.ts";
import { BACKENDS_WORD, failureText } from "./content.ts";
import type { SoakCall } from "./soak_call.ts";

/** Clocks are read at other moments here than there, and timeouts are written in whole milliseconds. */
const CLOCK_SLACK_MS = 10;

/** Whoever shares a call that ends at its leader's deadline and has hardly more time left ends with it. */
const LEADERS_SLACK_MS = 50;

export const OUTCOMES = [
  "OK",
  "failed as planned",
  "deadline",
  "leader's deadline",
  "cancelled",
  "cut",
  "unavailable",
  "WRONG",
] as const;
export type Outcome = typeof OUTCOMES[number];

/** When no call could count on a backend. */
export interface Outages {
  /** Whether any part of the time between was within an outage of that backend; of any where none is named. */
  overlap(fromMs: number, toMs: number, backend?: string): boolean;
  /** Whether callers may have been sent away at any time between. */
  mayBeShut(fromMs: number, toMs: number): boolean;
}

/** Methods whose calls may be shared, by their names or by what the policy file says now and then. */
const MAY_BE_SHARED: ReadonlySet<string> = new Set(["get", "list", "post"]);

/** What a call came to; `fault` says why that is wrong where it is. */
export function judge(call: SoakCall, outages: Outages): { outcome: Outcome; fault?: string } {
  const { end, wrong } = call;
  if (end === undefined) return fault("it has not ended");
  if (wrong !== undefined) return fault(wrong);
  switch (end.how) {
    case "cancelled":
      return { outcome: "cancelled" };
    case "cut":
      return { outcome: "cut" };
    case "lost":
      if (wasSentAway(call, end.why, outages)) return { outcome: "unavailable" };
      return fault(`the connection was lost: ${end.why}`);
    case "broken":
      if (wasSentAway(call, end.why, outages)) return { outcome: "unavailable" };
      return fault(end.why);
    case "status":
      return judgeStatus(call, { ...end, outages });
  }
}

function judgeStatus(
  call: SoakCall,
  { status, message, outages }: { status: number; message: string; outages: Outages },
): { outcome: Outcome; fault?: string } {
  const { choice: { deadlineMs, key, name, shard }, plan: { ending, replies }, owner } = call;
  const tookMs = call.endedMs - call.startedMs;
  const isWhole = call.replies === replies.length && !call.isPartial;
  if (status === STATUS.deadlineExceeded) {
    // A shared stream that has begun cannot be asked for again: it ends for all when the backend keeps its leader's.
    if (call.kind === "server stream" && message.startsWith(BACKENDS_WORD)) {
      return { outcome: deadlineMs === undefined ? "leader's deadline" : "deadline" };
    }
    if (deadlineMs === undefined) return fault(`status 4 without a deadline: ${message}`);
    const slackMs = CLOCK_SLACK_MS + (MAY_BE_SHARED.has(name) ? LEADERS_SLACK_MS : 0);
    if (tookMs >= deadlineMs - slackMs) return { outcome: "deadline" };
    return fault(`status 4 after ${tookMs.toFixed()} of ${deadlineMs} ms: ${message}`);
  }
  if (status === STATUS.unavailable) {
    // Of shards each is a backend of its own: that another is ill is no excuse.
    if (outages.overlap(call.startedMs, call.endedMs, shard)) return { outcome: "unavailable" };
    return fault(`status 14 while the backend was there: ${message}`);
  }
  // What the backend had not sent yet when it reset the stream, it will not send.
  if (!isWhole && ending.how !== "reset") {
    return fault(`status ${status} after ${call.replies} of ${replies.length} replies: ${message}`);
  }
  if (ending.how === "ok" || ending.how === "refused once") {
    return status === STATUS.ok ? { outcome: "OK" } : fault(`status ${status}: ${message}`);
  }
  const expected = ending.how === "reset" ? statusOfReset(ending.code) : ending.status;
  const text = ending.how === "reset" ? "the backend reset the stream" : failureText(key, owner);
  if (status !== expected || !message.includes(text)) {
    return fault(`status ${status} in place of ${expected}: ${message}`);
  }
  return { outcome: "failed as planned" };
}

/** The call was not begun: its sidecar takes none while its only backend is away (RFC 9113 §6.8, §8.7). */
function wasSentAway({ startedMs, endedMs, replies }: SoakCall, why: string, outages: Outages) {
  return replies === 0 && /^(GOAWAY NO_ERROR|RST_STREAM REFUSED_STREAM)/.test(why) &&
    outages.mayBeShut(startedMs, endedMs);
}

function fault(why: string): { outcome: Outcome; fault: string } {
  return { outcome: "WRONG", fault: why };
}
