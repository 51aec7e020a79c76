import type { Page } from "./page.ts";
import type { World } from "./world.ts";

/** One word after `collapser`. */
export interface Command {
  readonly name: string;
  /** What the command does, in less than a line. */
  readonly summary: string;
  /** How the command is called, after its name. */
  readonly usage: string;
  /** What the command does, in a paragraph. */
  readonly about: string;
  /** Lines to copy. */
  readonly examples: readonly string[];
  /** Writes what may follow the usage line: the flags, or the variables. */
  describeOptions(page: Page): void;
  /** Runs the command and returns the exit code. `args` is what follows the name. */
  run(args: readonly string[], world: World): Promise<number>;
}
