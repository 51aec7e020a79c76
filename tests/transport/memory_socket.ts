import { assertEquals } from "@std/assert";
import type { Socket } from "../../lib/transport/mod.ts";
import { concat } from "../support/frames.ts";

interface PendingRead {
  readonly into: Uint8Array;
  readonly done: (count: number | null) => void;
  readonly fail: (error: unknown) => void;
}

interface PendingWrite {
  readonly bytes: Uint8Array;
  /** What they were when they were given to us. */
  readonly before: Uint8Array;
  readonly done: (count: number) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * A socket whose peer is the test. It behaves as Deno's do at their end (a pending read is interrupted by `close`,
 * anything later is a bad resource), and is stricter where a proxy's mistakes would go unseen: a second write under
 * way fails the test, and so do bytes that change while they are written.
 */
export class MemorySocket implements Socket {
  /** Room that each read had. */
  readonly readSizes: number[] = [];
  /** Bytes that each write offered. */
  readonly writeSizes: number[] = [];
  closes = 0;
  /** Writes wait for {@linkcode accept}. */
  holdsWrites = false;
  #input: Uint8Array[] = [];
  #inputEnd: { error: unknown } | "end" | undefined;
  #written: Uint8Array[] = [];
  #read: PendingRead | undefined;
  #write: PendingWrite | undefined;

  // ---- the peer's side

  /** The peer sends. */
  feed(...pieces: Uint8Array[]): void {
    this.#input.push(...pieces.filter((piece) => piece.length > 0));
    this.#serveRead();
  }

  /** The peer sends nothing more. */
  end(): void {
    this.#inputEnd = "end";
    this.#serveRead();
  }

  /** What was fed is read, and then the read fails. */
  failRead(error: unknown): void {
    this.#inputEnd = { error };
    this.#serveRead();
  }

  /** Bytes that were fed and not read yet. */
  get unread(): number {
    return this.#input.reduce((sum, piece) => sum + piece.length, 0);
  }

  get isReading(): boolean {
    return this.#read !== undefined;
  }

  get isWriting(): boolean {
    return this.#write !== undefined;
  }

  /** The system takes the first `count` bytes of the write that waits, or all. */
  accept(count = this.#write?.bytes.length ?? 0): void {
    const write = this.#write;
    if (write === undefined) throw new Error("Cannot accept a write: none is under way");
    this.#write = undefined;
    assertEquals(write.bytes, write.before, "the bytes changed while they were written");
    this.#written.push(write.before.subarray(0, count));
    write.done(count);
  }

  failWrite(error: unknown): void {
    this.#write?.fail(error);
    this.#write = undefined;
  }

  /** What was written since it was asked last. */
  takeWritten(): Uint8Array {
    const written = concat(...this.#written);
    this.#written = [];
    return written;
  }

  // ---- the socket

  read(into: Uint8Array): Promise<number | null> {
    if (this.closes > 0) return Promise.reject(new Deno.errors.BadResource("Bad resource ID"));
    if (this.#read !== undefined) throw new Error("Cannot read: a read is under way");
    this.readSizes.push(into.length);
    return new Promise((done, fail) => {
      this.#read = { into, done, fail };
      this.#serveRead();
    });
  }

  write(bytes: Uint8Array): Promise<number> {
    if (this.closes > 0) return Promise.reject(new Deno.errors.BadResource("Bad resource ID"));
    if (this.#write !== undefined) throw new Error("Cannot write: a write is under way");
    this.writeSizes.push(bytes.length);
    return new Promise((done, fail) => {
      this.#write = { bytes, before: bytes.slice(), done, fail };
      if (!this.holdsWrites) this.accept();
    });
  }

  close(): void {
    this.closes++;
    if (this.closes > 1) throw new Deno.errors.BadResource("Bad resource ID");
    const interrupted = new Deno.errors.Interrupted("operation canceled");
    this.#read?.fail(interrupted);
    this.#write?.fail(interrupted);
    this.#read = this.#write = undefined;
  }

  #serveRead(): void {
    const read = this.#read;
    if (read === undefined) return;
    const first = this.#input[0];
    if (first !== undefined) {
      const taken = first.subarray(0, read.into.length);
      read.into.set(taken);
      if (taken.length === first.length) this.#input.shift();
      else this.#input[0] = first.subarray(taken.length);
      this.#read = undefined;
      read.done(taken.length);
    } else if (this.#inputEnd !== undefined) {
      this.#read = undefined;
      if (this.#inputEnd === "end") read.done(null);
      else read.fail(this.#inputEnd.error);
    }
  }
}
