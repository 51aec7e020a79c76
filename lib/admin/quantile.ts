import { LATENCY_BUCKETS } from "../observe/mod.ts";

/**
 * Where a share of what was measured lies, in milliseconds, as far as the buckets tell: within one it is taken to be
 * spread evenly. `counts[i]` fell into bucket i alone. Undefined when nothing was measured.
 */
export function quantileMs(counts: ArrayLike<number>, share: number): number | undefined {
  let total = 0;
  for (let i = 0; i < counts.length; i++) total += counts[i]!;
  if (total === 0) return undefined;
  let before = 0;
  for (let i = 0; i < LATENCY_BUCKETS.length; i++) {
    const inside = counts[i]!;
    if (inside > 0 && before + inside >= total * share) {
      const low = i === 0 ? 0 : LATENCY_BUCKETS[i - 1]!;
      const high = LATENCY_BUCKETS[i]!;
      return 1_000 * (low + (high - low) * (total * share - before) / inside);
    }
    before += inside;
  }
  return 1_000 * LATENCY_BUCKETS.at(-1)!; // it took longer than any bucket
}
