/** Longest that a child has to end in order. */
const STOP_MS = 3_000;

/** Clock ticks a second in /proc/PID/stat: 100 on every Linux that runs Deno. */
const TICKS_PER_SECOND = 100;

/** Fields of /proc/PID/stat after the name, which ends at the last parenthesis: utime is field 14, stime 15. */
const UTIME = 11;

export interface ChildOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Lines of standard error are handed over instead of passed on. */
  readonly onErrorLine?: (line: string) => void;
}

/** A process that this one starts and ends. */
export class Child {
  readonly pid: number;
  readonly lines: AsyncGenerator<string>;
  #process: Deno.ChildProcess;
  #stdin: WritableStreamDefaultWriter<Uint8Array>;
  #errors: Promise<void>;

  constructor(command: string, args: readonly string[], options: ChildOptions = {}) {
    const { env = {}, onErrorLine } = options;
    const spec = new Deno.Command(command, {
      args: [...args],
      env: { ...env },
      stdin: "piped",
      stdout: "piped",
      stderr: onErrorLine === undefined ? "inherit" : "piped",
    });
    this.#process = spec.spawn();
    this.pid = this.#process.pid;
    this.#stdin = this.#process.stdin.getWriter();
    this.lines = linesOf(this.#process.stdout);
    this.#errors = onErrorLine === undefined
      ? Promise.resolve()
      : handOver(this.#process.stderr, onErrorLine);
  }

  /** Writes a line to its standard input. */
  async write(line: string): Promise<void> {
    await this.#stdin.write(new TextEncoder().encode(`${line}\n`));
  }

  /** The next line of its standard output. Rejects when there is none. */
  async line(): Promise<string> {
    const { value, done } = await this.lines.next();
    if (done) throw new Error(`Cannot go on: the process ${this.pid} ended early`);
    return value;
  }

  /** Ends it, in order while it has the time. */
  async stop(): Promise<void> {
    const timer = setTimeout(() => this.#signal("SIGKILL"), STOP_MS);
    this.#signal("SIGTERM");
    await this.#stdin.close().catch(() => {}); // it has ended already
    await this.#process.status;
    clearTimeout(timer);
    await this.#errors;
    while (!(await this.lines.next()).done); // what it still said
  }

  /** Processor time it has had, in ms; undefined where there is no /proc. */
  cpuMs(): number | undefined {
    const text = readProc(this.pid, "stat");
    if (text === undefined) return undefined;
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[UTIME]) + Number(fields[UTIME + 1])) / TICKS_PER_SECOND * 1_000;
  }

  /** Memory it occupies, in MiB; undefined where there is no /proc. */
  rssMib(): number | undefined {
    const match = /^VmRSS:\s+(\d+) kB/m.exec(readProc(this.pid, "status") ?? "");
    return match === null ? undefined : Number(match[1]) / 1_024;
  }

  #signal(signal: Deno.Signal): void {
    try {
      this.#process.kill(signal);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // it has ended already
    }
  }
}

async function* linesOf(stream: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  let rest = "";
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop()!;
    yield* lines;
  }
}

async function handOver(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  onLine: (line: string) => void,
): Promise<void> {
  for await (const line of linesOf(stream)) onLine(line);
}

function readProc(pid: number, file: string): string | undefined {
  try {
    return Deno.readTextFileSync(`/proc/${pid}/${file}`);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
