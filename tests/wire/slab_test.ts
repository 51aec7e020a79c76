import { assert, assertEquals, assertFalse } from "@std/assert";
import { allocate, release } from "../../lib/wire/slab.ts";

/** Sizes on both sides of every class, and beyond the largest. */
const SIZES = [0, 1, 191, 192, 193, 512, 513, 1_536, 1_537, 4_096, 4_097, 70_000];

Deno.test("allocate gives room enough, in pieces that do not overlap", () => {
  const pieces = Array.from({ length: 1_000 }, (_, i) => allocate(SIZES[i % SIZES.length]!));
  for (const [i, piece] of pieces.entries()) {
    assert(piece.length >= SIZES[i % SIZES.length]!);
    piece.fill(i);
  }
  for (const [i, piece] of pieces.entries()) assert(piece.every((byte) => byte === (i & 0xff)));
});

Deno.test("allocate gives large pieces storage of their own, of exactly their size", () => {
  const large = allocate(4_097);
  assertEquals([large.length, large.buffer.byteLength], [4_097, 4_097]);
});

Deno.test("allocate gives what was released to one that asks for the size, and to one alone", () => {
  for (const size of [1, 192, 500, 1_536, 4_000]) {
    const piece = allocate(size);
    release(piece);
    assert(allocate(size) === piece, `size ${size}`);
    assertFalse(allocate(size) === piece, `size ${size}`);
  }
});

Deno.test("release takes no storage that allocate did not cut", () => {
  for (const size of SIZES) {
    const foreign = new Uint8Array(size);
    release(foreign);
    assertFalse(allocate(size) === foreign, `size ${size}`);
  }
  const view = new Uint8Array(192).subarray(0, 192);
  release(view);
  assertFalse(allocate(192) === view);
});

Deno.test("release keeps no more than a bound of free pieces", () => {
  const pieces = Array.from({ length: 1_000 }, () => allocate(4_096));
  for (const piece of pieces) release(piece);
  const known = new Set(pieces);
  let reused = 0;
  for (let i = 0; i < 1_000; i++) if (known.has(allocate(4_096))) reused++;
  assertEquals(reused, 256, "1 MiB");
});

Deno.test("allocate gives a huge piece that was released again, of a size that a log grows through", () => {
  for (
    const [size, bytes] of [[139_265, 278_528], [1_050_000, 1_114_112], [4_200_000, 4_456_448]]
  ) {
    const piece = allocate(size!);
    assertEquals(piece.length, bytes);
    release(piece);
    assert(allocate(size!) === piece, `size ${size}`);
    assertFalse(allocate(size!) === piece, `size ${size}`);
  }
  assertEquals(allocate(4_456_449).length, 4_456_449, "beyond the largest");
});

Deno.test("release remembers large pieces beyond what is kept, up to a bound for all sizes", () => {
  const pieces = Array.from({ length: 200 }, () => allocate(1_000_000));
  for (const piece of pieces) release(piece);
  const known = new Set(pieces);
  let reused = 0;
  for (let i = 0; i < 200; i++) if (known.has(allocate(1_000_000))) reused++;
  assert(reused > 0 && reused <= 60, `${reused} pieces, of 60 that are 64 MiB`);
});
