/**
 * Waiting for what peers on sockets see, where a rig in memory would wait until nothing moves.
 *
 * @module
 */

import type { CallerCall } from "./caller_end.ts";
import { ping } from "./frames.ts";
import type { PeerEnd } from "./peer_end.ts";
import { until } from "./waiting.ts";

/** Whether a call is over for its caller, by trailers or by a reset. */
export function hasEnded({ reply }: Pick<CallerCall, "reply">): boolean {
  return reply.endedBy !== undefined || reply.reset !== undefined;
}

/** Resolves when these calls are over for their callers. */
export function ended(...calls: readonly Pick<CallerCall, "reply">[]): Promise<void> {
  return until(() => calls.every(hasEnded), `the end of ${calls.length} calls`);
}

/** Resolves when the sidecar has done all that this end has asked of it so far, and has said so. */
export async function catchesUp(end: PeerEnd): Promise<void> {
  const before = end.seen("PING ack").length;
  end.sends(ping(0x5a));
  await until(() => end.seen("PING ack").length > before, "the answer to a PING");
}
