import { equalBytes } from "./bytes.ts";

/** Names remembered at once; one that comes to the same place as another takes it. */
const SLOTS = 256;

/** A longer name is made a string each time: no name in wide use is as long. */
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
  #slots: (Remembered<Known> | undefined)[] = new Array(SLOTS).fill(undefined);

  /** `coded` tells a name in Huffman code from the same bytes in plain. */
  get(bytes: Uint8Array, from: number, to: number, coded: boolean): Known | undefined {
    const met = this.#slots[slotOf(bytes, from, to)];
    if (
      met === undefined || met.coded !== coded || met.bytes.length !== to - from ||
      !equalBytes(met.bytes, 0, bytes, from, to - from)
    ) return undefined;
    return met.known;
  }

  set(spelling: Uint8Array, coded: boolean, known: Known): void {
    if (spelling.length > MAX_NAME_BYTES) return;
    this.#slots[slotOf(spelling, 0, spelling.length)] = { bytes: spelling, coded, known };
  }

  clear(): void {
    this.#slots.fill(undefined);
  }
}

/** Names differ at their ends and in length, rarely in the middle alone. */
function slotOf(bytes: Uint8Array, from: number, to: number): number {
  if (to - from < 3) return to - from;
  const ends = bytes[from]! ^ (bytes[from + 2]! << 2) ^ (bytes[to - 1]! << 4) ^ (bytes[to - 3]! << 1);
  return (ends ^ ((to - from) * 11)) & (SLOTS - 1);
}
