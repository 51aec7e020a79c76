import { STATUS, statusName } from "../../grpc/mod.ts";

/** Width of a bin. */
export const BIN_MS = 100;

/** A bin is well from this share of good calls on: it holds only some thirty. */
export const WELL_SHARE = 0.95;

/** Bins in a row that must be well for the fault to be over; a bad one that comes later has another reason. */
const WELL_BINS = 5;

/** One call as its caller saw it. Times are from the beginning of the run. */
export interface CallRecord {
  /** When the call was due, which decides where it counts: a late generator hides nothing (coordinated omission). */
  readonly dueMs: number;
  readonly shard: number;
  /** Time from when the call was due to its end. */
  readonly latencyMs: number;
  /** Time from when the call was due to when it was made. */
  readonly lateMs: number;
  readonly status: number;
}

/** The measure that a system is judged by. */
export interface Judging {
  readonly deadlineMs: number;
  /** The shard that the fault was at. */
  readonly faulted: number;
  readonly faultBeginsMs: number;
  readonly faultEndsMs: number;
  readonly durationMs: number;
}

/** Calls, and those of them that were answered with OK within the deadline. */
export interface Share {
  calls: number;
  good: number;
}

/** 100 ms of callers' lives. */
export interface Bin {
  readonly fromMs: number;
  readonly healthy: Share;
  readonly all: Share;
}

/** The calls before, during or after the fault. */
export interface Phase {
  readonly healthy: Share;
  readonly all: Share;
  /** Latency of the good calls to healthy backends; undefined where there was none. */
  readonly p50Ms: number | undefined;
  readonly p99Ms: number | undefined;
  /** Calls by status, late ones as `LATE`, of the healthy backends and of the other. */
  readonly healthyStatuses: Readonly<Record<string, number>>;
  readonly faultedStatuses: Readonly<Record<string, number>>;
}

/** The tally of one system, phase by phase. */
export interface StallTally {
  readonly bins: readonly Bin[];
  readonly before: Phase;
  readonly during: Phase;
  readonly after: Phase;
  /** Time from the end of the fault until all was well for half a second; undefined when that did not come. */
  readonly recoveryMs: number | undefined;
  /** Lateness of the latest call: the generator's own fault, and part of that call's latency. */
  readonly latestMs: number;
}

/** The tally of one system, and what that is. */
export interface SystemResult {
  readonly name: string;
  readonly about: string;
  readonly tally: StallTally;
}

export function tallyStall(records: readonly CallRecord[], judging: Judging): StallTally {
  const { faultBeginsMs, faultEndsMs } = judging;
  const bins = binsOf(records, judging);
  const phase = (fromMs: number, toMs: number) =>
    phaseOf(records.filter(({ dueMs }) => dueMs >= fromMs && dueMs < toMs), judging);
  return {
    bins,
    before: phase(0, faultBeginsMs),
    during: phase(faultBeginsMs, faultEndsMs),
    after: phase(faultEndsMs, Infinity),
    recoveryMs: recoveryOf(bins, faultEndsMs),
    latestMs: records.reduce((latest, { lateMs }) => Math.max(latest, lateMs), 0),
  };
}

/** The good calls as a share from 0 to 1; 1 where there was no call to go wrong. */
export function shareOf({ calls, good }: Share): number {
  return calls === 0 ? 1 : good / calls;
}

/** Whether the caller was served: answered with OK within the deadline. */
export function isGood({ status, latencyMs }: CallRecord, { deadlineMs }: Judging): boolean {
  return status === STATUS.ok && latencyMs <= deadlineMs;
}

function binsOf(records: readonly CallRecord[], judging: Judging): Bin[] {
  const bins: Bin[] = Array.from({ length: Math.ceil(judging.durationMs / BIN_MS) }, (_, i) => ({
    fromMs: i * BIN_MS,
    healthy: { calls: 0, good: 0 },
    all: { calls: 0, good: 0 },
  }));
  for (const record of records) {
    const bin = bins[Math.floor(record.dueMs / BIN_MS)];
    if (bin === undefined) continue;
    const good = isGood(record, judging) ? 1 : 0;
    for (const share of record.shard === judging.faulted ? [bin.all] : [bin.all, bin.healthy]) {
      share.calls++;
      share.good += good;
    }
  }
  return bins;
}

function phaseOf(records: readonly CallRecord[], judging: Judging): Phase {
  const healthy = records.filter(({ shard }) => shard !== judging.faulted);
  const faulted = records.filter(({ shard }) => shard === judging.faulted);
  const latencies = healthy.filter((record) => isGood(record, judging))
    .map(({ latencyMs }) => latencyMs).sort((one, other) => one - other);
  return {
    healthy: countGood(healthy, judging),
    all: countGood(records, judging),
    p50Ms: percentile(latencies, 50),
    p99Ms: percentile(latencies, 99),
    healthyStatuses: countStatuses(healthy, judging),
    faultedStatuses: countStatuses(faulted, judging),
  };
}

function countGood(records: readonly CallRecord[], judging: Judging): Share {
  return {
    calls: records.length,
    good: records.filter((record) => isGood(record, judging)).length,
  };
}

function countStatuses(records: readonly CallRecord[], judging: Judging): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const record of records) {
    const isLate = record.status === STATUS.ok && !isGood(record, judging);
    const name = isLate ? "LATE" : statusName(record.status);
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/** The value that `percent` of the sorted ones are not above. */
function percentile(sorted: readonly number[], percent: number): number | undefined {
  return sorted[Math.max(0, Math.ceil(sorted.length * percent / 100) - 1)];
}

function recoveryOf(bins: readonly Bin[], faultEndsMs: number): number | undefined {
  const isWell = ({ all }: Bin) => shareOf(all) >= WELL_SHARE;
  for (let at = Math.floor(faultEndsMs / BIN_MS); at + WELL_BINS <= bins.length; at++) {
    if (bins.slice(at, at + WELL_BINS).every(isWell)) {
      return Math.max(0, bins[at]!.fromMs - faultEndsMs);
    }
  }
}
