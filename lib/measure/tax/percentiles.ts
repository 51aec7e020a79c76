import { Histogram } from "../report/mod.ts";
import { type Percentiles, type PercentName, PERCENTS } from "./result.ts";
import type { Sample } from "./sample.ts";
import { type Spread, spreadOf } from "./statistics.ts";

/** Calls that must lie beyond a percentile: fewer, and it is the tale of a few unlucky ones. */
const MIN_BEYOND = 5;

/** The percents at which the curve of a distribution has its points. */
const CURVE_PERCENTS = [1, 5, 10, 25, 50, 75, 90, 95, 98, 99, 99.5, 99.8, 99.9, 99.95, 99.99];

export function pooled(samples: readonly Sample[]): Histogram {
  const pool = new Histogram();
  for (const { latency } of samples) pool.merge(latency);
  return pool;
}

/** Percentiles of one distribution, in ms. */
export function percentilesOf(latency: Histogram): Percentiles<number> {
  return eachPercent((percent) => isKnown(latency, percent) ? latency.percentile(percent) : null);
}

export function curveOf(latency: Histogram): (readonly [number, number])[] {
  return CURVE_PERCENTS.filter((percent) => isKnown(latency, percent))
    .map((percent) => [percent, latency.percentile(percent)] as const);
}

/**
 * The amount by which each percentile is higher than that of `base`: the difference within a round, for every round
 * that both were measured in. Where a round has too few calls for it, the difference of all rounds together, without a
 * spread.
 */
export function addedPercentiles(
  samples: readonly Sample[],
  base: readonly Sample[],
): Percentiles<Spread> {
  const pairs = samples.flatMap((sample) => {
    const other = base.find(({ step }) => step.round === sample.step.round);
    return other === undefined ? [] : [[sample.latency, other.latency] as const];
  });
  const [all, allBase] = [pooled(samples), pooled(base)];
  return eachPercent((percent) => {
    if (!isKnown(all, percent) || !isKnown(allBase, percent)) return null;
    const known = pairs.filter((pair) => pair.every((latency) => isKnown(latency, percent)));
    const differences = known.length === pairs.length
      ? known.map(([one, other]) => one.percentile(percent) - other.percentile(percent))
      : [all.percentile(percent) - allBase.percentile(percent)];
    return spreadOf(differences) ?? null;
  });
}

function isKnown({ count }: Histogram, percent: number): boolean {
  // 5,000 calls have five beyond 99.9 %: rounding must not take one away.
  return count * (100 - percent) / 100 >= MIN_BEYOND - 1e-6;
}

function eachPercent<T>(figure: (percent: number) => T): Readonly<Record<PercentName, T>> {
  const { p50, p90, p99, p999 } = PERCENTS;
  return { p50: figure(p50), p90: figure(p90), p99: figure(p99), p999: figure(p999) };
}
