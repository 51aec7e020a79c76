import { copyBytes } from "./bytes.ts";

/** First allocation; most connections never write more than this in one turn. */
const FIRST_BYTES = 1_024;

/** A buffer keeps storage up to this size between turns; an idle connection has two of them at most. */
const OWN_BYTES = 16_384;

/** Storage above {@linkcode OWN_BYTES} is borrowed for the turn, in this size while that is enough. */
const POOLED_BYTES = 524_288;

/** Borrowed storage kept for the next turn: as many as connections that write much at the same time. */
const MAX_POOLED = 16;

const NOTHING = new Uint8Array(0);

const pool: Uint8Array[] = [];

/** A growing run of bytes that is written in one call and then used again. */
export class OutputBuffer {
  /** The storage; only the first {@linkcode length} bytes mean anything, and growing replaces it. */
  bytes: Uint8Array = NOTHING;
  length = 0;
  #own: Uint8Array = NOTHING;

  /** Makes room for `count` more bytes and returns where they begin. */
  extend(count: number): number {
    const at = this.length;
    const length = at + count;
    if (length > this.bytes.length) this.#grow(length);
    this.length = length;
    return at;
  }

  /** Appends one byte. */
  byte(value: number): void {
    const at = this.extend(1); // may replace the storage, so before it is named
    this.bytes[at] = value;
  }

  /** Appends `source[from, to)`. */
  append(source: Uint8Array, from: number, to: number): void {
    const at = this.extend(to - from);
    copyBytes(source, from, to, this.bytes, at);
  }

  /** Empties the buffer, and gives back what was borrowed. */
  clear(): void {
    this.length = 0;
    if (this.bytes.length <= OWN_BYTES) return;
    if (this.bytes.length === POOLED_BYTES && pool.length < MAX_POOLED) pool.push(this.bytes);
    this.bytes = this.#own;
  }

  #grow(length: number): void {
    const before = this.bytes;
    const grown = storage(Math.max(length, FIRST_BYTES, 2 * before.length));
    grown.set(before.subarray(0, this.length));
    this.bytes = grown;
    if (grown.length <= OWN_BYTES) this.#own = grown;
    else if (before.length === POOLED_BYTES && pool.length < MAX_POOLED) pool.push(before);
  }
}

function storage(size: number): Uint8Array {
  if (size <= OWN_BYTES || size > POOLED_BYTES) return new Uint8Array(size);
  return pool.pop() ?? new Uint8Array(POOLED_BYTES);
}
