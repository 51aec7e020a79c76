import { assertEquals } from "@std/assert";
import type { Socket } from "../../lib/transport/mod.ts";
import { concat } from "./frames.ts";

/** What one end of a connection in memory tells the test about the other. */
export interface SocketEvents {
  /** Bytes were written, and are the test's to keep. */
  written(bytes: Uint8Array): void;
  /** It was closed by the code under test. */
  closed(): void;
}

interface PendingWrite {
  readonly bytes: Uint8Array;
  /** What they were when they were given to us. */
  readonly before: Uint8Array;
  /** They can only change where it waits. */
  readonly isHeld: boolean;
  readonly done: (count: number) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * A socket whose other end is the test. Nothing moves but by promises, so a test can wait until all is quiet.
 *
 * Its end is as that of Deno's sockets: what is under way is interrupted by `close`, anything later is a bad resource.
 * It is stricter where a proxy's mistakes would go unseen: a second read or write under way fails the test, and so do
 * bytes that change while they are written.
 */
export class MemorySocket implements Socket {
  /** Room that each read had. */
  readonly readSizes: number[] = [];
  /** Bytes that each write offered. */
  readonly writeSizes: number[] = [];
  /** Everything done with it so far, for who waits until nothing happens any more. */
  moves = 0;
  /** Calls of `close`; there should be one. */
  closes = 0;
  /** It was closed while a write waited: what the peer had not taken by then never comes. */
  wasCut = false;
  #events: Partial<SocketEvents>;
  #incoming: Uint8Array[] = [];
  #end: "open" | "ended" | { readonly why: unknown } = "open";
  #written: Uint8Array[] = [];
  #holds = false;
  #wakeReader: (() => void) | undefined = undefined;
  #write: PendingWrite | undefined = undefined;

  constructor(events: Partial<SocketEvents> = {}) {
    this.#events = events;
  }

  get isClosed(): boolean {
    return this.closes > 0;
  }

  /** A read waits for what the peer sends. */
  get isReading(): boolean {
    return this.#wakeReader !== undefined;
  }

  /** A write waits for {@linkcode accept}. */
  get isWriting(): boolean {
    return this.#write !== undefined;
  }

  /** Bytes that were sent and not read yet. */
  get unread(): number {
    return this.#incoming.reduce((sum, piece) => sum + piece.length, 0);
  }

  // ---- the socket

  async read(into: Uint8Array): Promise<number | null> {
    if (this.isReading) throw new Error("Cannot read: a read is under way");
    if (this.isClosed) throw badResource();
    this.moves++;
    this.readSizes.push(into.length);
    while (this.#incoming.length === 0) {
      if (this.#end === "ended") return null;
      if (this.#end !== "open") throw this.#end.why;
      await new Promise<void>((resolve) => this.#wakeReader = resolve);
      this.moves++;
      if (this.isClosed) throw interrupted();
    }
    const whole = concat(...this.#incoming);
    const count = Math.min(whole.length, into.length);
    into.set(whole.subarray(0, count));
    this.#incoming = count < whole.length ? [whole.subarray(count)] : [];
    return count;
  }

  write(bytes: Uint8Array): Promise<number> {
    if (this.#write !== undefined) throw new Error("Cannot write: a write is under way");
    if (this.isClosed) return Promise.reject(badResource());
    this.moves++;
    this.writeSizes.push(bytes.length);
    return new Promise((done, fail) => {
      this.#write = { bytes, before: bytes.slice(), isHeld: this.#holds, done, fail };
      if (!this.#holds) this.accept();
    });
  }

  close(): void {
    this.closes++;
    if (this.closes > 1) throw badResource();
    this.moves++;
    this.wasCut = this.isWriting;
    this.failWrite(interrupted());
    this.#wake();
    this.#events.closed?.();
  }

  // ---- the test's end

  /** The peer sends these bytes; together with others that are not read yet they come in one read. */
  sends(...pieces: Uint8Array[]): void {
    if (this.isClosed || this.#end !== "open") return;
    this.#incoming.push(...pieces.filter(({ length }) => length > 0));
    this.#wake();
  }

  /** The peer closes its end in order, or, for a reason, not so: once all is read, the read fails with it. */
  ends(why?: unknown): void {
    if (this.#end === "open") this.#end = why === undefined ? "ended" : { why };
    this.#wake();
  }

  /** The peer stops to read: writes wait. */
  hold(): void {
    this.#holds = true;
  }

  /** The peer reads again. */
  release(): void {
    this.#holds = false;
    if (this.isWriting) this.accept();
  }

  /** The peer takes the first `count` bytes of the write that waits, or all, and goes on as before. */
  accept(count: number = this.#write?.bytes.length ?? 0): void {
    const write = this.#write;
    if (write === undefined) throw new Error("Cannot accept a write: none is under way");
    this.#write = undefined;
    this.moves++;
    const { bytes, before, isHeld } = write;
    if (isHeld) assertEquals(bytes, before, "the bytes changed while they were written");
    const taken = before.subarray(0, count);
    if (this.#events.written === undefined) this.#written.push(taken);
    else this.#events.written(taken);
    write.done(count);
  }

  /** The write that waits, if there is one, fails. */
  failWrite(error: unknown): void {
    this.#write?.fail(error);
    this.#write = undefined;
  }

  /** What was written since it was asked last, where no event told of it. */
  takeWritten(): Uint8Array {
    const written = concat(...this.#written);
    this.#written = [];
    return written;
  }

  #wake(): void {
    this.#wakeReader?.();
    this.#wakeReader = undefined;
  }
}

function badResource(): Error {
  return new Deno.errors.BadResource("Bad resource ID");
}

function interrupted(): Error {
  return new Deno.errors.Interrupted("operation canceled");
}
