import type { KeyCodec } from "./key.ts";

/** Keys remembered; a power of two, so that a mask finds the slot. */
const SLOTS = 1_024;

/** Longest key remembered; comparing a longer one costs what it saves. */
const MAX_BYTES = 256;

/** Bytes that choose the slot: the last ones, where requests for different things differ most often. */
const HASHED_BYTES = 16;

/**
 * The keys made last, found again by their bytes. A question that is asked often then needs no new string, and the same
 * string has its hash at hand: making and hashing one took a sixth of the time of a hit. A slot that is taken by
 * another key costs time and nothing else.
 */
export class RecentKeys {
  #slots: string[] = new Array(SLOTS).fill("");
  #latin1: (bytes: Uint8Array, from: number, to: number) => string;

  constructor(latin1: (bytes: Uint8Array, from: number, to: number) => string) {
    this.#latin1 = latin1;
  }

  /** `bytes[from, to)` with one character for each byte. */
  text(bytes: Uint8Array, from: number, to: number): string {
    const length = to - from;
    if (length > MAX_BYTES) return this.#latin1(bytes, from, to);
    let hash = length;
    for (let i = Math.max(from, to - HASHED_BYTES); i < to; i++) {
      hash = Math.imul(hash ^ bytes[i]!, 0x0100_0193); // FNV-1a's step
    }
    const slot = (hash ^ (hash >>> 15)) & (SLOTS - 1);
    const known = this.#slots[slot]!;
    if (known.length === length && isText(known, bytes, from)) return known;
    return this.#slots[slot] = this.#latin1(bytes, from, to);
  }
}

function isText(text: string, bytes: Uint8Array, from: number): boolean {
  for (let i = 0; i < text.length; i++) {
    if (text.charCodeAt(i) !== bytes[from + i]) return false;
  }
  return true;
}

/** The codec, by which keys that are asked for often are not made anew each time. */
export function withRecentKeys(codec: KeyCodec): KeyCodec {
  const recent = new RecentKeys(codec.latin1);
  return { ...codec, latin1: (bytes, from, to) => recent.text(bytes, from, to) };
}
