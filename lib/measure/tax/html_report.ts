import { showCount, showRoundTime, showShare, showTime } from "../report/mod.ts";
import { addedChart, cpuChart, curveChart } from "./charts.ts";
import { escaped, table } from "./markup.ts";
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
} from "./show.ts";
import type { Spread } from "./statistics.ts";

const STYLE =
  `:root{color-scheme:light dark;--ink:#1d2530;--soft:#5c6673;--line:#dde2e8;--paper:#fff}
@media (prefers-color-scheme:dark){:root{--ink:#e6eaef;--soft:#a3adb8;--line:#333c47;--paper:#14191f}}
body{margin:2rem auto;max-width:52rem;padding:0 1rem;font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper)}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2.5rem}p.soft,caption{color:var(--soft)}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.9rem}
th,td{text-align:left;padding:.25rem 1rem .25rem 0;border-bottom:1px solid var(--line);white-space:nowrap}
thead th{color:var(--soft);font-weight:500}svg{width:100%;height:auto}.advice{font-weight:700}`;

/** The result as one page that asks nobody for anything; every figure of a chart stands in a table below it. */
export function taxHtml(result: TaxResult): string {
  const { subject, direct, proxies } = result;
  const title = `What a proxy costs: ${subject.method}`;
  const places = [direct, ...proxies].map(({ name, address }) => `${name} at ${address}`).join(
    ", ",
  );
  const shape =
    `${subject.rounds} rounds of ${showRoundTime(subject.segmentMs)} for each figure, ` +
    `${subject.arrivals} arrivals (seed ${subject.seed}), ${subject.connections} connections, begun ` +
    `${subject.startedAt}, ${subject.cpus} CPUs. Medians of the rounds, and their quartiles in brackets.`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${escaped(title)}</h1>
<p>${escaped(places)}</p>
<p class="soft">${escaped(shape)}</p>
${cautions(result)}
<h2>What to do</h2>
${result.proxies.map(advice).join("\n")}
<h2>${TIME_TITLE}</h2>
${timeSection(result)}
<h2>2. Money: the processor, the memory, the bytes</h2>
${cpuChart(result)}
${moneyTables(result)}
<h2>${BLAST_TITLE}</h2>
${blastSection(result)}
${repeatSection(result)}
</body>
</html>
`;
}

function cautions({ cautions }: TaxResult): string {
  if (cautions.length === 0) return "";
  const items = cautions.map((text) => `<li>${escaped(text)}</li>`).join("\n");
  return `<h2>Caution</h2>\n<ul>\n${items}\n</ul>`;
}

function advice({ name, verdict }: TaxResult["proxies"][number]): string {
  return `<p><b>${escaped(name)}</b>: <span class="advice">${escaped(verdict.advice)}</span>. ${
    escaped(verdict.why)
  }</p>`;
}

function timeSection(result: TaxResult): string {
  const { direct, proxies } = result;
  const rows = direct.rates.flatMap(({ duePerSecond, latencyMs }, index) => [
    [
      `${showRate(duePerSecond)} direct`,
      ...PERCENT_NAMES.map((percent) => timeOrFew(latencyMs[percent])),
    ],
    ...proxies.map(({ name, added }) => [
      `${showRate(duePerSecond)} ${name}`,
      ...PERCENT_NAMES.map((percent) => difference(added[index]!.ms[percent])),
    ]),
  ]);
  const splits = splitRows(result).map(({ rate, name, cells }) => [`${rate} ${name}`, ...cells]);
  const systems: readonly (SystemFigures | ProxyFigures)[] = [direct, ...proxies];
  const saturated = systems.map((system) => [
    system.name,
    system.saturation === null
      ? NOT_MEASURED
      : showWithRange(system.saturation.perSecond, showCount),
    "throughputShare" in system && system.throughputShare
      ? showWithRange(system.throughputShare, (share) => showShare(share, 1))
      : "",
    ...PERCENT_NAMES.map((percent) =>
      "addedAtSaturation" in system ? difference(system.addedAtSaturation[percent]) : ""
    ),
  ]);
  return [
    `<h3>Added p50</h3>`,
    addedChart(result, "p50"),
    `<h3>Added p99</h3>`,
    addedChart(result, "p99"),
    table(["", ...PERCENT_HEADS], rows),
    `<h3>Where the added p50 goes</h3>`,
    table(["", ...SPLIT_HEADS], splits),
    `<h3>All calls at the highest rate</h3>`,
    curveChart(result),
    table(["", ...curveHeads(direct)], [direct, ...proxies].map(curveRow)),
    `<h3>As fast as ${showCount(result.subject.callers)} callers go</h3>`,
    table(["", "calls/s", "of direct", ...PERCENT_HEADS.map((name) => `added ${name}`)], saturated),
  ].join("\n");
}

function curveHeads({ rates }: SystemFigures): string[] {
  return (rates.at(-1)?.curve ?? []).map(([percent]) => `${percent} %`);
}

function curveRow({ name, rates }: SystemFigures): string[] {
  return [name, ...(rates.at(-1)?.curve ?? []).map(([, ms]) => showTime(ms))];
}

function moneyTables(result: TaxResult): string {
  const { direct, proxies, subject } = result;
  const usage = [direct, ...proxies].flatMap(usageRows);
  const costs = proxies.map(({ name, cost, rates }) => {
    const { sent, received } = rates.at(-1)!.bytesPerCall;
    return [
      name,
      cost.cpu === undefined ? NOT_MEASURED : showMoney(cost.cpu),
      showMoney(cost.crossZone),
      `${showCount(sent)} + ${showCount(received)}`,
    ];
  });
  const { perVcpuHour, perCrossZoneGb } = subject.prices;
  return [
    table(["CPUs for 1,000 calls/s", "", "user", "system", "both", "memory"], usage),
    `<p>A month of 1,000 calls/s, at ${perVcpuHour} for a CPU for an hour and ${perCrossZoneGb} for a GB between zones:</p>`,
    table(["", "CPU", "when it stands in another zone, more", "bytes of a call, out + in"], costs),
  ].join("\n");
}

function usageRows(system: SystemFigures): string[][] {
  const { name, residentBytes, usageMissing } = system;
  const rows = cpuRows(system).map(({ when, cpu }) => [
    name,
    when,
    cpus(cpu.userMs),
    cpu.systemMs === null ? "in user" : cpus(cpu.systemMs),
    showCpus(cpu),
    residentBytes === null ? NOT_MEASURED : showMegabytes(residentBytes),
  ]);
  return rows.length > 0 ? rows : [[name, `${NOT_MEASURED}: ${usageMissing}`, "", "", "", ""]];
}

function blastSection({ blast }: TaxResult): string {
  if (blast === null) return "<p>Not measured (run <code>collapser stall</code>).</p>";
  const rows = blastRows(blast).map(({ name, cells }) => [name, ...cells]);
  return `<p>${escaped(blast.summary)}</p>\n${table(["", ...BLAST_HEADS], rows)}`;
}

function repeatSection(result: TaxResult): string {
  const rows = repeatRows(result).map(({ name, latencyMs, mean, spared }) => [
    name,
    ...PERCENT_NAMES.map((percent) => timeOrFew(latencyMs[percent])),
    mean,
    spared,
  ]);
  if (rows.length === 0) return "";
  return `<h2>What it gives back: the same ${
    showCount(result.subject.keys)
  } questions again and again</h2>\n${
    table(["", ...PERCENT_HEADS, "mean", "backend spared"], rows)
  }`;
}

function difference(spread: Spread | null): string {
  if (spread === null) return "too few";
  return `${showDifference(spread.median)} ${showTimeRange(spread)}`.trimEnd();
}

function timeOrFew(ms: number | null): string {
  return ms === null ? "too few" : showTime(ms);
}
