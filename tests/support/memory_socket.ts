import type { Socket } from "../../lib/transport/mod.ts";
import { concat } from "./frames.ts";

/** What one end of a connection in memory tells the test about the other. */
export interface SocketEvents {
  /** Bytes were written, and are the test's to keep. */
  written(bytes: Uint8Array): void;
  /** It was closed by the code under test. */
  closed(): void;
}

/** A socket whose other end is the test. Nothing moves but by promises, so a test can wait until all is quiet. */
export class MemorySocket implements Socket {
  isClosed = false;
  /** Everything done with it so far, for who waits until nothing happens any more. */
  moves = 0;
  #events: SocketEvents;
  #incoming: Uint8Array[] = [];
  #end: "open" | "ended" | Error = "open";
  #wakeReader: (() => void) | undefined = undefined;
  #holding: (() => void)[] | undefined = undefined;

  constructor(events: SocketEvents) {
    this.#events = events;
  }

  async read(into: Uint8Array): Promise<number | null> {
    this.moves++;
    while (this.#incoming.length === 0) {
      if (this.isClosed) throw new Deno.errors.Interrupted("operation canceled");
      if (this.#end === "ended") return null;
      if (this.#end instanceof Error) throw this.#end;
      await new Promise<void>((resolve) => this.#wakeReader = resolve);
      this.moves++;
    }
    const whole = concat(...this.#incoming);
    const count = Math.min(whole.length, into.length);
    into.set(whole.subarray(0, count));
    this.#incoming = count < whole.length ? [whole.subarray(count)] : [];
    return count;
  }

  async write(bytes: Uint8Array): Promise<number> {
    this.moves++;
    if (this.#holding !== undefined) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#holding.push(resolve);
      await promise;
      this.moves++;
    }
    if (this.isClosed) throw new Deno.errors.BadResource("Bad resource ID");
    this.#events.written(bytes.slice());
    return bytes.length;
  }

  close(): void {
    if (this.isClosed) throw new Deno.errors.BadResource("Bad resource ID");
    this.isClosed = true;
    this.moves++;
    this.release();
    this.#wake();
    this.#events.closed();
  }

  // ---- the test's end

  /** The peer sends these bytes; together with others that are not read yet they come in one read. */
  sends(bytes: Uint8Array): void {
    if (this.isClosed || this.#end !== "open") return;
    if (bytes.length > 0) this.#incoming.push(bytes);
    this.#wake();
  }

  /** The peer closes its end in order, or, for a reason, not so. */
  ends(why?: Error): void {
    if (this.#end === "open") this.#end = why ?? "ended";
    this.#wake();
  }

  /** The peer stops to read: writes wait. */
  hold(): void {
    this.#holding ??= [];
  }

  /** It reads again. */
  release(): void {
    const waiting = this.#holding ?? [];
    this.#holding = undefined;
    for (const resolve of waiting) resolve();
  }

  #wake(): void {
    this.#wakeReader?.();
    this.#wakeReader = undefined;
  }
}
