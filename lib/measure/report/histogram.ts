/** Shortest time told apart, in ms: a hundredth of what the fastest call over loopback takes. */
const TICK_MS = 0.000_25;

/** Steps to each power of two: a value is known to half a step, which is less than 0.4 % of it. */
const STEPS_LOG2 = 7;
const STEPS = 2 ** STEPS_LOG2;

/** Ticks are kept in 32 bits: 17 minutes, and longer than any call that is measured. */
const MAX_TICKS = 2 ** 32 - 1;
const BUCKETS = (32 - STEPS_LOG2 + 1) * STEPS;

/**
 * Latencies in buckets that grow with the value (log-linear), so that a million of them take as much room as one and
 * every percentile is right to within 1 % (below 32 µs to within a tick). The extremes and the sum are exact.
 */
export class Histogram {
  count = 0;
  minMs = Infinity;
  maxMs = 0;
  sumMs = 0;
  #counts = new Uint32Array(BUCKETS);

  /** Adds a latency; one below zero, as a clock may make it, counts as zero. */
  record(ms: number): void {
    const value = ms > 0 ? ms : 0;
    this.count++;
    this.sumMs += value;
    if (value < this.minMs) this.minMs = value;
    if (value > this.maxMs) this.maxMs = value;
    this.#counts[bucketOf(value)]!++;
  }

  /** Adds all that another histogram recorded. */
  merge(other: Histogram): void {
    this.count += other.count;
    this.sumMs += other.sumMs;
    this.minMs = Math.min(this.minMs, other.minMs);
    this.maxMs = Math.max(this.maxMs, other.maxMs);
    for (let i = 0; i < BUCKETS; i++) this.#counts[i]! += other.#counts[i]!;
  }

  get meanMs(): number {
    return this.count === 0 ? 0 : this.sumMs / this.count;
  }

  /** The value that `percent` of all are not above, in ms; 0 while there are none. */
  percentile(percent: number): number {
    if (this.count === 0) return 0;
    const rank = Math.max(1, Math.ceil(this.count * percent / 100));
    if (rank >= this.count) return this.maxMs;
    let seen = 0;
    for (let i = 0; i < BUCKETS; i++) {
      const count = this.#counts[i]!;
      if (seen + count >= rank) {
        // As if the values of a bucket lay evenly in it: differences of percentiles are finer than buckets then.
        const value = startOf(i) + (startOf(i + 1) - startOf(i)) * (rank - seen - 0.5) / count;
        return Math.min(Math.max(value, this.minMs), this.maxMs);
      }
      seen += count;
    }
    return this.maxMs;
  }

  /** Latencies above `fromMs` and not above `toMs`, to the precision of the buckets. */
  countBetween(fromMs: number, toMs: number): number {
    let count = 0;
    for (let i = 0; i < BUCKETS; i++) {
      const middle = middleOf(i);
      if (middle > fromMs && middle <= toMs) count += this.#counts[i]!;
    }
    return count;
  }
}

function bucketOf(ms: number): number {
  const ticks = Math.min(MAX_TICKS, Math.floor(ms / TICK_MS));
  if (ticks < STEPS) return ticks;
  const shift = 32 - STEPS_LOG2 - 1 - Math.clz32(ticks);
  return (shift + 1) * STEPS + ((ticks >>> shift) & (STEPS - 1));
}

/** The middle of a bucket, in ms. */
function middleOf(bucket: number): number {
  return (startOf(bucket) + startOf(bucket + 1)) / 2;
}

/** The least value of a bucket, in ms. */
function startOf(bucket: number): number {
  if (bucket < STEPS) return bucket * TICK_MS;
  const shift = Math.floor(bucket / STEPS) - 1;
  return (STEPS + bucket % STEPS) * 2 ** shift * TICK_MS;
}
