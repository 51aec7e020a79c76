/**
 * `deno task soak`: see `soak.ts` for what it does, `judge.ts` for what a call may come to, `rest.ts` and `memory.ts` for
 * what must be true at the end. Exits with 1 when anything was wrong.
 *
 * @module
 */

import { parseArgs } from "node:util";
import type { BackendKind } from "./place.ts";
import { progressLine, reportOf } from "./report.ts";
import { type Progress, soak, type SoakOptions } from "./soak.ts";

const HELP =
  `Usage: deno task soak [--minutes N] [--backends N] [--kind replicas|shards] [--seed N] [--rate N]
                      [--sidecar-args "..."]

Drives mixed traffic, faults and rude callers at three sidecars, checks every reply byte for byte,
and looks at what is left behind. Exit code 0 when all is well.

  --minutes N           how long (default 15; below 5 memory is measured and not judged)
  --backends N          that each sidecar stands before (default 1)
  --kind KIND           what several are: replicas (default), or shards, whose calls name theirs
  --seed N              repeats the choices of an earlier run, though not their timing (default: any)
  --rate N              calls a second, over all sidecars (default 300)
  --sidecar-args "..."  further arguments of collapser serve`;

const PROGRESS_ON_TERMINAL_MS = 2_000;
const PROGRESS_IN_LOG_MS = 30_000;

const GOOD = 0;
const FAILED = 1;
const BAD_USAGE = 64;

if (import.meta.main) Deno.exit(await main(Deno.args));

async function main(args: readonly string[]): Promise<number> {
  const options = readOptions(args);
  if (typeof options === "string") {
    console.log(options);
    return options === HELP ? GOOD : BAD_USAGE;
  }
  const { minutes, seed, perSecond, backends, kind } = options;
  const behind = backends === 1 ? "one backend" : `${backends} ${kind}`;
  console.log(`soak of ${minutes} min, ${behind}, seed ${seed}, ${perSecond} calls/s`);
  const stop = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    Deno.addSignalListener(name, () => stop.abort(new Error("Stopped before its time")));
  }
  try {
    const result = await soak({
      ...options,
      signal: stop.signal,
      onProgress: showProgress(minutes),
    });
    clearProgress();
    console.log(reportOf(result));
    return result.tally.faultCount === 0 ? GOOD : FAILED;
  } catch (error) {
    clearProgress();
    console.error(error instanceof Error ? error.message : error);
    return FAILED;
  }
}

/** The options, or what to say in place of a run. */
function readOptions(args: readonly string[]): SoakOptions | string {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        minutes: { type: "string", default: "15" },
        seed: { type: "string", default: String(Date.now() % 1_000_000) },
        rate: { type: "string", default: "300" },
        backends: { type: "string", default: "1" },
        kind: { type: "string", default: "replicas" },
        "sidecar-args": { type: "string", default: "" },
        help: { type: "boolean", default: false },
      },
    });
    if (values.help) return HELP;
    return {
      minutes: positive("--minutes", values.minutes),
      seed: positive("--seed", values.seed),
      perSecond: positive("--rate", values.rate),
      backends: count("--backends", values.backends),
      kind: kindOf(values.kind),
      sidecarArgs: values["sidecar-args"].split(" ").filter((arg) => arg !== ""),
    };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (value > 0 && value < Infinity) return value;
  throw new Error(`Cannot parse ${name} "${text}": expected a positive number`);
}

function count(name: string, text: string): number {
  const value = positive(name, text);
  if (Number.isInteger(value)) return value;
  throw new Error(`Cannot parse ${name} "${text}": expected a whole number`);
}

function kindOf(text: string): BackendKind {
  if (text === "replicas" || text === "shards") return text;
  throw new Error(`Cannot parse --kind "${text}": expected replicas or shards`);
}

function showProgress(minutes: number): (progress: Progress) => void {
  const isTerminal = Deno.stdout.isTerminal();
  const everyMs = isTerminal ? PROGRESS_ON_TERMINAL_MS : PROGRESS_IN_LOG_MS;
  let shownMs = -Infinity;
  let told = 0;
  return (progress) => {
    for (const fault of progress.faults.slice(told)) console.log(`\n${clock()} FAULT: ${fault}`);
    told = progress.faults.length;
    if (progress.elapsedMs - shownMs < everyMs) return;
    shownMs = progress.elapsedMs;
    const line = progressLine(progress, minutes);
    if (isTerminal) write(`\r\x1b[K${line}`);
    else console.log(line);
  };
}

function clock(): string {
  return new Date().toISOString().slice(11, 19);
}

function clearProgress(): void {
  if (Deno.stdout.isTerminal()) write("\r\x1b[K");
}

function write(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(text));
}
