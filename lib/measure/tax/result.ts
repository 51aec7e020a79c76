import type { Arrivals } from "../load/mod.ts";
import type { BlastResult } from "../stall/mod.ts";
import type { MonthlyCost, Prices } from "./money.ts";
import type { Split } from "./split.ts";
import type { Spread } from "./statistics.ts";
import type { Verdict } from "./verdict.ts";

/** The percentiles that are told, by name. */
export const PERCENTS = { p50: 50, p90: 90, p99: 99, p999: 99.9 } as const;

export type PercentName = keyof typeof PERCENTS;

/** A figure for each percentile; null where too few calls lie beyond it to know. */
export type Percentiles<T> = Readonly<Record<PercentName, T | null>>;

/** The subject of a tax: what was asked of whom, and how. */
export interface TaxSubject {
  readonly method: string;
  readonly rounds: number;
  readonly segmentMs: number;
  /** Calls a second, ascending. */
  readonly rates: readonly number[];
  readonly arrivals: Arrivals;
  readonly seed: number;
  readonly callers: number;
  readonly connections: number;
  /** Different questions among the repeats. */
  readonly keys: number;
  /** Backend, proxy and client are one process with one thread. */
  readonly embedded: boolean;
  readonly prices: Prices;
  /** CPUs of the machine that the client ran on. */
  readonly cpus: number;
  readonly startedAt: string;
}

/** Processor time of the system under test for one call, all rounds together. */
export interface CpuFigures {
  readonly userMs: number;
  /** System time; null where it is not told apart and is part of `userMs`. */
  readonly systemMs: number | null;
  /** User and system time together, round by round. */
  readonly totalMs: Spread;
}

/** The figures of one phase, all rounds together. */
export interface PhaseFigures {
  readonly calls: number;
  readonly failed: number;
  /** Calls answered with OK in a second. */
  readonly perSecond: Spread;
  /** The backlog when the last call was due, as a share of the time before; 0 at saturation. */
  readonly backlogShare: number;
  readonly latencyMs: Percentiles<number>;
  readonly meanMs: number;
  readonly maxMs: number;
  /** Lateness of the client with 1 % of its calls; 0 where nothing was due at a time. */
  readonly latenessP99Ms: number;
  readonly bytesPerCall: { readonly sent: number; readonly received: number };
  readonly cpu: CpuFigures | null;
  /** Points of the whole distribution: the percent that are not above so many ms. */
  readonly curve: readonly (readonly [percent: number, ms: number])[];
}

export interface RateFigures extends PhaseFigures {
  readonly duePerSecond: number;
}

export interface RepeatFigures extends RateFigures {
  /** Share of the calls that the backend did not have to answer; null where nobody could tell. */
  readonly savedShare: number | null;
}

/** The figures of one system. */
export interface SystemFigures {
  readonly name: string;
  readonly address: string;
  readonly rates: readonly RateFigures[];
  /** Figures at saturation; null for the relay. */
  readonly saturation: PhaseFigures | null;
  readonly repeats: RepeatFigures | null;
  readonly residentBytes: number | null;
  /** The reason why there is no CPU and no memory; null when there are. */
  readonly usageMissing: string | null;
  /** Calls made in all, warm-up included. */
  readonly callsMade: number;
}

/** The time that a proxy adds to a call at one rate. */
export interface AddedFigures {
  readonly duePerSecond: number;
  readonly ms: Percentiles<Spread>;
  readonly split: Split | null;
}

/** A proxy against the direct way. */
export interface ProxyFigures extends SystemFigures {
  readonly added: readonly AddedFigures[];
  /** The time added at saturation, where the callers wait for each other as well. */
  readonly addedAtSaturation: Percentiles<Spread>;
  /** The proxy's calls a second at saturation as a share of the direct ones, within a round. */
  readonly throughputShare: Spread | null;
  readonly cost: MonthlyCost;
  /** Share of its callers' calls of the method, since the proxy started, by its metrics; null where they do not say. */
  readonly savedShareSoFar: number | null;
  readonly verdict: Verdict;
}

export interface TaxResult {
  readonly subject: TaxSubject;
  readonly direct: SystemFigures;
  readonly relay: SystemFigures;
  readonly proxies: readonly ProxyFigures[];
  /** Sentences that a reader must know before believing the figures. */
  readonly cautions: readonly string[];
  /** The third bill; null when nobody measured it. */
  readonly blast: BlastResult | null;
}
