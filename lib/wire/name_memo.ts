import { equalBytes } from "./bytes.ts";

/**
 * Bits of a name's slot. A name takes the place of another with the same slot, so there are many more than a backend
 * has names.
 */
const SLOT_BITS = 10;

/** Longest name remembered; a longer one is made a string each time, and no name in wide use is as long. */
const MAX_NAME_BYTES = 48;

interface Remembered<Known> {
  readonly bytes: Uint8Array;
  readonly coded: boolean;
  readonly known: Known;
}

/**
 * What is known of names by the bytes that spell them in a block. To compare them takes a fifth of what it takes to
 * make a string and hash it, and many a peer spells out the names of what differs from call to call.
 */
export class NameMemo<Known> {
  #slots: (Remembered<Known> | undefined)[] = new Array(1 << SLOT_BITS).fill(undefined);

  /**
   * What is known of the name that `bytes[from, to)` spell; `coded` tells one in Huffman code from the same bytes in
   * plain.
   */
  get(bytes: Uint8Array, from: number, to: number, coded: boolean): Known | undefined {
    const met = this.#slots[slotOf(bytes, from, to)];
    if (
      met === undefined || met.coded !== coded || met.bytes.length !== to - from ||
      !equalBytes(met.bytes, 0, bytes, from, to - from)
    ) return undefined;
    return met.known;
  }

  /** Remembers what is known of the name that `bytes[from, to)` spell. */
  set(bytes: Uint8Array, from: number, to: number, what: { coded: boolean; known: Known }): void {
    if (to - from > MAX_NAME_BYTES) return;
    this.#slots[slotOf(bytes, from, to)] = { bytes: bytes.slice(from, to), ...what };
  }

  clear(): void {
    this.#slots.fill(undefined);
  }
}

/**
 * The slot of a name: four bytes and the length tell apart most that are used together; Knuth's factor spreads them.
 */
function slotOf(bytes: Uint8Array, from: number, to: number): number {
  if (to - from < 4) return to - from;
  const picked = bytes[from + 2]! | (bytes[(from + to) >>> 1]! << 8) | (bytes[to - 4]! << 16) |
    (bytes[to - 1]! << 24);
  return Math.imul(picked + to - from, 0x9e3779b1) >>> (32 - SLOT_BITS);
}
