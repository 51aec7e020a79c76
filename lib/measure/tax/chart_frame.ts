import { escaped } from "./markup.ts";

/** Size of a chart in its own units; a page scales it. */
export const WIDTH = 720;
export const HEIGHT = 300;

/** The part inside the axes. */
export const PLOT = { left: 76, right: WIDTH - 120, top: 16, bottom: HEIGHT - 48 } as const;

/** Series that have a look of their own; further ones begin again. */
export const LOOKS = 6;

/** The looks: one gray and five hues that are told apart without red and green, on white and on black. */
const STYLE = `<style>
.chart{--ink:#1d2530;--soft:#5c6673;--grid:#dde2e8;--s0:#6b7480;--s1:#1f6fd1;--s2:#c2560c;--s3:#11795a;--s4:#7747c4;--s5:#a8337a;
font:13px system-ui,sans-serif}
@media (prefers-color-scheme:dark){.chart{--ink:#e6eaef;--soft:#a3adb8;--grid:#333c47;--s0:#98a2ae;--s1:#68a8f5;--s2:#f0914e;--s3:#46bd94;--s4:#ae8ff0;--s5:#e583bd}}
.chart text{fill:var(--ink)}.chart .soft{fill:var(--soft)}.chart .grid{stroke:var(--grid)}
${
  Array.from({ length: LOOKS }, (_, i) => `.chart .s${i}{stroke:var(--s${i});fill:var(--s${i})}`)
    .join("")
}
.chart rect[class]{stroke:none}.chart .line{fill:none;stroke-width:2}.chart .light{fill-opacity:.45;stroke:none}.chart text.s0,.chart text[class]{stroke:none}
</style>`;

/** A value and what stands beside its grid line. */
export interface Tick {
  readonly at: number;
  readonly label: string;
}

/** A whole chart, good by itself and in a page; `title` says what it shows, for those who cannot see it too. */
export function svg(title: string, parts: readonly string[]): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${
    escaped(title)
  }"><title>${escaped(title)}</title>${STYLE}\n${parts.join("\n")}\n</svg>`;
}

/** Horizontal grid lines with their labels at the left. */
export function yAxis(ticks: readonly Tick[]): string[] {
  const { left, right } = PLOT;
  return ticks.map(({ at, label }) =>
    `<line class="grid" x1="${left}" x2="${right}" y1="${num(at)}" y2="${num(at)}"/>` +
    text(label, { x: left - 8, y: at + 4, anchor: "end", look: "soft" })
  );
}

/** Labels under the plot, and what they are. */
export function xAxis(ticks: readonly Tick[], name: string): string[] {
  const { left, right, bottom } = PLOT;
  return [
    ...ticks.map(({ at, label }) =>
      text(label, { x: at, y: bottom + 20, anchor: "middle", look: "soft" })
    ),
    text(name, { x: (left + right) / 2, y: bottom + 40, anchor: "middle", look: "soft" }),
  ];
}

export function text(
  content: string,
  { x, y, anchor = "start", look = "" }: { x: number; y: number; anchor?: string; look?: string },
): string {
  const name = look === "" ? "" : ` class="${look}"`;
  return `<text x="${num(x)}" y="${num(y)}" text-anchor="${anchor}"${name}>${
    escaped(content)
  }</text>`;
}

/** Class of a series, which gives it its look. */
export function look(index: number): string {
  return `s${index % LOOKS}`;
}

/** Places for labels at about `wanted`, moved apart until none covers another. */
export function spreadOut(wanted: readonly number[], gap: number): number[] {
  const order = wanted.map((_, i) => i).sort((one, other) => wanted[one]! - wanted[other]!);
  const placed = [...wanted];
  let free = -Infinity;
  for (const index of order) {
    placed[index] = Math.max(placed[index]!, free);
    free = placed[index]! + gap;
  }
  return placed;
}

/** Round steps from `from` to `to`, about four of them. */
export function roundSteps(from: number, to: number): number[] {
  const rough = (to - from) / 4 || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough)!;
  const first = Math.floor(from / step);
  const last = Math.max(first + 1, Math.ceil(to / step));
  return Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
}

/** Short enough for a drawing. */
export function num(value: number): string {
  return String(Math.round(value * 10) / 10);
}
