/** A method's row as `/api/report` tells it (INTERFACE: Trust); what only shadow would know is null elsewhere. */
export interface ReportedMethod {
  readonly method: string;
  readonly mode: string;
  readonly calls: number;
  readonly wouldHit: number;
  readonly wouldJoin: number;
  readonly share: number;
  readonly savedCallsPerS: number;
  readonly savedSecondsPerS: number;
  readonly waitNowMs: number;
  readonly waitThenMs: number;
  readonly keys: number | null;
  readonly largestGroup: number | null;
  readonly compared: Readonly<Record<string, number>>;
  readonly keptApartBy: readonly string[];
  readonly ttl: Readonly<Record<string, number | null>>;
  readonly recommendation: string;
  readonly policy?: unknown;
}

export interface Report {
  readonly version: string;
  readonly uptimeS: number;
  readonly methods: readonly ReportedMethod[];
}

/** The report for a person: a few lines for each method, and last the policy to paste. */
export function reportText(report: Report): string {
  const { methods, uptimeS } = report;
  if (methods.length === 0) {
    return `No calls of methods that share or might, in ${showUptime(uptimeS)} since the start.`;
  }
  const lines = [
    `What sharing saves, or in shadow would, in ${showUptime(uptimeS)} since the start`,
  ];
  for (const row of methods) lines.push("", ...linesOf(row));
  const policy = policyOf(methods);
  if (policy !== undefined) {
    lines.push("", "The policy that follows from it (COLLAPSER_CONFIG):", policy);
  }
  return lines.join("\n");
}

/** The report as a table for a page or an issue, in Markdown. */
export function reportMarkdown({ methods }: Report): string {
  const head = [
    ...["method", "mode", "calls", "hit", "joined", "share", "saved calls/s", "saved s/s"],
    ...["wait now", "then", "keys", "largest group", "compared", "kept apart by", "recommendation"],
  ];
  const rows = methods.map((row) => [
    ...[`\`${row.method}\``, row.mode, count(row.calls), count(row.wouldHit), count(row.wouldJoin)],
    ...[percent(row.share), rate(row.savedCallsPerS), rate(row.savedSecondsPerS)],
    ...[ms(row.waitNowMs), ms(row.waitThenMs), count(row.keys), count(row.largestGroup)],
    ...[comparedText(row.compared), row.keptApartBy.join(", ") || "–", row.recommendation],
  ]);
  const lines = [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
  const policy = policyOf(methods);
  return policy === undefined
    ? lines.join("\n")
    : [...lines, "", "```json", policy, "```"].join("\n");
}

function linesOf(row: ReportedMethod): string[] {
  const saved = row.wouldHit + row.wouldJoin;
  const would = row.mode === "shadow" ? "would be " : "";
  const lines = [
    `${row.method}  (${row.mode})`,
    `  calls      ${count(row.calls)}, of which ${count(saved)} ${would}answered with another's ` +
    `answer: ${percent(row.share)}`,
    `             ${count(row.wouldHit)} from what is kept, ${
      count(row.wouldJoin)
    } by a call under way`,
    `  saves      ${rate(row.savedCallsPerS)} backend calls, ${rate(row.savedSecondsPerS)} s of ` +
    "backend time each second",
    `  waits      ${ms(row.waitNowMs)} without sharing, ${ms(row.waitThenMs)} with it`,
  ];
  if (row.keys !== null) {
    lines.push(
      `  keys       ${count(row.keys)}; the largest group with one answer is ${
        count(row.largestGroup)
      } calls`,
    );
  }
  const times = Object.entries(row.ttl).filter(([, share]) => share !== null);
  if (times.length > 1) {
    const told = times.map(([time, share]) =>
      `${time === "configured" ? "as now" : time}: ${percent(share)}`
    );
    lines.push(`  kept for   ${told.join(", ")}`);
  }
  lines.push(`  compared   ${comparedText(row.compared)}`);
  if (row.keptApartBy.length > 0) lines.push(`  apart by   ${row.keptApartBy.join(", ")}`);
  const why = row.recommendation === "too early"
    ? " (fewer than 1,000 calls, or less than an hour)"
    : "";
  lines.push(`  advice     ${row.recommendation}${why}`);
  return lines;
}

function comparedText(compared: Readonly<Record<string, number>>): string {
  const told = Object.entries(compared).filter(([, number]) => number > 0);
  return told.map(([result, number]) => `${count(number)} ${result}`).join(", ") || "nothing yet";
}

/** One policy of all that is recommended; undefined where nothing is. */
function policyOf(methods: readonly ReportedMethod[]): string | undefined {
  const entries = methods.flatMap(({ policy }) =>
    (policy as { methodConfig?: readonly unknown[] } | null | undefined)?.methodConfig ?? []
  );
  if (entries.length === 0) return undefined;
  const lines = entries.map((entry) => `    ${JSON.stringify(entry)}`);
  return `{\n  "methodConfig": [\n${lines.join(",\n")}\n  ]\n}`;
}

function count(value: number | null): string {
  return value === null ? "–" : value.toLocaleString("en-US");
}

function percent(share: number | null): string {
  return share === null ? "–" : `${(share * 100).toFixed(1)} %`;
}

function rate(perSecond: number): string {
  return perSecond >= 10 ? perSecond.toFixed(0) : perSecond.toPrecision(2);
}

function ms(value: number): string {
  return `${value >= 10 ? value.toFixed(0) : value.toFixed(1)} ms`;
}

function showUptime(seconds: number): string {
  const hours = Math.floor(seconds / 3_600);
  const minutes = Math.floor(seconds / 60) % 60;
  if (hours >= 48) return `the last 48 h of ${Math.floor(hours / 24)} days`;
  if (hours > 0) return `${hours} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min` : `${seconds} s`;
}
