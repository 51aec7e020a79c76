import type { StallSubject } from "../../../lib/measure/stall/subject.ts";
import {
  type CallRecord,
  type SystemResult,
  tallyStall,
} from "../../../lib/measure/stall/tally.ts";

/** What the tests of reports say was measured. */
export const SUBJECT: StallSubject = {
  fault: "stall",
  isAnnounced: false,
  shards: ["a", "b", "c"],
  faulted: "a",
  isEmbedded: true,
  serviceMs: 5,
  perSecond: 300,
  deadlineMs: 2_000,
  places: 10,
  waiting: 10,
  beforeMs: 1_000,
  stallMs: 2_000,
  afterMs: 1_000,
  seed: 42,
};

/** A run in which `fails` says which calls failed; every 10 ms a call to each backend. */
export function resultOf(
  name: string,
  fails: (shard: number, dueMs: number) => boolean,
  about = `what ${name} is`,
): SystemResult {
  const records: CallRecord[] = [];
  for (let dueMs = 0; dueMs < 4_000; dueMs += 10) {
    for (const shard of [0, 1, 2]) {
      const status = fails(shard, dueMs) ? 14 : 0;
      records.push({ dueMs, shard, status, latencyMs: 5, lateMs: 0 });
    }
  }
  const tally = tallyStall(records, {
    deadlineMs: SUBJECT.deadlineMs,
    faulted: 0,
    faultBeginsMs: 1_000,
    faultEndsMs: 3_000,
    durationMs: 4_000,
  });
  return { name, about, tally };
}

export function isDuring(dueMs: number): boolean {
  return dueMs >= 1_000 && dueMs < 3_000;
}

/** A wall around each, and one pool for all. */
export const RESULTS: readonly SystemResult[] = [
  resultOf("collapser", (shard, dueMs) => shard === 0 && isDuring(dueMs)),
  resultOf("shared-pool", (_shard, dueMs) => isDuring(dueMs)),
];
