import { Histogram } from "../report/mod.ts";
import { monthlyCost } from "./money.ts";
import { addedPercentiles, curveOf, percentilesOf, pooled } from "./percentiles.ts";
import type {
  AddedFigures,
  CpuFigures,
  PhaseFigures,
  ProxyFigures,
  RepeatFigures,
  SystemFigures,
  TaxSubject,
} from "./result.ts";
import { type CpuTime, type Sample, totalCpuMs } from "./sample.ts";
import type { Phase } from "./schedule.ts";
import { splitAdded } from "./split.ts";
import { type Spread, spreadOf } from "./statistics.ts";
import { verdictOf } from "./verdict.ts";

/** All that is known of one system when the measuring is over. */
export interface Measured {
  readonly name: string;
  readonly address: string;
  readonly samples: readonly Sample[];
  readonly residentBytes: number | undefined;
  readonly usageMissing: string | undefined;
  readonly callsMade: number;
  readonly savedShareSoFar: number | undefined;
}

const NO_SPREAD: Spread = { median: 0, low: 0, high: 0, least: 0, most: 0, count: 0 };

/** Turns the measurements of one system into figures. */
export function summarizeSystem(measured: Measured, subject: TaxSubject): SystemFigures {
  const { name, address, samples, residentBytes, usageMissing, callsMade } = measured;
  const at = (kind: Phase["kind"], perSecond?: number) => ofPhase(samples, kind, perSecond);
  const saturated = at("saturation");
  const repeats = at("repeats");
  return {
    name,
    address,
    rates: subject.rates.filter((perSecond) => at("rate", perSecond).length > 0).map(
      (duePerSecond) => ({ duePerSecond, ...phaseFigures(at("rate", duePerSecond)) }),
    ),
    saturation: saturated.length === 0 ? null : phaseFigures(saturated),
    repeats: repeats.length === 0 ? null : repeatFigures(repeats, subject.rates.at(-1)!),
    residentBytes: residentBytes ?? null,
    usageMissing: usageMissing ?? null,
    callsMade,
  };
}

/** Turns the measurements of a proxy into figures, held against the direct way and the relay. */
export function summarizeProxy(
  measured: Measured,
  { subject, direct, relay }: { subject: TaxSubject; direct: Measured; relay: Measured },
): ProxyFigures {
  const own = summarizeSystem(measured, subject);
  // In one process only saturation, where nobody waits by looking at the clock, shows who used the CPU.
  const directFigures = summarizeSystem(direct, subject);
  const figures = subject.embedded ? withCpuByDifference(own, measured, direct) : own;
  const saturated = ofPhase(measured.samples, "saturation");
  const directSaturated = ofPhase(direct.samples, "saturation");
  const cpuMsPerCall = cpuMsOf(figures);
  const bytes = figures.rates.at(-1)!.bytesPerCall;
  const added = addedFigures({ proxy: measured, direct, relay, rates: subject.rates });
  const [repeats, directRepeats] = [measured, direct].map(({ samples }) =>
    ofPhase(samples, "repeats")
  );
  const repeatAdded = addedPercentiles(repeats!, directRepeats!).p50;
  return {
    ...figures,
    added,
    addedAtSaturation: addedPercentiles(saturated, directSaturated),
    throughputShare: spreadOf(roundRatios(saturated, directSaturated)) ?? null,
    cost: monthlyCost({ cpuMsPerCall, bytesPerCall: bytes.sent + bytes.received }, subject.prices),
    savedShareSoFar: measured.savedShareSoFar ?? null,
    verdict: verdictOf({
      addedMs: added[0]?.ms.p50?.median ?? 0,
      repeatGainMs: repeatAdded === null ? undefined : gainOf(repeatAdded),
      repeatsSaved: figures.repeats?.savedShare ?? undefined,
      callersSaved: measured.savedShareSoFar,
      proxyCpuMs: cpuMsPerCall,
      repeatCpuMs: repeatCpuMs(figures, cpuMsPerCall),
      backendCpuMs: cpuMsOf(directFigures),
    }),
  };
}

function ofPhase(samples: readonly Sample[], kind: Phase["kind"], perSecond?: number): Sample[] {
  return samples.filter(({ step: { phase } }) =>
    phase.kind === kind &&
    (perSecond === undefined || phase.kind === "saturation" || phase.perSecond === perSecond)
  );
}

function phaseFigures(samples: readonly Sample[]): PhaseFigures {
  const latency = pooled(samples);
  const lateness = new Histogram();
  for (const sample of samples) lateness.merge(sample.lateness);
  const calls = sum(samples, (sample) => sample.calls);
  const succeeded = sum(samples, (sample) => sample.succeeded);
  return {
    calls,
    failed: calls - succeeded,
    perSecond: spreadOf(samples.map(answeredPerSecond)) ?? NO_SPREAD,
    backlogShare: spreadOf(samples.map((sample) => sample.backlogShare))?.median ?? 0,
    latencyMs: percentilesOf(latency),
    meanMs: latency.meanMs,
    maxMs: latency.maxMs,
    latenessP99Ms: lateness.percentile(99),
    bytesPerCall: {
      sent: sum(samples, (sample) => sample.sentBytes) / Math.max(1, calls),
      received: sum(samples, (sample) => sample.receivedBytes) / Math.max(1, calls),
    },
    cpu: cpuFigures(samples),
    curve: curveOf(latency),
  };
}

