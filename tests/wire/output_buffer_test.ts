import { assert, assertEquals, assertFalse } from "@std/assert";
import { OutputBuffer } from "../../lib/wire/mod.ts";
import { rng } from "../support/cuts.ts";
import { pattern } from "../support/frames.ts";

Deno.test("OutputBuffer.byte loses none, whatever its storage does", () => {
  const out = new OutputBuffer();
  for (let i = 0; i < 5_000; i++) out.byte(i & 0xff);
  assertEquals(out.length, 5_000);
  assertEquals(
    out.bytes.subarray(0, 5_000),
    Uint8Array.from({ length: 5_000 }, (_, i) => i & 0xff),
  );
});

Deno.test("OutputBuffer.append loses none at any length, as the first and after others", () => {
  const source = pattern(3_000);
  for (const length of [0, 1, 95, 96, 97, 1_023, 1_024, 1_025, 2_900]) {
    const out = new OutputBuffer();
    for (let repeat = 0; repeat < 3; repeat++) out.append(source, 3, 3 + length);
    assertEquals(out.length, 3 * length);
    for (let repeat = 0; repeat < 3; repeat++) {
      const written = out.bytes.subarray(repeat * length, (repeat + 1) * length);
      assertEquals(written, source.subarray(3, 3 + length), `length ${length}, piece ${repeat}`);
    }
  }
});

Deno.test("OutputBuffer.extend says where the room begins and keeps what is there", () => {
  const out = new OutputBuffer();
  out.byte(7);
  const at = out.extend(100_000);
  assertEquals(at, 1);
  assertEquals(out.length, 100_001);
  assert(out.bytes.length >= 100_001);
  assertEquals(out.bytes[0], 7);
});

Deno.test("OutputBuffer.clear keeps small storage for the next turn, and gives back large", () => {
  const out = new OutputBuffer();
  out.extend(2_000);
  const small = out.bytes;
  out.clear();
  assertEquals(out.length, 0);
  assert(out.bytes === small);
  for (const length of [4_097, 16_384, 70_000]) {
    out.extend(length);
    assertFalse(out.bytes === small);
    out.clear();
    assert(out.bytes === small, "what it had before the burst");
  }
  out.extend(2_000_000);
  out.clear();
  assert(out.bytes === small);
});

Deno.test("OutputBuffer borrows the same storage again, turn by turn", () => {
  for (const length of [5_000, 70_000]) {
    const [first, second] = [new OutputBuffer(), new OutputBuffer()];
    first.extend(length);
    const borrowed = first.bytes;
    first.clear();
    second.extend(length);
    assert(second.bytes === borrowed);
    second.clear();
  }
});

Deno.test("OutputBuffer lends no storage to two at once", () => {
  const buffers = Array.from({ length: 40 }, () => new OutputBuffer());
  for (let seed = 1; seed <= 4; seed++) {
    const random = rng(seed);
    const written = buffers.map((out, i) => {
      for (let piece = 0; piece < 2; piece++) {
        const length = Math.floor(random() ** 3 * 900_000);
        const at = out.extend(length);
        out.bytes.fill(i + seed, at, at + length);
      }
      return out.length;
    });
    buffers.forEach((out, i) => {
      const bytes = out.bytes.subarray(0, out.length);
      const expected = new Uint8Array(written[i]!).fill(i + seed);
      assertEquals(bytes, expected, `seed ${seed}, buffer ${i}`);
      out.clear();
    });
  }
});
