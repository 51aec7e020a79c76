import type { Stream } from "./stream.ts";

/** What there is room for on the connection now. */
export interface Room {
  /** No DATA can go out, whatever the stream: the connection's window or the output is full. */
  readonly isBlocked: boolean;
  /** The output is full. */
  readonly isFull: boolean;
}

/** The streams of one connection that have something to send and wait for room, first come first served. */
export class WaitingStreams<Owner> {
  /** For the connection's window, or for room in the output. */
  readonly #withData = new Set<Stream<Owner>>();
  /** For room in the output alone: no window holds a header block back. */
  readonly #withBlock = new Set<Stream<Owner>>();
  #areBlocksFirst = false;

  /** Nothing waits, which is so after almost every write. */
  get isEmpty(): boolean {
    return this.#withData.size === 0 && this.#withBlock.size === 0;
  }

  /** Lets the stream wait with DATA. */
  addData(stream: Stream<Owner>): void {
    stream.queued = true;
    this.#withData.add(stream);
  }

  /** Lets the stream wait with a header block. */
  addBlock(stream: Stream<Owner>): void {
    stream.queued = true;
    this.#withBlock.add(stream);
  }

  /** The stream waits no longer: it goes on, or is closed. */
  delete(stream: Stream<Owner>): void {
    stream.queued = false;
    this.#withData.delete(stream);
    this.#withBlock.delete(stream);
  }

  /**
   * Takes the streams out, one after the other while there is `room` for what they wait with; one that has to wait again
   * comes behind the others. DATA and header blocks come first by turns, so that neither starves.
   */
  *resumable(room: Room): Generator<Stream<Owner>> {
    this.#areBlocksFirst = !this.#areBlocksFirst;
    if (this.#areBlocksFirst) yield* this.#blocks(room);
    for (const stream of this.#withData) {
      if (room.isBlocked) break;
      this.delete(stream);
      yield stream;
    }
    if (!this.#areBlocksFirst) yield* this.#blocks(room);
  }

  *#blocks(room: Room): Generator<Stream<Owner>> {
    for (const stream of this.#withBlock) {
      if (room.isFull) return;
      this.delete(stream);
      yield stream;
    }
  }
}
