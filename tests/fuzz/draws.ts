import { rng } from "../support/cuts.ts";

/** Notes of one case that are kept: the story of a shrunk case is far shorter. */
const MAX_NOTES = 400;
const MAX_NOTE_LENGTH = 400;

/**
 * All chance of one case. It can be played again from its seed, or from the numbers that were drawn, some of them left
 * out: that is how a case is made smaller. What is drawn past the end of a list is 0, which must always mean the
 * dullest choice: `chance` says no, `below` gives 0, `pick` takes the first.
 */
export class Draws {
  /** The numbers drawn so far. */
  readonly drawn: number[] = [];
  /** What the case did, in words. */
  readonly notes: string[] = [];
  #next: () => number;

  constructor(source: number | readonly number[]) {
    if (typeof source === "number") this.#next = seeded(source);
    else {
      let at = 0;
      this.#next = () => source[at++] ?? 0;
    }
  }

  /** At least 0, below 1. */
  next(): number {
    const value = this.#next();
    this.drawn.push(value);
    return value;
  }

  /** A whole number from 0 up to and not including `limit`. */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  /** A whole number, both ends included. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  /** True in `share` of all cases. */
  chance(share: number): boolean {
    return this.next() >= 1 - share;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }

  /** One of the items by its weight. */
  weighted<T>(items: readonly (readonly [weight: number, item: T])[]): T {
    let at = this.next() * items.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, item] of items) if ((at -= weight) < 0) return item;
    return items.at(-1)![1];
  }

  /** Small numbers often, those near `limit` seldom. */
  small(limit: number): number {
    return Math.floor(this.next() ** 4 * limit);
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.below(256));
  }

  /** The bytes cut into pieces, once in a while an empty one. */
  cuts(bytes: Uint8Array, longest: number): Uint8Array[] {
    const pieces: Uint8Array[] = [];
    for (let at = 0; at < bytes.length;) {
      const length = bytes.length - at > 64 * longest ? bytes.length - at : this.below(longest + 1);
      pieces.push(bytes.subarray(at, at + (length || 1)));
      if (length === 0) pieces.push(new Uint8Array(0));
      at += length || 1;
    }
    return pieces;
  }

  /** Remembers what is done, for the report of a finding. */
  note(text: string): void {
    if (this.notes.length < MAX_NOTES) this.notes.push(text.slice(0, MAX_NOTE_LENGTH));
  }
}

/** The first numbers of neighbouring seeds are not independent enough: they are left out. */
function seeded(seed: number): () => number {
  const random = rng(seed);
  for (let i = 0; i < 8; i++) random();
  return random;
}
