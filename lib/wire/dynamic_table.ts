import type { Field } from "./field.ts";

/** Slots of a table at first: most peers put little into one. */
const FIRST_SLOTS = 16;

/**
 * The entries of one dynamic table (RFC 7541 §2.3.2) as a ring, since every call may put new ones in and push old
 * ones out. How large it may get is for its owner to say, who drops what is too much.
 */
export class DynamicTable {
  /** Sizes of the entries, added up. */
  bytes = 0;
  length = 0;
  /** The slots of the ring, a power of two of them. */
  #ring: (Field | undefined)[] = [];
  /** Slot of the ring where the next entry goes. */
  #next = 0;

  /** The entry at `index`, counted from 1, the newest; undefined when there is none. */
  get(index: number): Field | undefined {
    if (index < 1 || index > this.length) return undefined;
    return this.#ring[(this.#next - index) & (this.#ring.length - 1)];
  }

  push(field: Field): void {
    if (this.length === this.#ring.length) this.#grow();
    this.#ring[this.#next] = field;
    this.#next = (this.#next + 1) & (this.#ring.length - 1);
    this.length++;
    this.bytes += field.size;
  }

  /** Takes out the oldest entry; there must be one. */
  drop(): Field {
    const slot = (this.#next - this.length) & (this.#ring.length - 1);
    const field = this.#ring[slot]!;
    this.#ring[slot] = undefined;
    this.length--;
    this.bytes -= field.size;
    return field;
  }

  #grow(): void {
    const grown: (Field | undefined)[] = new Array(this.length * 2 || FIRST_SLOTS).fill(undefined);
    for (let i = 0; i < this.length; i++) grown[i] = this.get(this.length - i);
    this.#ring = grown;
    this.#next = this.length;
  }
}
