/** Hashes kept as they are: so few are counted exactly, since a person who tries three keys wants to read 3. */
const EXACT_HASHES = 32;

/** Bits of a hash that choose a register. With 512 registers the count is out by some 5 % (1.04 / √512). */
const REGISTER_BITS = 9;
const REGISTERS = 1 << REGISTER_BITS;

/** Bias correction for so many registers (Flajolet et al., HyperLogLog, 2007, figure 3). */
const ALPHA = 0.7213 / (1 + 1.079 / REGISTERS);

/**
 * How many different keys there were, in 512 bytes whatever the number: HyperLogLog, exact up to 32. Hashes are of
 * 32 evenly distributed bits.
 */
export class KeySketch {
  #exact: Set<number> | undefined = new Set();
  #registers: Uint8Array | undefined;

  add(hash: number): void {
    if (this.#exact !== undefined) {
      this.#exact.add(hash >>> 0);
      if (this.#exact.size > EXACT_HASHES) this.#spill();
      return;
    }
    this.#raise(hash);
  }

  /** Adds all keys of another sketch; a key that both have counts once. */
  merge(other: KeySketch): void {
    for (const hash of other.#exact ?? []) this.add(hash);
    if (other.#registers === undefined) return;
    this.#spill();
    const registers = this.#registers!;
    for (const [i, rank] of other.#registers.entries()) {
      if (rank > registers[i]!) registers[i] = rank;
    }
  }

  /** Estimate of the number of different keys, a whole number. */
  get size(): number {
    if (this.#exact !== undefined) return this.#exact.size;
    let sum = 0;
    let empty = 0;
    for (const rank of this.#registers!) {
      sum += 2 ** -rank;
      if (rank === 0) empty++;
    }
    const raw = ALPHA * REGISTERS * REGISTERS / sum;
    // Few keys leave registers empty, and their number tells more than the ranks do (§4 there).
    const isFew = raw <= 2.5 * REGISTERS && empty > 0;
    return Math.round(isFew ? REGISTERS * Math.log(REGISTERS / empty) : raw);
  }

  #spill(): void {
    const exact = this.#exact;
    if (exact === undefined) return;
    this.#exact = undefined;
    this.#registers = new Uint8Array(REGISTERS);
    for (const hash of exact) this.#raise(hash);
  }

  #raise(hash: number): void {
    const registers = this.#registers!;
    const index = hash >>> (32 - REGISTER_BITS);
    // One more than the zeros in front of the bits that chose no register; a mark ends them.
    const rank = Math.clz32(hash << REGISTER_BITS | 1 << (REGISTER_BITS - 1)) + 1;
    if (rank > registers[index]!) registers[index] = rank;
  }
}
