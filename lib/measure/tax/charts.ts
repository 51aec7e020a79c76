import { showRoundTime } from "../report/mod.ts";
import {
  look,
  num,
  PLOT,
  roundSteps,
  spreadOut,
  svg,
  text,
  type Tick,
  xAxis,
  yAxis,
} from "./chart_frame.ts";
import { escaped } from "./markup.ts";
import type { PercentName, SystemFigures, TaxResult } from "./result.ts";
import { cpus, showRate } from "./show.ts";
import type { Spread } from "./statistics.ts";

const LABEL_GAP = 16;

/** Columns of dots beside each other at one rate. */
const DOT_GAP = 22;

/** The time that a call waits longer than a direct one, by rate: a dot for the median, a bar for half of the rounds. */
export function addedChart({ subject, proxies }: TaxResult, percent: PercentName): string {
  const spreads = proxies.flatMap(({ added }) => added.flatMap(({ ms }) => ms[percent] ?? []));
  if (spreads.length === 0) return "";
  const steps = roundSteps(
    Math.min(0, ...spreads.map(({ low }) => low)),
    Math.max(0.001, ...spreads.map(({ high }) => high)),
  );
  const y = scale(steps[0]!, steps.at(-1)!);
  const { left, right } = PLOT;
  const x = (index: number) => left + (right - left) * (index + 0.5) / subject.rates.length;
  const parts = yAxis(steps.map((ms) => ({ at: y(ms), label: showSigned(ms) })));
  parts.push(...xAxis(
    subject.rates.map((rate, i) => ({ at: x(i), label: showRate(rate) })),
    `calls begun in a second; ${subject.rounds} rounds`,
  ));
  const ends: { name: string; y: number; look: string }[] = [];
  for (const [series, { name, added }] of proxies.entries()) {
    const className = look(series + 1);
    const shift = (series - (proxies.length - 1) / 2) * DOT_GAP;
    let last: Spread | null = null;
    for (const [index, { ms }] of added.entries()) {
      const spread = ms[percent];
      if (spread === null) continue;
      last = spread;
      parts.push(dot({ spread, x: x(index) + shift, y, className, name }));
    }
    if (last !== null) ends.push({ name, y: y(last.median), look: className });
  }
  parts.push(...endLabels(ends));
  return svg(`Added latency ${percent} by rate`, parts);
}

/** The whole distribution at the highest rate, the rare slow ones drawn out to the right. */
export function curveChart(result: TaxResult): string {
  const systems = [result.direct, ...result.proxies];
  const curves = systems.map(({ rates }) => rates.at(-1)?.curve ?? []);
  const points = curves.flat();
  if (points.length === 0) return "";
  const times = points.map(([, ms]) => Math.max(ms, 0.001));
  const [low, high] = [
    Math.floor(Math.log10(Math.min(...times))),
    Math.ceil(Math.log10(Math.max(...times))),
  ];
  const yOf = scale(low, Math.max(high, low + 1));
  const y = (ms: number) => yOf(Math.log10(Math.max(ms, 0.001)));
  const rarest = Math.max(...points.map(([percent]) => rarity(percent)));
  const { left, right } = PLOT;
  const x = (percent: number) => left + (right - left) * rarity(percent) / rarest;
  const decades = Array.from(
    { length: Math.max(high, low + 1) - low + 1 },
    (_, i) => 10 ** (low + i),
  );
  const marks = [50, 90, 99, 99.9, 99.99].filter((percent) => rarity(percent) <= rarest);
  const parts = [
    ...yAxis(decades.map((ms) => ({ at: y(ms), label: showRoundTime(ms) }))),
    ...xAxis(
      marks.map((percent): Tick => ({ at: x(percent), label: `${percent} %` })),
      `share of calls that took no longer, at ${showRate(result.subject.rates.at(-1)!)}`,
    ),
  ];
  const ends: { name: string; y: number; look: string }[] = [];
  for (const [series, { name }] of systems.entries()) {
    const curve = curves[series]!;
    if (curve.length === 0) continue;
    const path = curve.map(([percent, ms]) => `${num(x(percent))},${num(y(ms))}`).join(" ");
    parts.push(`<polyline class="line ${look(series)}" style="fill:none" points="${path}"/>`);
    ends.push({ name, y: y(curve.at(-1)![1]), look: look(series) });
  }
  parts.push(...endLabels(ends));
  return svg("Latency by percentile at the highest rate", parts);
}

