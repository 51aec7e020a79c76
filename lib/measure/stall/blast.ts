import { measureStall, type StallOptions, type StallParts } from "./run_stall.ts";
import { type Share, shareOf, type SystemResult } from "./tally.ts";

/** As `collapser stall` has them when it is told nothing, but for the times. */
const OPTIONS: Omit<StallOptions, "stallMs"> = {
  backends: [],
  proxies: [],
  port: 0,
  method: "/shop.Items/GetItem",
  header: "x-shard",
  fault: "stall",
  backendPid: undefined,
  announce: false,
  beforeMs: 2_000,
  afterMs: 500,
  perSecond: 300,
  deadlineMs: 2_000,
  seed: 1,
  places: 10,
  waiting: 10,
  serviceMs: 5,
  only: [],
  sharedPool: true,
  json: undefined,
  svg: undefined,
};

/** What callers of the healthy backends saw through one system. */
export interface BlastRow {
  /** The system between callers and backends: `collapser`, `envoy`, `direct`. */
  readonly name: string;
  /** Calls to the healthy backends while one stood still, and those of them that were not answered in time. */
  readonly calls: number;
  readonly failed: number;
  /** Before one backend stood still, and while it did. */
  readonly healthyP99Ms: number;
  readonly stalledP99Ms: number;
}

/** What one backend that stands still does to the callers of the others. */
export interface BlastResult {
  /** In one sentence. */
  readonly summary: string;
  readonly rows: readonly BlastRow[];
}

/**
 * The blast radius of one backend of three that stands still for so long, embedded, as the tax's third bill; the ways
 * to the backends are those of `runStall`. Rejects when it cannot be measured.
 */
export async function measureBlast(stallMs: number, parts: StallParts): Promise<BlastResult> {
  const { results } = await measureStall({ ...OPTIONS, stallMs }, parts);
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
