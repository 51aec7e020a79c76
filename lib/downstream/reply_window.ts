import { MESSAGE_PREFIX_BYTES } from "../grpc/mod.ts";
import type { FrameLog } from "../wire/mod.ts";
import type { FlightWaiter } from "./flight_waiter.ts";

/** A log that nobody new may join keeps this many times the limit for those who read slowly. */
const LAG_FACTOR = 4;

/**
 * Past its replay bound, of `maxMessageBytes`, a flight's log is a sliding window: who falls too far behind is let go
 * alone, and what all have read is dropped.
 */
export function slideWindow(
  log: FrameLog,
  waiters: readonly FlightWaiter[],
  maxMessageBytes: number,
): void {
  let slowest = log.end;
  for (const waiter of waiters) {
    if (waiter.isOver) continue;
    const { position } = waiter.stream;
    if (log.end - position > maxMessageBytes * LAG_FACTOR) waiter.failOwn({ kind: "tooSlow" });
    else slowest = Math.min(slowest, position);
  }
  log.dropBefore(slowest);
}

/** Has a log take the storage at once that the message under way needs, where all of that is going to be held. */
export function makeRoom(
  { log, missingBytes }: { readonly log: FrameLog; readonly missingBytes: number },
  { maxMessageBytes }: { readonly maxMessageBytes: number },
): void {
  const willBeBytes = log.dataBytes + missingBytes - MESSAGE_PREFIX_BYTES;
  if (missingBytes > 0 && willBeBytes <= maxMessageBytes) log.expect(missingBytes);
}
