/** Addresses told apart; whoever comes after that shares one allowance with all the others. */
const MAX_ADDRESSES = 256;
const OTHERS = "others";

export interface Allowance {
  readonly perSecond: number;
  /** Tokens at once, after a time of quiet. */
  readonly burst: number;
}

/** Tokens that come so many a second, with some in advance. */
export class TokenBucket {
  readonly #allowance: Allowance;
  readonly #now: () => number;
  #tokens: number;
  #asOfMs: number;

  /** `now` gives milliseconds from any beginning. */
  constructor(allowance: Allowance, now: () => number = () => performance.now()) {
    this.#allowance = allowance;
    this.#now = now;
    this.#tokens = allowance.burst;
    this.#asOfMs = now();
  }

  /** Whether there is a token, which stays. */
  get has(): boolean {
    this.#fill();
    return this.#tokens >= 1;
  }

  /** Takes a token, if there is one. */
  take(): boolean {
    if (!this.has) return false;
    this.#tokens--;
    return true;
  }

  /** Seconds until there is a token. */
  get waitS(): number {
    this.#fill();
    return Math.max(0, (1 - this.#tokens) / this.#allowance.perSecond);
  }

  #fill(): void {
    const nowMs = this.#now();
    const { perSecond, burst } = this.#allowance;
    this.#tokens = Math.min(burst, this.#tokens + (nowMs - this.#asOfMs) / 1_000 * perSecond);
    this.#asOfMs = nowMs;
  }
}

/** A bucket for each address, so that one cannot shut out the others; their number is bounded. */
export class BucketsByAddress {
  readonly #buckets = new Map<string, TokenBucket>();
  readonly #allowance: Allowance;
  readonly #now: (() => number) | undefined;

  constructor(allowance: Allowance, now?: () => number) {
    this.#allowance = allowance;
    this.#now = now;
  }

  of(address: string): TokenBucket {
    const isFull = this.#buckets.size >= MAX_ADDRESSES;
    const name = this.#buckets.has(address) || !isFull ? address : OTHERS;
    const known = this.#buckets.get(name);
    if (known !== undefined) return known;
    const made = new TokenBucket(this.#allowance, this.#now);
    this.#buckets.set(name, made);
    return made;
  }
}
