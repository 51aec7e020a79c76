import { showCount, showCounted, showRoundTime } from "../report/mod.ts";
import type { FaultName } from "./fault.ts";

/** What was measured, for a reader of the numbers. Without it the numbers mean nothing. */
export interface StallSubject {
  readonly fault: FaultName;
  /** Somebody else brought it about. */
  readonly isAnnounced: boolean;
  readonly shards: readonly string[];
  /** The backend that the fault is at. */
  readonly faulted: string;
  readonly isEmbedded: boolean;
  /** How long an embedded backend takes for an answer. */
  readonly serviceMs: number;
  readonly perSecond: number;
  readonly deadlineMs: number;
  readonly places: number;
  readonly waiting: number;
  readonly beforeMs: number;
  readonly stallMs: number;
  readonly afterMs: number;
  readonly seed: number;
}

/** What happens to the one backend, in a word; undefined when nothing does. */
export function faultName({ fault, isAnnounced }: StallSubject): string | undefined {
  if (fault !== "none") return fault;
  return isAnnounced ? "by hand" : undefined;
}

/** One line that says all that decides the numbers. */
export function conditions(subject: StallSubject): string {
  const { perSecond, deadlineMs, places, waiting, shards, seed } = subject;
  const all = shards.length;
  return `${showCount(perSecond)} calls/s, deadline ${showRoundTime(deadlineMs)}, ` +
    `pools ${places}+${waiting} each, shared ${places * all}+${waiting * all}, seed ${seed}`;
}

/** `3 backends`, for titles. */
export function backendsText({ shards }: StallSubject): string {
  return showCounted(shards.length, "backend");
}
