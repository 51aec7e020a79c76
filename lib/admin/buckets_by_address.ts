import { type Allowance, TokenBucket } from "../connection/mod.ts";

/** Addresses told apart; whoever comes after that shares one bucket with all the others. */
const MAX_ADDRESSES = 256;
const OTHERS = "others";

/** A bucket for each address, so that one cannot shut out the others; their number is bounded. */
export class BucketsByAddress {
  readonly #buckets = new Map<string, TokenBucket>();
  readonly #allowance: Allowance;

  constructor(allowance: Allowance) {
    this.#allowance = allowance;
  }

  of(address: string): TokenBucket {
    const isFull = this.#buckets.size >= MAX_ADDRESSES;
    const name = this.#buckets.has(address) || !isFull ? address : OTHERS;
    const known = this.#buckets.get(name);
    if (known !== undefined) return known;
    const made = new TokenBucket(this.#allowance);
    this.#buckets.set(name, made);
    return made;
  }
}
