import { run } from "./command.ts";
import { missing } from "./transcript.ts";

/** Longer than any of these takes. */
const LIMIT_MS = 30_000;

/** A command line tool's run, and what it must come to. */
export interface ToolCase {
  readonly name: string;
  readonly args: readonly string[];
  /** Its exit code. @default 0 */
  readonly code?: number;
  /** What it prints, in this order, with anything between. */
  readonly says: readonly string[];
}

/** Runs one; throws when it comes to something else. */
export async function runTool(program: string, { args, code = 0, says }: ToolCase): Promise<void> {
  const ended = await run([program, ...args], { limitMs: LIMIT_MS });
  if (ended.code !== code) throw new Error(`code ${ended.code}, not ${code}: ${ended.output}`);
  const word = missing(ended.output, says);
  if (word !== undefined) throw new Error(`expected "${word}" in its place in: ${ended.output}`);
}
