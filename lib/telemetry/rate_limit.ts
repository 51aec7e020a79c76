import { type Allowance, TokenBucket } from "../connection/mod.ts";

/** One line a second shows that something goes on, and leaves the rest of the log readable. */
const ONE_A_SECOND: Allowance = { burst: 1, perSecond: 1 };

/** Kinds told apart at a time: few of ours, and two for each backend. Past it they share one bucket. */
const MAX_KINDS = 200;
const OTHER_KIND = "other";

interface Kind {
  readonly bucket: TokenBucket;
  leftOut: number;
}

/**
 * Lets one of a kind through each second and counts the others. The count comes with the next one that is let
 * through; what ends a burst is told by nobody but the metrics.
 */
export class RateLimit {
  readonly #now: () => number;
  readonly #kinds = new Map<string, Kind>();

  /** `now` gives milliseconds from any beginning. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** How many of this kind were left out since the last that was not; undefined when this one is left out too. */
  admit(kind: string): number | undefined {
    const nowMs = this.#now();
    const known = this.#kind(kind, nowMs);
    if (!known.bucket.take(1, nowMs)) {
      known.leftOut++;
      return undefined;
    }
    const { leftOut } = known;
    known.leftOut = 0;
    return leftOut;
  }

  #kind(kind: string, nowMs: number): Kind {
    const own = this.#kinds.get(kind);
    if (own !== undefined) return own;
    if (this.#kinds.size >= MAX_KINDS) this.#forget(nowMs);
    const label = this.#kinds.size < MAX_KINDS ? kind : OTHER_KIND;
    let known = this.#kinds.get(label);
    if (known === undefined) {
      this.#kinds.set(label, known = { bucket: new TokenBucket(ONE_A_SECOND), leftOut: 0 });
    }
    return known;
  }

  /** Forgets kinds that have nothing left to tell and may be told at once: backends come and go under new names. */
  #forget(nowMs: number): void {
    for (const [kind, { bucket, leftOut }] of this.#kinds) {
      if (leftOut === 0 && bucket.waitMs(1, nowMs) === 0) this.#kinds.delete(kind);
    }
  }
}
