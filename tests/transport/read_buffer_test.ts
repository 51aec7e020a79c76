import { assert, assertEquals } from "@std/assert";
import { ReadBuffer } from "../../lib/transport/read_buffer.ts";

/** Sizes of what is read into. */
const OWN_BYTES = 4_096;
const LARGE_BYTES = 65_536;

/** Large ones that there are at once, and that outlast reads that do not fill them. */
const MAX_LENT = 256;
const MAX_KEPT = 64;

/** Sizes of the buffer before each of these reads, and after the last. */
function sizes(buffer: ReadBuffer, ...counts: number[]): number[] {
  const seen = [buffer.bytes.length];
  for (const count of counts) {
    buffer.took(count);
    seen.push(buffer.bytes.length);
  }
  return seen;
}

/** So many that have each read `counts`; given back at the end. */
function withMany(
  count: number,
  counts: readonly number[],
  test: (buffers: ReadBuffer[]) => void,
): void {
  const buffers = Array.from({ length: count }, () => new ReadBuffer());
  try {
    for (const buffer of buffers) sizes(buffer, ...counts);
    test(buffers);
  } finally {
    for (const buffer of buffers) buffer.giveBack();
  }
}

function large(buffers: readonly ReadBuffer[]): number {
  return buffers.filter(({ bytes }) => bytes.length === LARGE_BYTES).length;
}

Deno.test("ReadBuffer is small until a read fills it, and then large", () => {
  const buffer = new ReadBuffer();
  assertEquals(sizes(buffer, 1, 4_095), [OWN_BYTES, OWN_BYTES, OWN_BYTES]);
  assertEquals(sizes(buffer, 4_096, 65_536), [OWN_BYTES, LARGE_BYTES, LARGE_BYTES]);
  buffer.giveBack();
  assertEquals(buffer.bytes.length, OWN_BYTES);
});

Deno.test("ReadBuffer is small again after two small reads in a row", () => {
  const buffer = new ReadBuffer();
  const [L, S] = [LARGE_BYTES, OWN_BYTES];
  assertEquals(sizes(buffer, 4_096, 17, 17), [S, L, L, S]);
  assertEquals(sizes(buffer, 4_096, 4_096, 4_097, 17, 65_536, 0, 1), [S, L, L, L, L, L, L, S]);
  assertEquals(sizes(buffer, 17, 4_096, 17, 17), [S, S, L, L, S]);
});

Deno.test("ReadBuffer leaves few connections a large one once their peers send less", () => {
  withMany(MAX_LENT, [4_096, 20_000], (buffers) => assertEquals(large(buffers), MAX_KEPT));
  withMany(MAX_LENT, [4_096, 17], (buffers) => assertEquals(large(buffers), MAX_KEPT));
});

Deno.test("ReadBuffer lends large ones up to their bound, and again when they come back", () => {
  withMany(1_000, [4_096], (buffers) => {
    assertEquals(large(buffers), MAX_LENT);
    const late = buffers.at(-1)!;
    assertEquals(sizes(late, 4_096), [OWN_BYTES, OWN_BYTES]);
    buffers[0]!.giveBack();
    buffers[0]!.giveBack(); // it had one
    assertEquals(sizes(late, 4_096), [OWN_BYTES, LARGE_BYTES]);
    assertEquals(sizes(buffers[1_000 - 2]!, 4_096), [OWN_BYTES, OWN_BYTES]);
  });
});

Deno.test("ReadBuffer lends no storage to two at once", () => {
  for (let round = 0; round < 3; round++) {
    withMany(MAX_LENT, [4_096], (buffers) => {
      assertEquals(new Set(buffers.map(({ bytes }) => bytes)).size, MAX_LENT);
    });
  }
  const [first, second] = [new ReadBuffer(), new ReadBuffer()];
  sizes(first, 4_096);
  const { bytes } = first;
  first.giveBack();
  sizes(second, 4_096);
  assert(second.bytes === bytes, "what came back is lent again");
  second.giveBack();
});
