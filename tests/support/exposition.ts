/**
 * A strict reader of Prometheus' text format (version 0.0.4), for asking what a scrape says.
 *
 * @module
 */

const TYPES = ["counter", "gauge", "histogram", "summary", "untyped"];

const NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const LABEL = String.raw`[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\]|\\[\\"n])*"`;
const COMMENT = new RegExp(`^# (HELP|TYPE) (${NAME}) (.*)$`);
const SAMPLE = new RegExp(`^(${NAME})(?:{(?:${LABEL}(?:,${LABEL})*)?})? (\\S+)$`);
const NUMBER = /^(?:[+-]?Inf|NaN|[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/;

/** What each suffix of a sample needs its family to be. */
const SUFFIXES: readonly [suffix: string, type: string][] = [
  ["", ""],
  ["_bucket", "histogram"],
  ["_sum", "histogram"],
  ["_count", "histogram"],
];

interface Families {
  readonly types: Map<string, string>;
  /** That of the last TYPE line. */
  current: string;
}

/**
 * The series of a scrape, each as it is written there, name and labels: `up{backend="a"}`. Throws for what a scraper
 * would refuse: a broken line, a series twice, samples away from the TYPE line of their family.
 */
export function parseExposition(text: string): Map<string, number> {
  const series = new Map<string, number>();
  const families: Families = { types: new Map(), current: "" };
  if (!text.endsWith("\n")) {
    throw new SyntaxError("Cannot read the scrape: its last line has no end");
  }
  for (const [index, line] of text.slice(0, -1).split("\n").entries()) {
    const fault = line.startsWith("#")
      ? readComment(line, families)
      : readSample(line, { series, families });
    if (fault === "") continue;
    throw new SyntaxError(`Cannot read line ${index + 1} ${JSON.stringify(line)}: ${fault}`);
  }
  return series;
}

/** The types by family. */
export function expositionTypes(text: string): Map<string, string> {
  const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
  return new Map(types.map(([, name, type]) => [name!, type!]));
}

/** The lines of one family's samples, as they are. */
export function samplesOf(text: string, family: string): string[] {
  const lines = text.split("\n");
  const first = lines.findIndex((line) => line.startsWith(`# TYPE ${family} `)) + 1;
  if (first === 0) return [];
  const length = lines.slice(first).findIndex((line) => line === "" || line.startsWith("#"));
  return lines.slice(first, first + length);
}

/** What is wrong with the line, or nothing. */
function readComment(line: string, families: Families): string {
  const [, kind, name, rest] = COMMENT.exec(line) ?? [];
  if (kind === undefined) return "neither HELP nor TYPE";
  if (kind === "HELP") return "";
  if (families.types.has(name!)) return "a second TYPE";
  if (!TYPES.includes(rest!)) return "no such type";
  families.types.set(families.current = name!, rest!);
  return "";
}

/** What is wrong with the line, or nothing. */
function readSample(
  line: string,
  found: { series: Map<string, number>; families: Families },
): string {
  if (line === "") return "";
  const [, name, value] = SAMPLE.exec(line) ?? [];
  if (value === undefined) return "no sample";
  if (!NUMBER.test(value)) return "no number";
  if (!belongs(name!, found.families)) return "not of its family";
  const key = line.slice(0, -value.length - 1);
  if (found.series.has(key)) return "the series is there already";
  found.series.set(key, Number(value.replace("Inf", "Infinity")));
  return "";
}

function belongs(name: string, { types, current }: Families): boolean {
  return SUFFIXES.some(([suffix, type]) =>
    name === current + suffix && types.has(current) && (type === "" || type === types.get(current))
  );
}
