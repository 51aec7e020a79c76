import type { Environment } from "../config/mod.ts";
import type { Runners } from "./runners.ts";
import type { Signals } from "./signals.ts";

/** Everything a command may touch. A test hands in its own and starts no process. */
export interface World {
  readonly environment: Environment;
  readonly runners: Runners;
  readonly signals: Signals;
  /** Whether standard output is a terminal that wants colour. */
  readonly colour: boolean;
  /** One or more lines on standard output. */
  print(text: string): void;
  /** One or more lines on standard error. */
  complain(text: string): void;
}
