import { showRoundTime } from "../report/mod.ts";
import { backendsText, conditions, faultName, type StallSubject } from "./subject.ts";
import { type Bin, BIN_MS, type Share, shareOf, type SystemResult } from "./tally.ts";

const WIDTH = 760;
const LEFT = 64;
const RIGHT = 24;
const TOP = 106;
const PANEL = 96;
const GAP = 42;
const BOTTOM = 44;
const PLOT_WIDTH = WIDTH - LEFT - RIGHT;

/** Time between two marks on the axis: the first that gives at most so many. */
const STEPS_MS = [500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000];
const MAX_MARKS = 16;

const STYLE = `
    svg { color-scheme: light dark; --ground: #ffffff; --ink: #1f2328; --faint: #6e7781; --grid: #d0d7de;
      --fault: #fbe3c0; --healthy: #1a7f37; --all: #0969da; }
    @media (prefers-color-scheme: dark) {
      svg { --ground: #0d1117; --ink: #e6edf3; --faint: #8b949e; --grid: #30363d;
        --fault: #4a3413; --healthy: #3fb950; --all: #58a6ff; } }
    text { font: 13px system-ui, sans-serif; fill: var(--ink); }
    .title { font-size: 16px; font-weight: 600; } .faint { fill: var(--faint); font-size: 12px; }
    .ground { fill: var(--ground); } .fault { fill: var(--fault); }
    .grid { stroke: var(--grid); stroke-width: 1; }
    .healthy { stroke: var(--healthy); } .all { stroke: var(--all); }
    .line { fill: none; stroke-width: 1.8; stroke-linejoin: round; }
    .area { fill: var(--all); opacity: 0.16; }`;

/** The result as a picture that needs nothing else: a panel for each system, in light and dark. */
export function stallSvg(subject: StallSubject, results: readonly SystemResult[]): string {
  const height = TOP + results.length * (PANEL + GAP) - GAP + BOTTOM;
  const name = faultName(subject);
  const fault = name === undefined
    ? "no fault"
    : `${name} at ${subject.faulted} for ${showRoundTime(subject.stallMs)}`;
  const title = `${backendsText(subject)}, ${fault}: share of calls answered in time`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="title">`,
    `  <title id="title">${escape(`${title}; ${conditions(subject)}`)}</title>`,
    `  <style>${STYLE}\n  </style>`,
    `  <rect class="ground" width="${WIDTH}" height="${height}"/>`,
    `  <text class="title" x="${LEFT}" y="28">${escape(title)}</text>`,
    `  <text class="faint" x="${LEFT}" y="48">${escape(conditions(subject))}</text>`,
    ...legend(subject),
    ...results.flatMap((result, i) => panel(result, subject, TOP + i * (PANEL + GAP))),
    `  <text class="faint" x="${LEFT + PLOT_WIDTH / 2}" y="${
      height - 8
    }" text-anchor="middle">when the call was due, in seconds</text>`,
    "</svg>",
    "",
  ].join("\n");
}

function legend(subject: StallSubject): string[] {
  const y = 66;
  const line = (x: number, name: string, text: string) => [
    `  <line class="line ${name}" x1="${x}" y1="${y}" x2="${x + 22}" y2="${y}"/>`,
    `  <text class="faint" x="${x + 28}" y="${y + 4}">${escape(text)}</text>`,
  ];
  const box = [
    `  <rect class="fault" x="${LEFT + 360}" y="${y - 7}" width="22" height="14"/>`,
    `  <text class="faint" x="${LEFT + 388}" y="${y + 4}">the fault</text>`,
  ];
  return [
    ...line(LEFT, "healthy", "calls to healthy backends"),
    ...line(LEFT + 210, "all", "all calls"),
    ...(faultName(subject) === undefined ? [] : box),
  ];
}

function panel({ name, about, tally }: SystemResult, subject: StallSubject, top: number): string[] {
  const { beforeMs, stallMs, afterMs } = subject;
  const durationMs = beforeMs + stallMs + afterMs;
  const x = (ms: number) => round(LEFT + Math.min(ms, durationMs) / durationMs * PLOT_WIDTH);
  const y = (share: number) => round(top + (1 - share) * PANEL);
  const healthy = steps(tally.bins, ({ healthy }) => healthy, { x, y });
  const all = steps(tally.bins, ({ all }) => all, { x, y });
  const faultRect = `  <rect class="fault" x="${x(beforeMs)}" y="${top}" width="${
    round(x(beforeMs + stallMs) - x(beforeMs))
  }" height="${PANEL}"/>`;
  return [
    `  <text x="${LEFT}" y="${top - 9}">${escape(name)} <tspan class="faint">${
      escape(about)
    }</tspan></text>`,
    ...(faultName(subject) === undefined ? [] : [faultRect]),
    ...[0, 0.5, 1].flatMap((share) => [
      `  <line class="grid" x1="${LEFT}" y1="${y(share)}" x2="${WIDTH - RIGHT}" y2="${y(share)}"/>`,
      `  <text class="faint" x="${LEFT - 8}" y="${y(share) + 4}" text-anchor="end">${
        share * 100
      } %</text>`,
    ]),
    ...marks(durationMs).map((ms) =>
      `  <text class="faint" x="${x(ms)}" y="${top + PANEL + 16}" text-anchor="middle">${
        ms / 1_000
      }</text>`
    ),
    `  <path class="area" d="M${x(0)} ${y(0)}L${all}V${y(0)}Z"/>`,
    `  <path class="line healthy" d="M${healthy}"/>`,
    `  <path class="line all" d="M${all}"/>`,
  ];
}

/** A line that stands still for each bin. */
function steps(
  bins: readonly Bin[],
  of: (bin: Bin) => Share,
  { x, y }: { x: (ms: number) => number; y: (share: number) => number },
): string {
  const corners = bins.map((bin) => {
    const at = y(shareOf(of(bin)));
    return `${x(bin.fromMs)} ${at}H${x(bin.fromMs + BIN_MS)}`;
  });
  return corners.join("L");
}

function marks(durationMs: number): number[] {
  const step = STEPS_MS.find((ms) => durationMs / ms <= MAX_MARKS) ?? durationMs;
  return Array.from({ length: Math.floor(durationMs / step) + 1 }, (_, i) => i * step);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
