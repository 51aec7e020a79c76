import { randomFrom } from "../load/mod.ts";

/** A call as it is planned. */
export interface Arrival {
  /** When the call is due, after the beginning of the run. */
  readonly atMs: number;
  /** Index of the backend that the call is for. */
  readonly shard: number;
}

/** The calls to plan. */
export interface ArrivalPlan {
  readonly seed: number;
  readonly perSecond: number;
  readonly durationMs: number;
  readonly shards: number;
}

/**
 * Calls as independent callers make them: gaps are exponential (a Poisson process), and of each round of as many calls
 * as there are backends every backend gets one, in an order that chance decides. The same seed gives the same calls.
 */
export function planArrivals({ seed, perSecond, durationMs, shards }: ArrivalPlan): Arrival[] {
  const random = randomFrom(mixed(seed));
  const meanGapMs = 1_000 / perSecond;
  const arrivals: Arrival[] = [];
  let round: number[] = [];
  for (let atMs = gap(); atMs < durationMs; atMs += gap()) {
    if (round.length === 0) round = Array.from({ length: shards }, (_, i) => i);
    const [shard] = round.splice(Math.floor(random() * round.length), 1);
    arrivals.push({ atMs, shard: shard! });
  }
  return arrivals;

  function gap(): number {
    return -Math.log(1 - random()) * meanGapMs;
  }
}

/** The seed, its bits mixed: neighbouring numbers begin alike. */
function mixed(seed: number): number {
  return Math.imul(seed, 0x9e3779b1) ^ 0x5bd1e995;
}
