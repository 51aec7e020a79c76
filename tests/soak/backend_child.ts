import { Child } from "../../bench/load/child.ts";
import { within } from "../support/waiting.ts";
import type { BackendCounts } from "./backend.ts";
import { backendName } from "./content.ts";
import type { BackendKind } from "./place.ts";

const PROGRAM = new URL("./backend.ts", import.meta.url);

/** A busy machine takes its time. */
const LIMIT_MS = 60_000;

/** A backend, over all the processes that it is one after another; always on the same port. */
export class BackendChild implements AsyncDisposable {
  readonly name: string;
  port = 0;
  readonly #index: number;
  readonly #among: { readonly count: number; readonly kind: BackendKind };
  /** Calls that came to those that are gone, as far as they lived to tell. */
  #earlierCalls = 0;
  /** Longest that a timer in any of them came late, freezing included. */
  lateMs = 0;
  #child: Child | undefined = undefined;

  /** One of `count` backends, from 0. */
  constructor(index: number, among: { count: number; kind: BackendKind }) {
    this.name = backendName(index);
    this.#index = index;
    this.#among = among;
  }

  /** Starts it; resolves when it listens. */
  async start(): Promise<void> {
    const { count, kind } = this.#among;
    const place = [this.port, this.#index, count, kind].map(String);
    const args = ["run", "-A", "--no-lock", PROGRAM.href, ...place];
    const child = new Child(Deno.execPath(), args);
    this.#child = child;
    const line = await within(child.line(), "a backend that listens", LIMIT_MS);
    this.port = Number(line.split(" ")[1]);
  }

  /** Ends it, without a word (SIGKILL) or in order (SIGTERM); resolves when it is gone. */
  async stop(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    const child = this.#child!;
    this.#earlierCalls += (await this.count()).calls;
    this.#child = undefined;
    Deno.kill(child.pid, signal);
    await child.stop();
  }

  async tell(order: "goaway" | "abort" | "stall" | "resume"): Promise<void> {
    await this.#child!.write(order);
  }

  /** Nothing in it moves until it goes on. */
  freeze(): void {
    if (this.#child !== undefined) Deno.kill(this.#child.pid, "SIGSTOP");
  }

  thaw(): void {
    if (this.#child !== undefined) Deno.kill(this.#child.pid, "SIGCONT");
  }

  async count(): Promise<BackendCounts> {
    const child = this.#child!;
    await child.write("count");
    const counts: BackendCounts = JSON.parse(
      await within(child.line(), "the backend's count", LIMIT_MS),
    );
    this.lateMs = Math.max(this.lateMs, counts.lateMs);
    return counts;
  }

  /** Calls over all its lives. */
  async allCalls(): Promise<number> {
    return this.#earlierCalls + (await this.count()).calls;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.thaw();
    await this.#child?.stop();
  }
}
