/**
 * The program as a process of its own, as a user runs it.
 *
 * @module
 */

import { until, within } from "./waiting.ts";

const ROOT = new URL("../../", import.meta.url);

/** What a process needs of the environment to find Deno's cache, and to leave its coverage. */
const KEPT_VARIABLES = ["HOME", "PATH", "DENO_DIR", "XDG_CACHE_HOME", "DENO_COVERAGE_DIR"];

/** Free ports of the loopback address: no test may meet another one, or the machine's own sidecar. */
const FREE_PORTS = {
  GRPC_HOST: "127.0.0.1",
  GRPC_PORT: "0",
  METRICS_HOST: "127.0.0.1",
  METRICS_PORT: "0",
};

/** A line of the log, as JSON has it. */
export type LogLine = Readonly<Record<string, unknown>> & { readonly msg?: string };

/** How a process ended. */
export interface Ending {
  readonly code: number;
  /** From the start of the process. */
  readonly afterMs: number;
}

/** Variables of a process; undefined leaves out one that it would have by itself. */
export type ProcessVariables = Readonly<Record<string, string | undefined>>;

/** A command that runs, and all it writes. */
export class Running implements AsyncDisposable {
  /** Lines of standard error so far. */
  readonly errorLines: string[] = [];
  /** Lines of standard output so far. */
  readonly outputLines: string[] = [];
  /** Its end, and that of its output. */
  readonly ended: Promise<Ending>;
  isRunning = true;
  readonly #child: Deno.ChildProcess;

  /** `COMMAND ARGS` in `cwd`, with `env` and nothing else of this process's environment. */
  constructor(
    [command, ...args]: readonly [string, ...string[]],
    { env, cwd }: { env: ProcessVariables; cwd: URL | string },
  ) {
    const startedMs = performance.now();
    this.#child = new Deno.Command(command, {
      args,
      cwd,
      clearEnv: true,
      env: given(env),
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const reading = [
      collect(this.#child.stdout, this.outputLines),
      collect(this.#child.stderr, this.errorLines),
    ];
    this.ended = this.#child.status.then(async ({ code }) => {
      this.isRunning = false;
      const afterMs = performance.now() - startedMs;
      await Promise.all(reading);
      return { code, afterMs };
    });
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** Nothing happens when it has ended, which it may have before we are told. */
  signal(signal: Deno.Signal): void {
    if (!this.isRunning) return;
    try {
      this.#child.kill(signal);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
    }
  }

  /** Its end, within bounds, and with what it wrote when it does not come. */
  async end(limitMs?: number): Promise<Ending> {
    try {
      return await within(this.ended, "the process did not end", limitMs);
    } catch (error) {
      throw new Error(`${error instanceof Error ? error.message : error}\n${this.said}`);
    }
  }

  /** All it wrote. */
  get said(): string {
    return [...this.outputLines, ...this.errorLines].join("\n");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.signal("SIGKILL");
    await this.ended;
  }
}

/** `deno ARGS` in the project's folder, or in `cwd`, with `env` and nothing else of this process's environment. */
export class Process extends Running {
  constructor(args: readonly string[], env: ProcessVariables = {}, cwd: URL | string = ROOT) {
    super([Deno.execPath(), ...args], {
      env: { ...keptVariables(), NO_COLOR: "1", ...env },
      cwd,
    });
  }
}

/** `collapser serve` with the permissions of `deno task start`. */
export class SidecarProcess extends Process {
  grpcPort = 0;
  metricsPort = 0;

  private constructor(env: ProcessVariables) {
    super(startArguments(), { ...FREE_PORTS, ...env });
  }

  /** Starts one; resolves when it serves, whatever its backend does. */
  static async start(env: ProcessVariables): Promise<SidecarProcess> {
    const process = new SidecarProcess(env);
    try {
      await until(() => process.logged("Serving") !== undefined || !process.isRunning, "serving");
      const line = process.logged("Serving");
      if (line === undefined) throw new Error("Cannot start a sidecar: it ended");
      process.grpcPort = Number(line.grpc_port);
      process.metricsPort = Number(line.metrics_port);
      return process;
    } catch (error) {
      await process[Symbol.asyncDispose]();
      throw new Error(`${error instanceof Error ? error.message : error}\n${process.said}`);
    }
  }

  /** The lines of its log. */
  get log(): LogLine[] {
    return this.errorLines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
  }

  /** The first line of its log with this message. */
  logged(message: string): LogLine | undefined {
    return this.log.find(({ msg }) => msg === message);
  }

  /** GET of the admin listener; status 0 when nobody answers. */
  ask(path: string): Promise<{ status: number; text: string }> {
    return get(`http://127.0.0.1:${this.metricsPort}${path}`);
  }

  /** Resolves when /ready answers with this. */
  async becomes(status: number): Promise<void> {
    await until(async () => (await this.ask("/ready")).status === status, `/ready with ${status}`);
  }
}

/** Runs `collapser ARGS` to its end, with the permissions of `deno task start`. */
export async function runToEnd(
  args: readonly string[],
  env: ProcessVariables,
): Promise<Ending & { output: string; errors: string }> {
  await using process = new Process([...startArguments().slice(0, -1), ...args], env);
  const ending = await process.end();
  const { outputLines, errorLines } = process;
  return { ...ending, output: outputLines.join("\n"), errors: errorLines.join("\n") };
}

/** The answer of an HTTP server; status 0 when there is none. */
export async function get(url: string): Promise<{ status: number; text: string }> {
  try {
    const answer = await fetch(url);
    return { status: answer.status, text: await answer.text() };
  } catch (error) {
    return { status: 0, text: String(error) };
  }
}

/** A port that nothing listens on. Another process could take it; the system gives the same one out late. */
export function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

/** What `deno task start` runs, without the `deno` in front: what is tested is what users get. */
function startArguments(): string[] {
  const { tasks } = JSON.parse(Deno.readTextFileSync(new URL("deno.json", ROOT)));
  return String(tasks.start.command).split(" ").slice(1);
}

function keptVariables(): ProcessVariables {
  return Object.fromEntries(KEPT_VARIABLES.map((name) => [name, Deno.env.get(name)]));
}

function given(env: ProcessVariables): Record<string, string> {
  const set: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) if (value !== undefined) set[name] = value;
  return set;
}

async function collect(stream: ReadableStream<Uint8Array>, into: string[]): Promise<void> {
  let rest = "";
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop()!;
    into.push(...lines);
  }
  if (rest !== "") into.push(rest);
}
