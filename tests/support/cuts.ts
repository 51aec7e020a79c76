/**
 * The first property of any decoder is that it does not matter where its input was cut. These cut
 * it everywhere, and at random in a way that a seed repeats; put the seed in the failure message.
 *
 * @module
 */

/** Longest piece that {@linkcode randomCuts} makes: short ones find the most states. */
const MAX_PIECE_BYTES = 16;

/** One piece in so many is empty: an empty read must change nothing either. */
const EMPTY_ONE_IN = 8;

/**
 * Every way to cut the bytes in two, an empty half at either end included, and last the cut
 * into single bytes.
 */
export function* everyCut(bytes: Uint8Array): Generator<Uint8Array[]> {
  for (let at = 0; at <= bytes.length; at++) yield [bytes.subarray(0, at), bytes.subarray(at)];
  yield Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));
}

/** The bytes in pieces of random length, now and then an empty one. One seed, one result. */
export function randomCuts(bytes: Uint8Array, seed: number): Uint8Array[] {
  const random = rng(seed);
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length;) {
    const empty = random() < 1 / EMPTY_ONE_IN;
    const length = empty ? 0 : 1 + Math.floor(random() * MAX_PIECE_BYTES);
    pieces.push(bytes.subarray(at, at + length));
    at += length;
  }
  return pieces;
}

/**
 * Random numbers from 0 up to and not including 1 that a seed repeats (xorshift of 32 bits, the
 * shifts 13, 17, 5 of Marsaglia's paper). Neighbouring seeds give unrelated sequences.
 */
export function rng(seed: number): () => number {
  // Spread the seed over all bits; the state must not be 0, or it would stay there.
  let state = Math.imul(seed ^ 0x5bd1e995, 0x9e3779b1) || 1;
  return function next(): number {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
