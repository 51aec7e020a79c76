import type { Stream } from "./stream.ts";

/** Slots at first; a connection with one call at a time needs no more. */
const FIRST_SLOTS = 16;

/** Slots at most; what collides beyond that is kept in a Map. */
const MAX_SLOTS = 4_096;

/** Slots that stay when no stream is open: an idle connection should not keep 32 KiB for what it once had. */
const IDLE_SLOTS = 256;

/**
 * The open streams by id. Ids of one side are consecutive odd (or even) numbers and most streams are short, so the id
 * itself is the place: a load and a compare where a Map hashes. There is a second reason. A Map whose entries come
 * and go is rebuilt now and then, and each dead table refers to its successor and to the streams of its time; once
 * one of them is old, V8's young collector keeps the whole chain alive, which took a quarter of all CPU.
 */
export class StreamTable<Owner> {
  size = 0;
  #slots: (Stream<Owner> | undefined)[] = new Array(FIRST_SLOTS).fill(undefined);
  /** Streams whose slot was taken by a longer-lived one when they came. */
  #collided: Map<number, Stream<Owner>> | undefined = undefined;

  get(id: number): Stream<Owner> | undefined {
    const stream = this.#slots[(id >>> 1) & (this.#slots.length - 1)];
    if (stream !== undefined && stream.id === id) return stream;
    return this.#collided?.get(id);
  }

  add(stream: Stream<Owner>): void {
    this.size++;
    for (;;) {
      const slot = (stream.id >>> 1) & (this.#slots.length - 1);
      if (this.#slots[slot] === undefined) {
        this.#slots[slot] = stream;
        return;
      }
      if (this.#slots.length >= MAX_SLOTS || this.size * 4 < this.#slots.length) break;
      this.#grow();
    }
    this.#collided ??= new Map();
    this.#collided.set(stream.id, stream);
  }

  delete(id: number): void {
    const slot = (id >>> 1) & (this.#slots.length - 1);
    if (this.#slots[slot]?.id === id) {
      this.#slots[slot] = undefined;
      this.size--;
    } else if (this.#collided?.delete(id)) {
      this.size--;
    }
    if (this.size === 0 && this.#slots.length > IDLE_SLOTS) {
      this.#slots = new Array(IDLE_SLOTS).fill(undefined);
      this.#collided = undefined;
    }
  }

  *values(): Generator<Stream<Owner>> {
    for (const stream of this.#slots) if (stream !== undefined) yield stream;
    if (this.#collided !== undefined) yield* this.#collided.values();
  }

  /** Doubles the table, in which the streams that stand in slots have different places. */
  #grow(): void {
    const grown: (Stream<Owner> | undefined)[] = new Array(this.#slots.length * 2).fill(undefined);
    for (const stream of this.#slots) {
      if (stream !== undefined) grown[(stream.id >>> 1) & (grown.length - 1)] = stream;
    }
    this.#slots = grown;
  }
}
