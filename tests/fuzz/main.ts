/**
 * `deno task fuzz`: cases without end for everything that reads what others send.
 *
 *     deno task fuzz [--minutes N] [--target NAME[,NAME]] [--seed N] [--runs N]
 *
 * The targets take turns until the time is over, each from where it left off. The seed comes first, so that a run
 * that is cut short can be played again, too. Exits with 1 when there was a finding.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { type Finding, newTally, play, type Tally, type Target } from "./run.ts";
import { TARGETS } from "./targets.ts";

const DEFAULT_MINUTES = 10;

/** One turn of a target with the usual share. */
const TURN_MS = 2_000;

const BAD_USAGE = 64;

interface Options {
  readonly targets: readonly Target[];
  readonly seed: number;
  readonly runs: number | undefined;
  readonly minutes: number;
}

if (import.meta.main) Deno.exit(await main(Deno.args));

async function main(args: readonly string[]): Promise<number> {
  const options = readOptions(args);
  if (typeof options === "number") return options;
  console.log(`seed ${options.seed}`);
  const strays = catchStrays();
  const tallies = await fuzz(options);
  console.log(tableOf(tallies));
  const findings = tallies.flatMap(({ finding }) => finding ?? []);
  for (const finding of findings) console.log(textOf(finding));
  for (const stray of strays) console.log("\nnobody caught:", stray);
  return findings.length + strays.length > 0 ? 1 : 0;
}

async function fuzz({ targets, seed, runs, minutes }: Options): Promise<Tally[]> {
  const tallies = targets.map(newTally);
  const beganMs = performance.now();
  const forMs = minutes * 60_000;
  let left = targets.map((target, i) => ({ target, tally: tallies[i]! }));
  while (left.length > 0 && performance.now() - beganMs < forMs) {
    for (const { target, tally } of left) {
      const turn = runs === undefined ? { forMs: TURN_MS * (target.weight ?? 1) } : { runs };
      await play(target, { seed: seed + tally.cases, ...turn }, tally);
      showProgress(target.name, tallies, (performance.now() - beganMs) / forMs);
    }
    left = runs === undefined ? left.filter(({ tally }) => tally.finding === undefined) : [];
  }
  if (Deno.stderr.isTerminal()) console.error();
  return tallies;
}

/** What fails where no case can catch it is a finding all the same. */
function catchStrays(): unknown[] {
  const strays: unknown[] = [];
  addEventListener("error", (event) => {
    event.preventDefault();
    strays.push(event.error);
  });
  addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    strays.push(event.reason);
  });
  return strays;
}

function showProgress(name: string, tallies: readonly Tally[], share: number): void {
  if (!Deno.stderr.isTerminal()) return;
  const cases = tallies.reduce((sum, tally) => sum + tally.cases, 0);
  const findings = tallies.filter(({ finding }) => finding !== undefined).length;
  const text = `${Math.min(100, Math.round(share * 100))} %, ${cases} cases, ${findings} findings`;
  Deno.stderr.writeSync(new TextEncoder().encode(`\r\x1b[K${text}, last ${name}`));
}

function tableOf(tallies: readonly Tally[]): string {
  const rows = tallies.map(({ target, cases, ms, finding }) => [
    target,
    String(cases),
    (cases / Math.max(ms, 1) * 1_000).toFixed(0),
    finding === undefined ? "" : `failed at seed ${finding.seed}`,
  ]);
  const table = [["target", "cases", "cases/s", ""], ...rows];
  const widths = [0, 1, 2].map((column) => Math.max(...table.map((row) => row[column]!.length)));
  return table.map(([name, cases, rate, end]) =>
    `${name!.padEnd(widths[0]!)}  ${cases!.padStart(widths[1]!)}  ${
      rate!.padStart(widths[2]!)
    }  ${end}`
      .trimEnd()
  ).join("\n");
}

function textOf({ target, seed, error, notes }: Finding): string {
  const stack = error instanceof Error ? error.stack ?? error.message : String(error);
  const cause = error instanceof Error && error.cause !== undefined
    ? `\ncause: ${Deno.inspect(error.cause)}`
    : "";
  return [
    `\n${target} failed; again by: deno task fuzz --target ${target} --seed ${seed} --runs 1`,
    "the smallest case found:",
    ...notes.map((note) => `  ${note}`),
    stack + cause,
  ].join("\n");
}

/** The options, or the exit code where there is nothing to do. */
function readOptions(args: readonly string[]): Options | number {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        minutes: { type: "string", default: String(DEFAULT_MINUTES) },
        target: { type: "string" },
        seed: { type: "string", default: String(Math.floor(Math.random() * 2 ** 31)) },
        runs: { type: "string" },
        help: { type: "boolean", default: false },
      },
    });
    if (values.help) {
      console.log(help());
      return 0;
    }
    return {
      targets: chosen(values.target),
      seed: numberOf("seed", values.seed),
      runs: values.runs === undefined ? undefined : numberOf("runs", values.runs),
      minutes: numberOf("minutes", values.minutes),
    };
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return BAD_USAGE;
  }
}

function chosen(names: string | undefined): readonly Target[] {
  if (names === undefined) return TARGETS;
  return names.split(",").map((name) => {
    const target = TARGETS.find((known) => known.name === name);
    if (target === undefined) {
      const known = TARGETS.map((each) => each.name).join(" ");
      throw new Error(`Cannot fuzz "${name}": expected one of ${known}`);
    }
    return target;
  });
}

function numberOf(flag: string, text: string): number {
  const value = Number(text);
  if (!(value >= 0) || text === "") {
    throw new Error(`Cannot parse --${flag} "${text}": expected a number`);
  }
  return value;
}

function help(): string {
  const width = Math.max(...TARGETS.map(({ name }) => name.length));
  return [
    "Usage: deno task fuzz [--minutes N] [--target NAME[,NAME]] [--seed N] [--runs N]",
    "",
    `  --minutes N    how long, all targets together (default ${DEFAULT_MINUTES})`,
    "  --target NAME  these targets only, separated by commas",
    "  --seed N       of the first case of each target (default: by chance, and printed)",
    "  --runs N       so many cases of each target, and no more",
    "",
    "Targets:",
    ...TARGETS.map(({ name, about }) => `  ${name.padEnd(width)}  ${about}`),
  ].join("\n");
}
