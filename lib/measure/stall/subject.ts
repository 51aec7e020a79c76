import { showCount, showCounted, showRoundTime } from "../report/mod.ts";
import type { FaultName } from "./fault.ts";

/** The subject of a measurement, for a reader of the numbers, which mean nothing without it. */
export interface StallSubject {
  readonly fault: FaultName;
  /** Whether somebody else brought the fault about. */
  readonly isAnnounced: boolean;
  readonly shards: readonly string[];
  /** The backend that the fault is at. */
  readonly faulted: string;
  readonly isEmbedded: boolean;
  /** Time that an embedded backend takes for an answer. */
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

/** The fault in a word; undefined when there is none. */
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
