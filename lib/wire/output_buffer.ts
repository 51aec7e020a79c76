import { copyBytes } from "./bytes.ts";

/** First allocation; most connections never write more than this in one turn. */
const FIRST_BYTES = 1_024;

/** A buffer keeps storage up to this size between turns; an idle connection has two of them at most. */
const OWN_BYTES = 4_096;

const NOTHING = new Uint8Array(0);

/** Storage above {@linkcode OWN_BYTES} is borrowed for the turn, in the first of these sizes that is enough. */
const POOLS: readonly Pool[] = [
  // For what 100 small replies come to, on each of many connections.
  { bytes: 16_384, maxSpare: 128, spare: [] },
  { bytes: 524_288, maxSpare: 16, spare: [] },
];

/** Storage of one size, and how much of it is kept for the next turn: for those that write at the same time. */
interface Pool {
  readonly bytes: number;
  readonly maxSpare: number;
  readonly spare: Uint8Array[];
}

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
    giveBack(this.bytes);
    this.bytes = this.#own;
  }

  #grow(length: number): void {
    const before = this.bytes;
    const grown = storage(Math.max(length, FIRST_BYTES, 2 * before.length));
    grown.set(before.subarray(0, this.length));
    this.bytes = grown;
    if (grown.length <= OWN_BYTES) this.#own = grown;
    else giveBack(before);
  }
}

function storage(size: number): Uint8Array {
  const pool = size <= OWN_BYTES ? undefined : POOLS.find(({ bytes }) => size <= bytes);
  return pool?.spare.pop() ?? new Uint8Array(pool?.bytes ?? size);
}

function giveBack(storage: Uint8Array): void {
  const pool = POOLS.find(({ bytes }) => bytes === storage.length);
  if (pool !== undefined && pool.spare.length < pool.maxSpare) pool.spare.push(storage);
}
