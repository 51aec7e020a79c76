import { showShare, showTime } from "../report/mod.ts";
import type { BlastResult } from "../stall/mod.ts";
import {
  type CpuFigures,
  type Percentiles,
  type PercentName,
  PERCENTS,
  type SystemFigures,
  type TaxResult,
} from "./result.ts";
import { showDifference, showRate } from "./show.ts";

/** The percentiles, the lowest first, and what a column of each is called. */
export const PERCENT_NAMES = Object.keys(PERCENTS) as readonly PercentName[];
export const PERCENT_HEADS: readonly string[] = PERCENT_NAMES.map((name) => `p${PERCENTS[name]}`);

export const SPLIT_HEADS: readonly string[] = ["hop", "processing", "queueing"];
export const BLAST_HEADS: readonly string[] = ["p99 before", "p99 meanwhile", "failed"];

export const TIME_TITLE = "1. Time: what a call waits longer than a direct one";
export const BLAST_TITLE = "3. One slow backend: what callers of the healthy ones see";

/** Words in place of a figure. */
export const NOT_MEASURED = "not measured";

/** A row of the split of what a proxy adds. */
export interface SplitRow {
  readonly name: string;
  readonly rate: string;
  /** Whether the rate is the lowest, with which a proxy's rows begin. */
  readonly isFirst: boolean;
  /** The figures, one for each of {@linkcode SPLIT_HEADS}. */
  readonly cells: readonly string[];
}

/** A row of the CPU time of one system. */
export interface CpuRow {
  readonly when: string;
  readonly cpu: CpuFigures;
}

/** A row of the repeats, for one system. */
export interface RepeatRow {
  readonly name: string;
  readonly latencyMs: Percentiles<number>;
  readonly mean: string;
  /** Share of the repeats that the backend was spared. */
  readonly spared: string;
}

/** The rows of the split: one for each rate and proxy of which it is known. */
export function splitRows({ proxies }: TaxResult): SplitRow[] {
  return proxies.flatMap(({ name, added }) =>
    added.flatMap(({ duePerSecond, split }, index) =>
      split === null ? [] : [{
        name,
        rate: showRate(duePerSecond),
        isFirst: index === 0,
        cells: [split.hopMs, split.processingMs, split.queueingMs].map((ms) => showDifference(ms)),
      }]
    )
  );
}

/** The rows of CPU time: one for each phase in which it was measured. */
export function cpuRows({ rates, saturation }: SystemFigures): CpuRow[] {
  const phases = [
    ...rates.map(({ cpu, duePerSecond }) => ({ cpu, when: `at ${showRate(duePerSecond)}` })),
    { cpu: saturation?.cpu ?? null, when: "saturated" },
  ];
  return phases.flatMap(({ cpu, when }) => cpu === null ? [] : [{ cpu, when }]);
}

/** The rows of the blast: one for each system, with a cell for each of {@linkcode BLAST_HEADS}. */
export function blastRows({ rows }: BlastResult): { name: string; cells: readonly string[] }[] {
  return rows.map(({ name, healthyP99Ms, stalledP99Ms, failed, calls }) => ({
    name,
    cells: [showTime(healthyP99Ms), showTime(stalledP99Ms), showShare(failed, calls)],
  }));
}

/** The rows of the repeats: one for each system that was asked the same again. */
export function repeatRows({ direct, proxies }: TaxResult): RepeatRow[] {
  return [direct, ...proxies].flatMap(({ name, repeats }) =>
    repeats === null ? [] : [{
      name,
      latencyMs: repeats.latencyMs,
      mean: showTime(repeats.meanMs),
      spared: repeats.savedShare === null ? "not known" : showShare(repeats.savedShare, 1),
    }]
  );
}
