import { Buffer } from "node:buffer";
import { within } from "../support/waiting.ts";
import { type Caller, entriesOf, type Plan, type Seen, show } from "./seen.ts";

/** A line of what a program says. Bytes are in base64. */
interface Outcome {
  readonly id: number;
  readonly head: Record<string, string[]> | null;
  /** An empty one may be null. */
  readonly messages: readonly (string | null)[] | null;
  readonly code: number;
  readonly message: string;
  readonly details?: readonly string[] | null;
  readonly trailers: Record<string, string[]> | null;
}

/**
 * A gRPC client in a process of its own, in whatever language. The program is given the server's address as its last
 * argument, reads calls to make from standard input and writes what came of them to standard output, a JSON object a
 * line: `caller/main.go`, `node/caller.mjs` and `python/caller.py` say the same in three languages.
 */
export class LineCaller implements Caller {
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #calls = new Map<number, PromiseWithResolvers<Outcome>>();
  readonly #reading: Promise<void>;
  #lastId = 0;

  /** `command` is a program and its arguments. */
  constructor([program, ...args]: readonly string[], port: number) {
    this.#child = new Deno.Command(program!, {
      args: [...args, `127.0.0.1:${port}`],
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

  /** Ends it at once, and so without a GOAWAY: one may end the process that a node:http2 server is in. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await Promise.all([this.#child.status, this.#reading, this.#input.close().catch(() => {})]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#input.close();
    await within(this.#reading, "the end of the client").finally(async () => {
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
    for (const call of this.#calls.values()) call.reject(new Error("The client ended early"));
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
