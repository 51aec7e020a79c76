/** Draws that are thrown away at the start, so that neighbouring seeds have nothing in common. */
const WARM_UP_DRAWS = 16;

/** The way in which calls of an open loop follow each other: as independent callers make them, or evenly. */
export type Arrivals = "poisson" | "even";

/**
 * Gaps between calls that come independently of each other, `perSecond` on average (a Poisson process): what a
 * server with many callers sees, bunches included. The same seed gives the same gaps, so that all who are compared in
 * a round get the same bunches.
 */
export function poissonGaps(perSecond: number, seed: number): () => number {
  const next = randomFrom(seed);
  const meanMs = 1_000 / perSecond;
  return () => -Math.log(1 - next()) * meanMs;
}

/** Numbers from 0 up to but not including 1, the same ones for the same seed: Marsaglia's xorshift of 32 bits. */
export function randomFrom(seed: number): () => number {
  let state = (seed >>> 0) || 1; // zero would stay zero
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  for (let i = 0; i < WARM_UP_DRAWS; i++) next();
  return next;
}
