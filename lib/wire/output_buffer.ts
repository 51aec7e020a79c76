import { copyBytes } from "./bytes.ts";

/** First allocation; most connections never write more than this in one turn. */
const FIRST_BYTES = 1_024;

/** A buffer that outgrew this in a burst is let go once it is empty, so that idle connections stay small. */
const KEEP_BYTES = 65_536;

const NOTHING = new Uint8Array(0);

/** A growing run of bytes that is written in one call and then used again. */
export class OutputBuffer {
  /** The storage; only the first {@linkcode length} bytes mean anything, and growing replaces it. */
  bytes: Uint8Array = NOTHING;
  length = 0;

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
    const at = this.extend(to - from); // may replace the storage, so before it is named
    copyBytes(source, from, to, this.bytes, at);
  }

  /** Empties it, and gives back what a burst made it hold. */
  clear(): void {
    this.length = 0;
    if (this.bytes.length > KEEP_BYTES) this.bytes = NOTHING;
  }

  #grow(length: number): void {
    const grown = new Uint8Array(Math.max(length, FIRST_BYTES, 2 * this.bytes.length));
    grown.set(this.bytes);
    this.bytes = grown;
  }
}
