import { measureStall, type StallOptions, type StallParts } from "./run_stall.ts";
import { type Share, shareOf, type SystemResult } from "./tally.ts";

/** Time before the fault and after it, both short: a blast is one bill of three. */
const BEFORE_MS = 2_000;
const AFTER_MS = 500;

/** The callers of the healthy backends, through one system. */
export interface BlastRow {
  /** The system between callers and backends: `collapser`, `envoy`, `direct`. */
  readonly name: string;
  /** Calls to the healthy backends while one stood still, and those of them that were not answered in time. */
  readonly calls: number;
  readonly failed: number;
  /** The p99 of those calls before one backend stood still, and while it did. */
  readonly healthyP99Ms: number;
  readonly stalledP99Ms: number;
}

/** The harm that one backend that stands still does to the callers of the others. */
export interface BlastResult {
  /** The result in one sentence. */
  readonly summary: string;
  readonly rows: readonly BlastRow[];
}

/**
 * The blast radius of one backend that the fault of the options is at, with less time around it than they say; the ways
 * to the backends are those of `runStall`. Rejects when it cannot be measured.
 */
export async function measureBlast(options: StallOptions, parts: StallParts): Promise<BlastResult> {
  const times = { beforeMs: BEFORE_MS, afterMs: AFTER_MS };
  const { results } = await measureStall({ ...options, ...times }, parts);
  return blastOf(results);
}

/** The results of a stall in the words and figures of one bill. */
export function blastOf(results: readonly SystemResult[]): BlastResult {
  return { summary: summaryOf(results), rows: results.map(rowOf) };
}

function rowOf({ name, tally: { before, during } }: SystemResult): BlastRow {
  const { calls, good } = during.healthy;
  return {
    name,
    calls,
    failed: calls - good,
    healthyP99Ms: before.p99Ms ?? NaN,
    stalledP99Ms: during.p99Ms ?? NaN,
  };
}

function summaryOf(results: readonly SystemResult[]): string {
  const told = results.map(({ name, tally: { during } }) =>
    `${name} ${percent(during.healthy)} of the calls to the other two, ${
      percent(during.all)
    } of all`
  );
  return `While one backend of three stood still, these were answered in time: ${told.join("; ")}.`;
}

function percent(share: Share): string {
  return `${(shareOf(share) * 100).toFixed(1)} %`;
}
