/** Upper bounds in seconds: 0.1 ms, doubling (the original's buckets). */
export const LATENCY_BUCKETS: readonly number[] = Array.from(
  { length: 18 },
  (_, i) => 0.0001 * 2 ** i,
);

/** A histogram as plain numbers: `counts[i]` fell into bucket i (not into those below it), the last one into none. */
export class LatencyHistogram {
  readonly counts = new Float64Array(LATENCY_BUCKETS.length + 1);
  sumSeconds = 0;
  count = 0;

  observe(milliseconds: number): void {
    const tenths = milliseconds * 10; // in units of the first bound
    const bucket = tenths <= 1 ? 0 : Math.min(Math.ceil(Math.log2(tenths)), LATENCY_BUCKETS.length);
    this.counts[bucket]!++;
    this.sumSeconds += milliseconds / 1_000;
    this.count++;
  }

  /** Adds what `other` has counted. */
  take({ counts, sumSeconds, count }: LatencyHistogram): void {
    counts.forEach((value, bucket) => this.counts[bucket]! += value);
    this.sumSeconds += sumSeconds;
    this.count += count;
  }
}
