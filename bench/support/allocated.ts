import { getHeapStatistics } from "node:v8";

/** Enough for the optimising compiler to have had its say. */
const WARM_UP_CALLS = 20_000;

/** Reading the counter counts some 100 KB of its own, so that a loop must be long to make little of that. */
const LOOP_MS = 40;

/** The least of so many counts: what is more is not the call's own. */
const ROUNDS = 4;

/**
 * Bytes that one call of `call` allocates on the JavaScript heap, whether the collector has taken them back or not:
 * the growth of V8's `total_allocated_bytes` over a long warmed loop, less that over no loop at all. Good to a tenth
 * of a byte for a call of some nanoseconds, and to a few bytes for one of a microsecond.
 */
export function allocatedBytes(call: () => void): number {
  const calls = callsWithin(LOOP_MS, call);
  const own = leastGrowth(call, 0);
  return Math.max(0, leastGrowth(call, calls) - own) / calls;
}

function callsWithin(ms: number, call: () => void): number {
  let calls = WARM_UP_CALLS;
  for (;;) {
    const startMs = performance.now();
    for (let i = 0; i < calls; i++) call();
    if (performance.now() - startMs >= ms) return calls;
    calls *= 2;
  }
}

function leastGrowth(call: () => void, calls: number): number {
  let least = Infinity;
  for (let round = 0; round < ROUNDS; round++) {
    const before = totalAllocatedBytes();
    for (let i = 0; i < calls; i++) call();
    least = Math.min(least, totalAllocatedBytes() - before);
  }
  return least;
}

function totalAllocatedBytes(): number {
  const { total_allocated_bytes } = getHeapStatistics() as { total_allocated_bytes?: number };
  if (total_allocated_bytes === undefined) throw new Error("Cannot count bytes: V8 does not say");
  return total_allocated_bytes;
}
