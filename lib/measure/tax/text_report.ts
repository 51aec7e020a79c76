import { showCount, showRoundTime, showShare, showTime } from "../report/mod.ts";
import { PRICED_PER_SECOND } from "./money.ts";
import {
  type PercentName,
  PERCENTS,
  type ProxyFigures,
  type SystemFigures,
  type TaxResult,
} from "./result.ts";
import {
  cpus,
  showCpus,
  showDifference,
  showMegabytes,
  showMoney,
  showRange,
  showTimeRange,
  wrapped,
} from "./show.ts";
import type { Spread } from "./statistics.ts";

const INDENT = "   ";

/** Columns of the name, then of each figure; they end before column 80. */
const NAME_COLUMNS = 13;
const FIGURE_COLUMNS = 16;
const WIDE_COLUMNS = 2 * FIGURE_COLUMNS - 1;

const NAMES = Object.keys(PERCENTS) as PercentName[];
const LABELS: Readonly<Record<PercentName, string>> = {
  p50: "p50",
  p90: "p90",
  p99: "p99",
  p999: "p99.9",
};

/** The result as text of at most 80 columns. */
export function taxText(result: TaxResult): string {
  const { subject } = result;
  const shape = `${subject.rounds} rounds of ${showRoundTime(subject.segmentMs)} each, ` +
    `${subject.arrivals} arrivals, ${subject.connections} connections; medians of the rounds ` +
    "(and quartiles)";
  return [
    ...wrapped(`What a proxy costs: ${subject.method}, ${placesText(result)}`),
    ...wrapped(shape),
    "",
    ...timeLines(result),
    "",
    ...moneyLines(result),
    "",
    ...blastLines(result),
    ...repeatLines(result),
    "",
    "What to do",
    ...result.proxies.flatMap(verdictLines),
    ...cautionLines(result.cautions),
  ].join("\n");
}

function placesText({ direct, proxies, subject }: TaxResult): string {
  const places = [direct, ...proxies].map(({ name, address }) => `${name} ${address}`).join(", ");
  return subject.embedded ? `${places}, all in this process` : places;
}

function timeLines(result: TaxResult): string[] {
  const { direct, proxies, subject } = result;
  const lines = ["1. Time: what a call waits longer than a direct one"];
  for (const [index, rate] of direct.rates.entries()) {
    lines.push(line(`${showCount(rate.duePerSecond)}/s`, NAMES.map((name) => LABELS[name])));
    lines.push(line("direct", NAMES.map((name) => orFew(rate.latencyMs[name], showTime))));
    for (const proxy of proxies) {
      lines.push(...spreadLines(proxy.name, NAMES.map((name) => proxy.added[index]!.ms[name])));
    }
  }
  lines.push(...splitLines(result));
  lines.push(
    line(`${showCount(subject.callers)} callers`, [
      "calls/s".padEnd(WIDE_COLUMNS),
      "of direct",
      "added p50",
    ]),
  );
  for (const system of [direct, ...proxies]) lines.push(saturationLine(system));
  return lines;
}

/** A line of medians, and one of how far the rounds were apart. */
function spreadLines(name: string, spreads: readonly (Spread | null)[]): string[] {
  const medians = spreads.map((spread) => orFew(spread, ({ median }) => showDifference(median)));
  const ranges = spreads.map((spread) => spread === null ? "" : showTimeRange(spread));
  return [line(name, medians), ...ranges.some((range) => range !== "") ? [line("", ranges)] : []];
}

function splitLines({ proxies }: TaxResult): string[] {
  const lines = [line("added p50", ["hop", "processing", "queueing"])];
  for (const { name, added } of proxies) {
    for (const [index, { split, duePerSecond }] of added.entries()) {
      if (split === null) continue;
      const { hopMs, processingMs, queueingMs } = split;
      lines.push(line(index === 0 ? name : "", [
        showDifference(hopMs),
        showDifference(processingMs),
        showDifference(queueingMs),
        `at ${showCount(duePerSecond)}/s`,
      ]));
    }
  }
  return lines.length === 1 ? [] : lines;
}

function saturationLine(system: SystemFigures | ProxyFigures): string {
  const { saturation, name } = system;
  if (saturation === null) return line(name, ["not measured"]);
  const { perSecond } = saturation;
  const rate = `${showCount(perSecond.median)} ${showRange(perSecond, showCount)}`;
  const figures = [rate.padEnd(WIDE_COLUMNS)];
  if ("throughputShare" in system) {
    const { throughputShare, addedAtSaturation: { p50 } } = system;
    figures.push(throughputShare === null ? "-" : showShare(throughputShare.median, 1));
    figures.push(p50 === null ? "-" : showDifference(p50.median));
  }
  return line(name, figures);
}

