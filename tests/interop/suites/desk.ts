import { type Mode, MODES } from "./suite.ts";

/** Longest reason on a case's line; what a client prints besides is of no use in a list. */
const REASON_CHARS = 500;

export interface DeskOptions {
  /** Cases whose id contains this; "" takes all. */
  readonly pattern?: string;
  readonly print: (line: string) => void;
}

/** Hears what came of each case, prints a line for it, and counts. */
export class Desk {
  passed = 0;
  skipped = 0;
  readonly failures: string[] = [];
  /** What was skipped and why, in lines. */
  readonly skips: string[] = [];
  readonly #pattern: string;
  readonly #print: (line: string) => void;

  constructor({ pattern = "", print }: DeskOptions) {
    this.#pattern = pattern;
    this.#print = print;
  }

  /** The cases of a suite in a mode that are asked for. */
  at(suite: string, mode: Mode, cases: readonly string[]): Bench {
    const path = `${suite}/${mode}`;
    const wanted = cases.filter((name) => `${path}/${name}`.includes(this.#pattern));
    return new Bench(this, { path, mode, cases: wanted });
  }

  pass(id: string, note = ""): void {
    this.passed++;
    this.#print(`ok   ${id}${inBrackets(note)}`);
  }

  fail(id: string, reason: unknown): void {
    this.failures.push(id);
    this.#print(`FAIL ${id}${inBrackets(textOf(reason))}`);
  }

  /** `id` stands for so many cases. */
  skip(id: string, reason: string, cases = 1): void {
    this.skipped += cases;
    const line = `${id}${cases === 1 ? "" : `, ${cases} cases`}${inBrackets(oneLine(reason))}`;
    this.skips.push(line);
    this.#print(`skip ${line}`);
  }

  /** What was skipped and what failed, once more, and the count. */
  summary(): string[] {
    return [
      ...this.skips.map((line) => `skipped: ${line}`),
      ...this.failures.map((id) => `failed: ${id}`),
      `${this.passed} passed, ${this.failures.length} failed, ${this.skipped} skipped`,
    ];
  }
}

/** The wanted cases of one suite in one mode. */
export class Bench {
  readonly mode: Mode;
  /** What the sidecar's environment must have. */
  readonly env: Readonly<Record<string, string>>;
  /** Names of the cases to run. */
  readonly cases: readonly string[];
  readonly path: string;
  readonly #desk: Desk;
  readonly #open: Set<string>;

  constructor(
    desk: Desk,
    { path, mode, cases }: { path: string; mode: Mode; cases: readonly string[] },
  ) {
    this.#desk = desk;
    this.path = path;
    this.mode = mode;
    this.env = MODES[mode];
    this.cases = cases;
    this.#open = new Set(cases);
  }

  wants(name: string): boolean {
    return this.cases.includes(name);
  }

  /** Runs a case unless it is not wanted; what it throws is why it failed. Tells whether all is well. */
  async check(name: string, run: () => Promise<void> | void): Promise<boolean> {
    if (!this.#open.delete(name)) return true;
    try {
      await run();
      this.#desk.pass(`${this.path}/${name}`);
      return true;
    } catch (error) {
      this.#desk.fail(`${this.path}/${name}`, error);
      return false;
    }
  }

  /** A case that does not fit here. */
  skip(name: string, reason: string): void {
    if (this.#open.delete(name)) this.#desk.skip(`${this.path}/${name}`, reason);
  }

  /** Everything that is still to be run. */
  skipAll(reason: string): void {
    if (this.#open.size > 0) this.#desk.skip(this.path, reason, this.#open.size);
    this.#open.clear();
  }

  /** What all cases need has failed: one line for everything that is still to be run. */
  failAll(reason: unknown): void {
    if (this.#open.size > 0) this.#desk.fail(`${this.path}, ${this.#open.size} cases`, reason);
    this.#open.clear();
  }

  /** No case that is wanted may go without a verdict. */
  close(): void {
    for (const name of this.#open) this.#desk.fail(`${this.path}/${name}`, "it was not run");
    this.#open.clear();
  }
}

function inBrackets(note: string): string {
  return note === "" ? "" : ` (${note})`;
}

function textOf(reason: unknown): string {
  return oneLine(reason instanceof Error ? reason.message : String(reason));
}

function oneLine(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, " ");
  return line.length <= REASON_CHARS ? line : `${line.slice(0, REASON_CHARS)}…`;
}
