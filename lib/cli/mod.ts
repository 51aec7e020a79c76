/**
 * The command line: from arguments to one of the rooms that do the work, and back to an
 * exit code.
 *
 * It owns the command table, the help texts, and the first word on signals. Each command
 * reads its options, refuses with every problem at once and code 64, and else calls a
 * runner. What a command may touch is handed in as a `World`, so that a test needs no
 * process, no socket and no other room.
 *
 * Invariants:
 * - `rooms.ts` alone imports the rooms that work, and only when they are needed: help,
 *   `check` and a refused configuration load nothing, and `serve` does not load grpc-js.
 * - Nothing here prints to a stream or ends the process but `main` and `listenForSignals`.
 * - Texts fit 80 columns; colour needs a terminal and the absence of NO_COLOR.
 *
 * It refuses to decide anything about calls: it hands settings on as `config` made them.
 *
 * @module
 */

import { readEnvironment } from "../config/mod.ts";
import { ROOMS } from "./rooms.ts";
import { run } from "./run.ts";
import type { Signals } from "./signals.ts";

export { listenForSignals, type Signals } from "./signals.ts";

/** Runs the command that `args` name in this process. Returns the exit code. */
export async function main(args: readonly string[], signals: Signals): Promise<number> {
  return await run(args, {
    environment: readEnvironment(),
    runners: ROOMS,
    signals,
    colour: Deno.stdout.isTerminal() && !Deno.noColor,
    print: (text) => console.log(text),
    complain: (text) => console.error(text),
  });
}