function moneyLines({ direct, proxies, subject }: TaxResult): string[] {
  const { perVcpuHour, perCrossZoneGb } = subject.prices;
  const lines = [
    "2. Money: CPUs that 1,000 calls/s keep busy, and what that costs a month",
    line("", ["user + system", "both (quartiles)", "", "memory"]),
  ];
  for (const system of [direct, ...proxies]) lines.push(...usageLines(system));
  lines.push(
    ...wrapped(
      `at ${perVcpuHour} for a CPU for an hour and ${perCrossZoneGb} for a GB between zones ` +
        `(give your own prices), ${showCount(PRICED_PER_SECOND)} calls/s cost each month`,
      { prefix: INDENT },
    ),
  );
  for (const { name, cost, rates } of proxies) {
    const { sent, received } = rates.at(-1)!.bytesPerCall;
    const cpu = cost.cpu === undefined ? "CPU not measured" : `CPU ${showMoney(cost.cpu)}`;
    lines.push(
      line(name, [
        cpu,
        `${showMoney(cost.crossZone)} more from another zone, ${
          showCount(sent + received)
        } bytes a call`,
      ]),
    );
  }
  return lines;
}

function usageLines({ name, rates, saturation, residentBytes, usageMissing }: SystemFigures) {
  const memory = residentBytes === null ? "" : showMegabytes(residentBytes);
  const at = [
    ...rates.map(({ cpu, duePerSecond }) => [cpu, `at ${showCount(duePerSecond)}/s`] as const),
    [saturation?.cpu ?? null, "saturated"] as const,
  ];
  const lines: string[] = [];
  for (const [cpu, when] of at) {
    if (cpu === null) continue;
    const apart = cpu.systemMs === null
      ? "not told apart"
      : `${cpus(cpu.userMs)} + ${cpus(cpu.systemMs)}`;
    const first = lines.length === 0;
    lines.push(
      line(first ? name : "", [
        apart,
        showCpus(cpu).padEnd(24) + when.padEnd(14) + (first ? memory : ""),
      ]),
    );
  }
  if (lines.length > 0) return lines;
  return hanging(name, `not measured: ${usageMissing}`);
}

function blastLines({ blast }: TaxResult): string[] {
  const title = "3. One slow backend: what callers of the healthy ones see";
  if (blast === null) return [title, `${INDENT}not measured (run collapser stall)`];
  return [
    title,
    ...wrapped(blast.summary, { prefix: INDENT }),
    line("", ["p99 before", "p99 meanwhile", "failed"]),
    ...blast.rows.map(({ name, healthyP99Ms, stalledP99Ms, failed, calls }) =>
      line(name, [showTime(healthyP99Ms), showTime(stalledP99Ms), showShare(failed, calls)])
    ),
  ];
}

function repeatLines({ direct, proxies, subject }: TaxResult): string[] {
  if (direct.repeats === null) return [];
  const rate = showCount(direct.repeats.duePerSecond);
  const lines = [
    "",
    `What it gives back: the same ${showCount(subject.keys)} questions again and again, ${rate}/s`,
    line("", ["p50", "p99", "mean", "backend spared"]),
  ];
  for (const { name, repeats } of [direct, ...proxies]) {
    if (repeats === null) continue;
    const { latencyMs, meanMs, savedShare } = repeats;
    lines.push(line(name, [
      orFew(latencyMs.p50, showTime),
      orFew(latencyMs.p99, showTime),
      showTime(meanMs),
      savedShare === null ? "not known" : showShare(savedShare, 1),
    ]));
  }
  return lines;
}

function verdictLines({ name, verdict }: ProxyFigures): string[] {
  return hanging(name, `${verdict.advice.toUpperCase()}. ${verdict.why}`);
}

/** The name in its column, the text beside it. */
function hanging(name: string, text: string): string[] {
  return wrapped(text, { prefix: `${INDENT}${name.padEnd(NAME_COLUMNS)}` });
}

function cautionLines(cautions: readonly string[]): string[] {
  if (cautions.length === 0) return [];
  return [
    "",
    "Caution",
    ...cautions.flatMap((text) => wrapped(text, { prefix: `${INDENT}- ` })),
  ];
}

function line(name: string, figures: readonly string[]): string {
  const cells = figures.map((figure) => figure.padEnd(FIGURE_COLUMNS - 1));
  return `${INDENT}${name.padEnd(NAME_COLUMNS)}${cells.join(" ")}`.trimEnd();
}

function orFew<T>(value: T | null, show: (value: T) => string): string {
  return value === null ? "too few calls" : show(value);
}