/** CPUs that 1,000 calls a second keep busy, user and system apart. */
export function cpuChart({ direct, proxies }: TaxResult): string {
  const bars = [direct, ...proxies].flatMap((system, series) => {
    const cpu = cpuOf(system);
    return cpu === null ? [] : [{ name: system.name, series, cpu }];
  });
  if (bars.length === 0) return "";
  const most = Math.max(...bars.map(({ cpu }) => cpu.userMs + (cpu.systemMs ?? 0)));
  const steps = roundSteps(0, Math.max(most, 0.001));
  const { left, right, top, bottom } = PLOT;
  const y = scale(0, steps.at(-1)!);
  const parts = yAxis(steps.map((value) => ({ at: y(value), label: cpus(value) })));
  const band = (right - left) / bars.length;
  const width = Math.min(72, band * 0.6);
  for (const [index, { name, series, cpu }] of bars.entries()) {
    const x = left + band * (index + 0.5) - width / 2;
    const system = Math.max(0, cpu.systemMs ?? 0);
    const user = Math.max(0, cpu.userMs);
    const box = (from: number, to: number, className: string) =>
      `<rect class="${className}" x="${num(x)}" width="${num(width)}" y="${num(y(to))}" height="${
        num(y(from) - y(to))
      }"/>`;
    parts.push(box(0, user, look(series)), box(user, user + system, `${look(series)} light`));
    parts.push(
      text(name, { x: x + width / 2, y: bottom + 20, anchor: "middle", look: "soft" }),
      text(cpus(user + system), {
        x: x + width / 2,
        y: Math.max(top, y(user + system) - 6),
        anchor: "middle",
      }),
    );
  }
  parts.push(
    text("CPUs for 1,000 calls/s: full colour user time, light system time", {
      x: (left + right) / 2,
      y: bottom + 40,
      anchor: "middle",
      look: "soft",
    }),
  );
  return svg("CPU for 1,000 calls a second", parts);
}

/** CPU time at the highest rate, or, where that was not measured, at saturation. */
function cpuOf({ rates, saturation }: SystemFigures) {
  return rates.at(-1)?.cpu ?? saturation?.cpu ?? null;
}

function dot(
  { spread, x, y, className, name }: {
    spread: Spread;
    x: number;
    y: (ms: number) => number;
    className: string;
    name: string;
  },
): string {
  const { low, high, median } = spread;
  return `<g class="${className}"><title>${escaped(name)}</title><line stroke-width="2" x1="${
    num(x)
  }" x2="${num(x)}" y1="${num(y(low))}" y2="${num(y(high))}"/><circle cx="${num(x)}" cy="${
    num(y(median))
  }" r="5"/></g>`;
}

/** The name of each series at its end, so that nobody has to match colours. */
function endLabels(ends: readonly { name: string; y: number; look: string }[]): string[] {
  const places = spreadOut(ends.map(({ y }) => y + 4), LABEL_GAP);
  return ends.map(({ name, look }, i) => text(name, { x: PLOT.right + 8, y: places[i]!, look }));
}

function scale(from: number, to: number): (value: number) => number {
  const { top, bottom } = PLOT;
  return (value) => bottom - (bottom - top) * (value - from) / (to - from);
}

/** Place of a percent on the axis: 1 for half of all calls, and one more each time that half as many are left. */
function rarity(percent: number): number {
  return -Math.log2(1 - percent / 100);
}

function showSigned(ms: number): string {
  if (ms === 0) return "0";
  return ms < 0 ? `-${showRoundTime(-ms)}` : `+${showRoundTime(ms)}`;
}
