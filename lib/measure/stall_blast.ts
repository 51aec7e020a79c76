import { measureStall, type StallOptions, type StallParts } from "./stall.ts";
import type { Share, SystemResult } from "./stall_tally.ts";
import { shareOf } from "./stall_tally.ts";
import type { BlastResult, BlastRow } from "./tax/blast.ts";

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
