import { assert, assertEquals } from "@std/assert";
import { FrameReader } from "../../lib/connection/frame_reader.ts";
import { latin1 } from "../../lib/wire/mod.ts";
import { everyCut, randomCuts, rng } from "../support/cuts.ts";
import { concat, data, pattern, ping, raw, settings } from "../support/frames.ts";

Deno.test("FrameReader hands over whole frames where they lie, without a copy", () => {
  const bytes = concat(data(1, "abc"), ping(7));
  const { reader, storages } = setUp();
  reader.read(bytes, 0, bytes.length);
  assertEquals(storages.map((storage) => storage === bytes), [true, true]);
  assertEquals(reader.pendingBytes, 0);
});

Deno.test("FrameReader gives the same frames for every cut in two and into bytes", () => {
  const bytes = concat(
    settings([1, 2]),
    data(0x7fffffff, "body"),
    raw(0xff, { flags: 0xff }),
    ping(9),
  );
  const expected = readAll([bytes]);
  assertEquals(expected.length, 4);
  for (const pieces of everyCut(bytes)) {
    assertEquals(readAll(pieces), expected, `${pieces[0]?.length}`);
  }
});

Deno.test("FrameReader gives the same frames at random cuts of long input", () => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = rng(seed);
    const frames = Array.from(
      { length: 12 },
      (_, i) => data(i + 1, pattern(Math.floor(random() ** 4 * 3_000))),
    );
    const bytes = concat(...frames);
    const expected = readAll([bytes]);
    assertEquals(expected.length, 12);
    assertEquals(readAll(randomCuts(bytes, seed)), expected, `seed ${seed}`);
  }
});

Deno.test("FrameReader reads its range and nothing around it", () => {
  const { reader, seen } = setUp();
  const bytes = concat(pattern(3), ping(1), ping(2), pattern(9));
  reader.read(bytes, 3, 3 + 17 + 17);
  assertEquals(seen.length, 2);
  assertEquals(reader.pendingBytes, 0);
});

Deno.test("FrameReader takes a frame of the largest size, whole and in pieces", () => {
  for (const size of [1, 100, 16_392, 16_393, 50_000]) {
    const bytes = concat(data(1, pattern(16_384)), data(3, pattern(16_384)));
    const pieces: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
    const seen = readAll(pieces);
    assertEquals(seen.length, 2, `pieces of ${size}`);
    assertEquals(seen, readAll([bytes]), `pieces of ${size}`);
  }
});

Deno.test("FrameReader tells of a frame that is too long as soon as its header is there", () => {
  const bytes = data(5, pattern(16_385)).subarray(0, 9);
  for (const pieces of everyCut(bytes)) assertEquals(readAll(pieces), ["too long: 0 5 16385"]);
});

Deno.test("FrameReader stops at the frame that its handler says is the last", () => {
  const bytes = concat(ping(1), ping(2), ping(3));
  for (const pieces of everyCut(bytes)) {
    const { reader, seen } = setUp({ stopAfter: 2 });
    for (const piece of pieces) {
      if (seen.length < 2) reader.read(piece, 0, piece.length);
    }
    assertEquals(seen.length, 2);
  }
});

Deno.test("FrameReader keeps no more than the frame that waits", () => {
  const { reader } = setUp();
  const bytes = concat(data(1, pattern(10_000)), data(3, pattern(10_000)));
  reader.read(bytes, 0, 15_000);
  assertEquals(reader.pendingBytes, 15_000 - 10_009);
  reader.read(bytes, 15_000, bytes.length);
  assertEquals(reader.pendingBytes, 0);
});

Deno.test("FrameReader is right when its handler's input is used again for the next read", () => {
  const bytes = concat(data(1, "first"), data(3, "second"), data(5, "third"));
  const expected = readAll([bytes]);
  const { reader, seen } = setUp();
  const buffer = new Uint8Array(7);
  for (let at = 0; at < bytes.length; at += 7) {
    const piece = bytes.subarray(at, at + 7);
    buffer.fill(0xee);
    buffer.set(piece);
    reader.read(buffer, 0, piece.length);
  }
  assertEquals(seen, expected);
});

function setUp({ stopAfter = Infinity } = {}) {
  const seen: string[] = [];
  const storages: Uint8Array[] = [];
  const reader = new FrameReader({
    frame(type, flags, streamId, bytes, from, to) {
      assert(from <= to && to <= bytes.length);
      storages.push(bytes);
      seen.push(`${type} ${flags} ${streamId}: ${latin1(bytes, from, to)}`);
      return seen.length < stopAfter;
    },
    frameTooLong: (type, streamId, length) => seen.push(`too long: ${type} ${streamId} ${length}`),
  });
  return { reader, seen, storages };
}

function readAll(pieces: Uint8Array[]): string[] {
  const { reader, seen } = setUp();
  for (const piece of pieces) reader.read(piece, 0, piece.length);
  if (!seen[0]?.startsWith("too long")) assertEquals(reader.pendingBytes, 0);
  return seen;
}
