import type { RawConn } from "../../lib/transport/conn_stream.ts";

/** A connection whose other end is the test: what is read comes from it, what is written waits for it. */
export class FakeConn implements RawConn {
  /** Room that each read had. */
  readonly rooms: number[] = [];
  readonly written: Uint8Array[] = [];
  closes = 0;
  halfCloses = 0;
  /** Most that a write takes. */
  takes = Infinity;
  /** Writes wait until it is resolved, and fail when it is rejected. */
  gate: Promise<void> = Promise.resolve();
  /** What a read that waits had found already when it was closed. */
  last: Uint8Array | undefined;
  #read: PromiseWithResolvers<number | null> | undefined;
  #into: Uint8Array = new Uint8Array(0);

  read(into: Uint8Array): Promise<number | null> {
    if (this.#read !== undefined) throw new Error("Cannot read twice at once");
    this.rooms.push(into.length);
    this.#into = into;
    this.#read = Promise.withResolvers();
    return this.#read.promise;
  }

  async write(bytes: Uint8Array): Promise<number> {
    const part = Uint8Array.from(bytes.subarray(0, this.takes)); // no Buffer
    await this.gate;
    this.written.push(part);
    return part.length;
  }

  closeWrite(): Promise<void> {
    this.halfCloses++;
    return Promise.resolve();
  }

  close(): void {
    this.closes++;
    if (this.closes > 1) throw new Deno.errors.BadResource("Bad resource ID");
    if (this.last !== undefined && this.isRead) this.sends(this.last);
    else this.#take()?.reject(new Deno.errors.Interrupted("operation canceled"));
  }

  // ---- the test's end

  get isRead(): boolean {
    return this.#read !== undefined;
  }

  /** Answers the read that waits. */
  sends(bytes: Uint8Array): void {
    this.#into.set(bytes);
    this.#take()!.resolve(bytes.length);
  }

  ends(): void {
    this.#take()!.resolve(null);
  }

  fails(error: Error): void {
    this.#take()!.reject(error);
  }

  #take(): PromiseWithResolvers<number | null> | undefined {
    const read = this.#read;
    this.#read = undefined;
    return read;
  }
}
