import type { Stream } from "../connection/mod.ts";
import { type Failure, NO_DEADLINE, type Target } from "../upstream/mod.ts";
import type { Field, FrameLog } from "../wire/mod.ts";

/**
 * A backend whose clock runs ahead of ours, or whose timeout we rounded down, ends a call this much before the
 * leader's deadline as we count it; it is still the leader's deadline that ended it.
 */
export const DEADLINE_SLACK_MS = 50;

/** What a flight's backend call is sent to, and what the policy says of keeping its result. */
export interface FlightTarget extends Target {
  readonly method: Target["method"] & {
    /** How long a good result is kept, in place of COLLAPSER_CACHE_DURATION. */
    readonly policy: { readonly cacheDurationMs?: number };
  };
}

/** A caller's call, as its flight sees it. */
export interface FlightWaiter {
  readonly route: FlightTarget;
  /** The fields that belong to this call alone. */
  readonly perCall: readonly Field[];
  /** When the caller gives up, by the transport's clock. */
  readonly deadlineMs: number;
  /** The caller's stream; its position is how far the reply has been relayed. */
  readonly stream: Pick<Stream<unknown>, "position">;
  readonly isOver: boolean;
  /** So much of the request is still to be taken by the backend. */
  holds(bytes: number): void;
  /** Relays what there is of the reply; a fault of ours ends this call and no other. */
  readMoreOrFail(): void;
  /** Ends this call alone. */
  failOwn(failure: Failure): void;
  /** The answer turned out to be another caller's alone: this one makes a call of its own, with this body. */
  passAfterAll(body: FrameLog): void;
}

/** The waiter with the most time left, if it has more than the leader had. */
export function patientWaiter<W extends FlightWaiter>(
  waiters: readonly W[],
  nowMs: number,
): W | undefined {
  let best: W | undefined;
  for (const waiter of waiters) {
    if (waiter.deadlineMs === NO_DEADLINE) return waiter;
    if (
      waiter.deadlineMs > nowMs + DEADLINE_SLACK_MS && waiter.deadlineMs > (best?.deadlineMs ?? 0)
    ) best = waiter;
  }
  return best;
}

/** Those whose time is up get the status that says so rather than a second call's. */
export function endTheImpatient(waiters: readonly FlightWaiter[], nowMs: number): void {
  for (const waiter of waiters) {
    const { deadlineMs } = waiter;
    if (deadlineMs !== NO_DEADLINE && deadlineMs <= nowMs + DEADLINE_SLACK_MS) {
      waiter.failOwn({ kind: "deadline" });
    }
  }
}
