/**
 * Other people's clients, servers and conformance suites with the sidecar between them, each program a process of its
 * own. `deno task interop`, or:
 *
 *     deno run -A tests/interop/main.ts [--only SUITE,…] [--mode default|star|both] [--case PART] [--list]
 *
 * Each suite runs twice: in front of a sidecar as it comes, and of one that collapses every method. A line says what
 * came of each case, `ok|FAIL|skip suite/mode/case (reason)`. A toolchain that the machine has not, or a registry that
 * it cannot reach, skips a suite; a build that fails for another reason is a failure. What is built stays in `.build`.
 *
 * Exits with 1 when a case failed.
 *
 * @module
 */

import { SUITES } from "./suites/all.ts";
import { Desk } from "./suites/desk.ts";
import { type Options, readOptions } from "./suites/options.ts";
import { type Suite, Unavailable } from "./suites/suite.ts";

const HELP = `deno task interop: other people's clients and servers through the sidecar

  --only SUITE,…  which suites: ${SUITES.map(({ name }) => name).join(", ")}
  --mode MODE     default, star (COLLAPSER_METHODS=*) or both
  --case PART     only cases whose suite/mode/case contains this
  --list          print the cases and end
  --help          print this and end`;

const BAD_USAGE = 64;

if (import.meta.main) Deno.exit(await main(Deno.args));

async function main(args: readonly string[]): Promise<number> {
  const options = optionsOf(args);
  if (options === undefined) return BAD_USAGE;
  if (options.help) {
    console.log(HELP);
    return 0;
  }
  const desk = new Desk({ pattern: options.pattern, print: (line) => console.log(line) });
  for (const suite of SUITES.filter(({ name }) => options.only.includes(name))) {
    if (options.list) list(suite, { desk, options });
    else await runSuite(suite, { desk, options });
  }
  if (options.list) return 0;
  for (const line of desk.summary()) console.log(line);
  return desk.failures.length === 0 ? 0 : 1;
}

function optionsOf(args: readonly string[]): Options | undefined {
  try {
    return readOptions(args, SUITES.map(({ name }) => name));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return undefined;
  }
}

/** What a suite is run with. */
interface Run {
  readonly desk: Desk;
  readonly options: Options;
}

function benchesOf(suite: Suite, { desk, options }: Run) {
  return options.modes.map((mode) => desk.at(suite.name, mode, suite.cases(mode)))
    .filter(({ cases }) => cases.length > 0);
}

function list(suite: Suite, run: Run): void {
  for (const { path, cases } of benchesOf(suite, run)) {
    for (const name of cases) console.log(`${path}/${name}`);
  }
}

async function runSuite(suite: Suite, run: Run): Promise<void> {
  const benches = benchesOf(suite, run);
  if (benches.length === 0) return;
  let runMode;
  try {
    runMode = await suite.prepare();
  } catch (error) {
    if (!(error instanceof Unavailable)) return run.desk.fail(`${suite.name}/build`, error);
    for (const bench of benches) bench.skipAll(error.message);
    return;
  }
  for (const bench of benches) {
    try {
      await runMode(bench);
      bench.close();
    } catch (error) {
      bench.failAll(error);
    }
  }
}
