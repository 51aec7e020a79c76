import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { everyCut, randomCuts, rng } from "./cuts.ts";

const BYTES = Uint8Array.from({ length: 100 }, (_, at) => at);

Deno.test("everyCut cuts at each place once, then into single bytes", () => {
  const cuts = [...everyCut(BYTES)];
  assertEquals(cuts.length, BYTES.length + 2);
  for (const [at, pieces] of cuts.entries()) {
    assertEquals(joined(pieces), [...BYTES], `cut ${at}`);
    if (at <= BYTES.length) assertEquals(pieces.map((piece) => piece.length), [at, 100 - at]);
  }
  assertEquals(cuts.at(-1)?.length, BYTES.length);
});

Deno.test("randomCuts keeps all bytes in order and repeats by seed", () => {
  for (let seed = 0; seed < 200; seed++) {
    const pieces = randomCuts(BYTES, seed);
    assertEquals(joined(pieces), [...BYTES], `seed ${seed}`);
    assertEquals(randomCuts(BYTES, seed), pieces, `seed ${seed}`);
  }
  assertNotEquals(randomCuts(BYTES, 1), randomCuts(BYTES, 2));
  assertEquals(randomCuts(new Uint8Array(0), 1), []);
});

Deno.test("rng is even enough over its range for every seed, the worst included", () => {
  for (const seed of [0, 1, 2, -1, 0x5bd1e995, 2 ** 31, 0.5]) {
    const random = rng(seed);
    const buckets: number[] = Array(10).fill(0);
    for (let i = 0; i < 10_000; i++) {
      const value = random();
      assert(value >= 0 && value < 1);
      buckets[Math.floor(value * 10)]! += 1;
    }
    for (const count of buckets) assert(count > 850 && count < 1150, `seed ${seed}: ${buckets}`);
  }
});

function joined(pieces: Uint8Array[]): number[] {
  return pieces.flatMap((piece) => [...piece]);
}
