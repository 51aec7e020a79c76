/** About a millisecond's worth: short enough that some round is not interrupted. */
const CALLS = 10_000;

const ROUNDS = 50;

/** Nanoseconds of one call in the quickest of many short rounds: what it takes while nothing else wants the core. */
export function quickestNs(call: () => void): number {
  let leastMs = Infinity;
  for (let round = 0; round < ROUNDS; round++) {
    const startMs = performance.now();
    for (let i = 0; i < CALLS; i++) call();
    leastMs = Math.min(leastMs, performance.now() - startMs);
  }
  return leastMs * 1e6 / CALLS;
}
