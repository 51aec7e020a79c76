import { Buffer } from "node:buffer";
import { within } from "../support/waiting.ts";
import { type Caller, entriesOf, type Plan, type Seen, show } from "./seen.ts";

const SOURCE = new URL("./go/", import.meta.url);

/** On a machine that has built nothing of it before. */
const BUILD_LIMIT_MS = 240_000;

const NOT_INSTALLED = "Go is not installed";

/** A line of what the Go program says. */
interface Outcome {
  readonly id: number;
  readonly head: Record<string, string[]> | null;
  /** An empty one is null. */
  readonly messages: readonly (string | null)[] | null;
  readonly code: number;
  readonly message: string;
  readonly details: readonly string[] | null;
  readonly trailers: Record<string, string[]> | null;
}

/**
 * Why the Go client is not to be had here; "" when it is. Built for the first time it costs more than all other tests
 * together (the library is large), so that is done where changes are judged, and not to whoever tries the tests out.
 */
export async function whyNoGo(): Promise<string> {
  const state = await go(["list", "-f", "{{.StaleReason}}", "."]);
  if (state.said === NOT_INSTALLED) return NOT_INSTALLED;
  if (state.output.includes("available in build cache")) return "";
  if (!Deno.env.has("CI")) {
    return "its first build takes a minute or two: run `go build -o /dev/null .` in tests/interop/go, or set CI";
  }
  // A newer Go included, where this one is too old and may fetch it.
  const fetched = await within(go(["mod", "download"]), "Go's modules", BUILD_LIMIT_MS);
  if (fetched.success) return "";
  return `Go cannot fetch its modules: ${fetched.said.trim().split("\n").at(-1)}`;
}

/** The client in `go/`, built. */
export class GoProgram implements AsyncDisposable {
  readonly #folder: string;
  readonly path: string;

  private constructor(folder: string) {
    this.#folder = folder;
    this.path = `${folder}/caller`;
  }

  static async build(): Promise<GoProgram> {
    const program = new GoProgram(await Deno.makeTempDir({ prefix: "collapser-test-" }));
    try {
      const building = go(["build", "-o", program.path, "."]);
      const { success, said } = await within(building, "the Go client's build", BUILD_LIMIT_MS);
      if (!success) throw new Error(`Cannot build the Go client: ${said}`);
      return program;
    } catch (error) {
      await program[Symbol.asyncDispose]();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.#folder, { recursive: true });
  }
}

/** A grpc-go client in a process of its own, with one connection. */
export class GrpcGo implements Caller {
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #calls = new Map<number, PromiseWithResolvers<Outcome>>();
  readonly #reading: Promise<void>;
  #lastId = 0;

  constructor(program: GoProgram, port: number) {
    this.#child = new Deno.Command(program.path, {
      args: [`127.0.0.1:${port}`],
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    this.#input = this.#child.stdin.getWriter();
    this.#reading = this.#read();
  }

  async see(plan: Plan, cancel?: Promise<void>): Promise<Seen> {
    const { name, kind, path, deadlineMs, cancelAfter, gzip } = plan;
    const id = ++this.#lastId;
    const call = Promise.withResolvers<Outcome>();
    this.#calls.set(id, call);
    const messages = plan.messages.map((message) => Buffer.from(message).toString("base64"));
    const metadata = (plan.metadata ?? []).map(([key, value]) => [key, textOf(value)]);
    await this.#send({ id, kind, path, messages, metadata, deadlineMs, cancelAfter, gzip });
    const cancelled = cancel?.then(() => this.#send({ id, cancel: true }));
    const outcome = await within(call.promise, `the end of "${name}"`);
    await cancelled;
    return seenOf(outcome, cancelAfter);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#input.close();
    await within(this.#reading, "the end of the Go client").finally(async () => {
      if (this.#calls.size > 0) this.#child.kill("SIGKILL");
      await this.#child.status;
    });
  }

  async #send(line: unknown): Promise<void> {
    await this.#input.write(new TextEncoder().encode(`${JSON.stringify(line)}\n`));
  }

  async #read(): Promise<void> {
    let rest: string[] = [];
    for await (const text of this.#child.stdout.pipeThrough(new TextDecoderStream())) {
      const [first, ...lines] = text.split("\n");
      rest.push(first!);
      for (const line of lines) {
        this.#ended(JSON.parse(rest.join("")));
        rest = [line];
      }
    }
  }

  #ended(outcome: Outcome): void {
    this.#calls.get(outcome.id)!.resolve(outcome);
    this.#calls.delete(outcome.id);
  }
}

function seenOf(outcome: Outcome, cancelAfter: number | undefined): Seen {
  const messages = (outcome.messages ?? []).map((text) => Buffer.from(text ?? "", "base64"));
  const details = (outcome.details ?? []).map((detail) => ` with ${detail}`);
  return {
    head: outcome.head === null ? null : entriesOf(outcome.head),
    messages: messages.slice(0, cancelAfter).map(show),
    code: outcome.code,
    message: outcome.message + details.join(""),
    trailers: entriesOf(outcome.trailers ?? {}),
  };
}

/** Bytes as text of one character each, which JSON can carry. */
function textOf(value: string | Uint8Array): string {
  return typeof value === "string" ? value : Buffer.from(value).toString("latin1");
}

interface Run {
  readonly success: boolean;
  /** Its standard output. */
  readonly output: string;
  /** Its standard error. */
  readonly said: string;
}

async function go(args: readonly string[]): Promise<Run> {
  try {
    const command = new Deno.Command("go", { args: [...args], cwd: SOURCE, stdin: "null" });
    const { success, stdout, stderr } = await command.output();
    const decoder = new TextDecoder();
    return { success, output: decoder.decode(stdout), said: decoder.decode(stderr) };
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return { success: false, output: "", said: NOT_INSTALLED };
  }
}