function repeatFigures(samples: readonly Sample[], duePerSecond: number): RepeatFigures {
  const figures = phaseFigures(samples);
  const told = samples.filter(({ saved }) => saved !== undefined);
  const savedShare = told.length === 0
    ? null
    : sum(told, ({ saved = 0 }) => saved) / Math.max(1, sum(told, ({ calls }) => calls));
  return { duePerSecond, ...figures, savedShare };
}

/** CPU time of a call; null when it could not be read every time. */
function cpuFigures(samples: readonly Sample[]): CpuFigures | null {
  const read = samples.flatMap(({ cpu, calls }) => cpu === undefined ? [] : [{ cpu, calls }]);
  if (read.length === 0 || read.length < samples.length) return null;
  return cpuPerCall(read);
}

function cpuPerCall(read: readonly { cpu: CpuTime; calls: number }[]): CpuFigures {
  const calls = Math.max(1, sum(read, (one) => one.calls));
  const told = read.every(({ cpu }) => cpu.systemMs !== undefined);
  return {
    userMs: sum(read, ({ cpu }) => cpu.userMs) / calls,
    systemMs: told ? sum(read, ({ cpu }) => cpu.systemMs ?? 0) / calls : null,
    totalMs: spreadOf(read.map((one) => totalCpuMs(one.cpu) / Math.max(1, one.calls))) ?? NO_SPREAD,
  };
}

/** Figures with the CPU that the process used more for a call through the proxy than directly, at saturation. */
function withCpuByDifference(
  figures: SystemFigures,
  proxy: Measured,
  direct: Measured,
): SystemFigures {
  const { saturation } = figures;
  const [through, straight] = [proxy, direct].map(({ samples }) =>
    cpuPerCall(
      ofPhase(samples, "saturation").map(({ ownCpu, calls }) => ({ cpu: ownCpu, calls })),
    )
  ) as [CpuFigures, CpuFigures];
  if (saturation === null) return figures;
  const differences = ofPhase(proxy.samples, "saturation").flatMap((sample) => {
    const other = sameRound(sample, ofPhase(direct.samples, "saturation"));
    return other === undefined ? [] : [ownCpuPerCall(sample) - ownCpuPerCall(other)];
  });
  const cpu: CpuFigures = {
    userMs: through.userMs - straight.userMs,
    systemMs: (through.systemMs ?? 0) - (straight.systemMs ?? 0),
    totalMs: spreadOf(differences) ?? NO_SPREAD,
  };
  return { ...figures, saturation: { ...saturation, cpu } };
}

function addedFigures(
  { proxy, direct, relay, rates }: {
    proxy: Measured;
    direct: Measured;
    relay: Measured;
    rates: readonly number[];
  },
): AddedFigures[] {
  const at = ({ samples }: Measured, perSecond: number) => ofPhase(samples, "rate", perSecond);
  const lowest = rates[0]!;
  const base = at(direct, lowest);
  const relayMs = addedPercentiles(at(relay, lowest), base).p50?.median;
  const lowestRateMs = addedPercentiles(at(proxy, lowest), base).p50?.median;
  return rates.map((duePerSecond) => {
    const ms = addedPercentiles(at(proxy, duePerSecond), at(direct, duePerSecond));
    const atRateMs = ms.p50?.median;
    const split = relayMs === undefined || lowestRateMs === undefined || atRateMs === undefined
      ? null
      : splitAdded({ relayMs, lowestRateMs, atRateMs });
    return { duePerSecond, ms, split };
  });
}

/** CPU time of a call at the highest rate or, where that was not measured, at saturation. */
function cpuMsOf({ rates, saturation }: SystemFigures): number | undefined {
  const cpu = rates.at(-1)?.cpu ?? saturation?.cpu;
  return cpu ? totalCpuMs(cpuTime(cpu)) : undefined;
}

/** CPU time of a call that the backend is spared: what the repeats took beyond those among them that reached it. */
function repeatCpuMs({ repeats }: SystemFigures, otherMs: number | undefined): number | undefined {
  const { cpu = null, savedShare = null } = repeats ?? {};
  if (cpu === null || otherMs === undefined || savedShare === null || savedShare <= 0) {
    return undefined;
  }
  const ms = (totalCpuMs(cpuTime(cpu)) - (1 - savedShare) * otherMs) / savedShare;
  return Math.min(otherMs, Math.max(0, ms));
}

/** Time that a repeat gains; null where the quartiles of the rounds lie on both sides of zero. */
function gainOf({ median, low, high, count }: Spread): number | null {
  return count > 1 && low <= 0 && high >= 0 ? null : -median;
}

function roundRatios(samples: readonly Sample[], base: readonly Sample[]): number[] {
  return samples.flatMap((sample) => {
    const other = sameRound(sample, base);
    const basePerSecond = other === undefined ? 0 : answeredPerSecond(other);
    return basePerSecond === 0 ? [] : [answeredPerSecond(sample) / basePerSecond];
  });
}

function sameRound({ step }: Sample, samples: readonly Sample[]): Sample | undefined {
  return samples.find((other) => other.step.round === step.round);
}

function answeredPerSecond({ succeeded, elapsedMs }: Sample): number {
  return elapsedMs > 0 ? succeeded / elapsedMs * 1_000 : 0;
}

function ownCpuPerCall({ ownCpu, calls }: Sample): number {
  return totalCpuMs(ownCpu) / Math.max(1, calls);
}

function cpuTime({ userMs, systemMs }: CpuFigures): CpuTime {
  return { userMs, systemMs: systemMs ?? undefined };
}

function sum<T>(items: readonly T[], valueOf: (item: T) => number): number {
  return items.reduce((total, item) => total + valueOf(item), 0);
}
