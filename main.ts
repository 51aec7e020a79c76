/**
 * The entry: arguments in, exit code out. `deno run -A main.ts --help` says what it takes.
 *
 * @module
 */

import { listenForSignals, main } from "./lib/cli/mod.ts";

// Before anything is read or opened: as PID 1 a signal without a handler is a crash.
const signals = listenForSignals();

// The code comes when the work is done; a socket left open must not keep the process.
Deno.exit(await main(Deno.args, signals));
