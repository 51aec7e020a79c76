/**
 * Other people's programs: run to their end, or for as long as a suite needs them.
 *
 * @module
 */

import { until } from "../../support/waiting.ts";
import { Unavailable } from "./suite.ts";

/** Lines of a program's output that are kept for when it goes wrong. */
const KEPT_LINES = 400;

/** Longest that a server may take to listen: a JVM on a busy machine. */
const START_LIMIT_MS = 60_000;

/** How a program is run. */
export interface CommandOptions {
  readonly cwd?: string | URL;
  /** Added to this process's environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Lines of its standard input. */
  readonly input?: readonly string[];
}

export interface Ended {
  readonly code: number;
  /** Standard output and standard error, as they came. */
  readonly output: string;
}

/** A program in a process of its own. It ends with the scope. */
export class Program implements AsyncDisposable {
  readonly lines: string[] = [];
  readonly ended: Promise<number>;
  isRunning = true;
  readonly #child: Deno.ChildProcess;

  /** Throws {@linkcode Unavailable} when the program is not installed. */
  constructor(
    [program, ...args]: readonly string[],
    options: CommandOptions = {},
  ) {
    this.#child = spawn(program!, args, options);
    if (options.input !== undefined) void this.#write(options.input);
    const reading = [this.#child.stdout, this.#child.stderr].map((stream) => this.#read(stream));
    this.ended = this.#child.status.then(async ({ code }) => {
      this.isRunning = false;
      await Promise.all(reading);
      return code;
    });
  }

  get said(): string {
    return this.lines.join("\n");
  }

  /** The match of the first line that matches, once there is one. */
  async says(pattern: RegExp, limitMs: number = START_LIMIT_MS): Promise<RegExpExecArray> {
    const match = () =>
      this.lines.map((line) => pattern.exec(line)).find((found) => found !== null);
    const over = () => match() !== undefined || !this.isRunning;
    await until(over, `${pattern}`, limitMs).catch(() => {}); // told below, with what it said
    const found = match();
    if (found === undefined) throw new Error(`Waited in vain for ${pattern}: ${this.said}`);
    return found;
  }

  kill(): void {
    this.signal("SIGKILL");
  }

  /** Nothing happens when it has ended. */
  signal(signal: Deno.Signal): void {
    if (this.isRunning) this.#child.kill(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.kill();
    await this.ended;
  }

  async #write(lines: readonly string[]): Promise<void> {
    const writer = this.#child.stdin.getWriter();
    try {
      await writer.write(new TextEncoder().encode(lines.map((line) => `${line}\n`).join("")));
      await writer.close();
    } catch {
      // It has ended; what is waited for from it will say so.
    }
  }

  async #read(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> {
    let rest = "";
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split("\n");
      rest = lines.pop()!;
      this.lines.push(...lines);
      if (this.lines.length > KEPT_LINES) this.lines.splice(0, this.lines.length - KEPT_LINES);
    }
    if (rest !== "") this.lines.push(rest);
  }
}

/** Runs a program to its end. Rejects when that takes too long, or with {@linkcode Unavailable} when there is none. */
export async function run(
  command: readonly string[],
  options: CommandOptions & { readonly limitMs: number },
): Promise<Ended> {
  await using program = new Program(command, options);
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    program.kill();
  }, options.limitMs);
  const code = await program.ended;
  clearTimeout(timer);
  if (late) throw new Error(`${command[0]} took more than ${options.limitMs} ms: ${program.said}`);
  return { code, output: program.said };
}

function spawn(
  program: string,
  args: readonly string[],
  { cwd, env = {}, input }: CommandOptions,
): Deno.ChildProcess {
  try {
    return new Deno.Command(program, {
      args: [...args],
      env: { ...env },
      ...(cwd === undefined ? {} : { cwd }),
      stdin: input === undefined ? "null" : "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new Unavailable(`${program} is not installed`);
  }
}
