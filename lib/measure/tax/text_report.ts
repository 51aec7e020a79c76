import { showCount, showRoundTime, showShare, showTime } from "../report/mod.ts";
import { PRICED_PER_SECOND } from "./money.ts";
import type { ProxyFigures, SystemFigures, TaxResult } from "./result.ts";
import {
  BLAST_HEADS,
  BLAST_TITLE,
  blastRows,
  cpuRows,
  NOT_MEASURED,
  PERCENT_HEADS,
  PERCENT_NAMES,
  repeatRows,
  SPLIT_HEADS,
  splitRows,
  TIME_TITLE,
} from "./rows.ts";
import {
  cpus,
  showCpus,
  showDifference,
  showMegabytes,
  showMoney,
  showRate,
  showTimeRange,
  showWithRange,
  wrapped,
} from "./show.ts";
import type { Spread } from "./statistics.ts";

const INDENT = "   ";

/** Columns of the name, then of each figure; they end before column 80. */
const NAME_COLUMNS = 13;
const FIGURE_COLUMNS = 16;
const WIDE_COLUMNS = 2 * FIGURE_COLUMNS - 1;

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
  const lines = [TIME_TITLE];
  for (const [index, rate] of direct.rates.entries()) {
    lines.push(line(showRate(rate.duePerSecond), PERCENT_HEADS));
    lines.push(line("direct", PERCENT_NAMES.map((name) => orFew(rate.latencyMs[name], showTime))));
    for (const proxy of proxies) {
      lines.push(
        ...spreadLines(proxy.name, PERCENT_NAMES.map((name) => proxy.added[index]!.ms[name])),
      );
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

function splitLines(result: TaxResult): string[] {
  const rows = splitRows(result);
  if (rows.length === 0) return [];
  return [
    line("added p50", SPLIT_HEADS),
    ...rows.map(({ name, rate, isFirst, cells }) =>
      line(isFirst ? name : "", [...cells, `at ${rate}`])
    ),
  ];
}

function saturationLine(system: SystemFigures | ProxyFigures): string {
  const { saturation, name } = system;
  if (saturation === null) return line(name, [NOT_MEASURED]);
  const figures = [showWithRange(saturation.perSecond, showCount).padEnd(WIDE_COLUMNS)];
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
    const cpu = cost.cpu === undefined ? `CPU ${NOT_MEASURED}` : `CPU ${showMoney(cost.cpu)}`;
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

function usageLines(system: SystemFigures): string[] {
  const { name, residentBytes, usageMissing } = system;
  const memory = residentBytes === null ? "" : showMegabytes(residentBytes);
  const rows = cpuRows(system);
  if (rows.length === 0) return hanging(name, `${NOT_MEASURED}: ${usageMissing}`);
  return rows.map(({ cpu, when }, index) => {
    const first = index === 0;
    const apart = cpu.systemMs === null
      ? "not told apart"
      : `${cpus(cpu.userMs)} + ${cpus(cpu.systemMs)}`;
    const both = showCpus(cpu).padEnd(24) + when.padEnd(14) + (first ? memory : "");
    return line(first ? name : "", [apart, both]);
  });
}

function blastLines({ blast }: TaxResult): string[] {
  if (blast === null) return [BLAST_TITLE, `${INDENT}${NOT_MEASURED} (run collapser stall)`];
  return [
    BLAST_TITLE,
    ...wrapped(blast.summary, { prefix: INDENT }),
    line("", BLAST_HEADS),
    ...blastRows(blast).map(({ name, cells }) => line(name, cells)),
  ];
}

function repeatLines(result: TaxResult): string[] {
  const { direct: { repeats }, subject } = result;
  if (repeats === null) return [];
  return [
    "",
    `What it gives back: the same ${showCount(subject.keys)} questions again and again, ${
      showRate(repeats.duePerSecond)
    }`,
    line("", ["p50", "p99", "mean", "backend spared"]),
    ...repeatRows(result).map(({ name, latencyMs: { p50, p99 }, mean, spared }) =>
      line(name, [orFew(p50, showTime), orFew(p99, showTime), mean, spared])
    ),
  ];
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
