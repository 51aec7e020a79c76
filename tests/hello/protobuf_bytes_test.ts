import { assertEquals, assertThrows } from "@std/assert";
import { readFields, Writer } from "../../lib/hello/protobuf_bytes.ts";

Deno.test("Writer and readFields agree on numbers of every length", () => {
  for (let bits = 0; bits <= 53; bits++) {
    for (const value of [2 ** bits - 1, Math.min(2 ** bits, Number.MAX_SAFE_INTEGER)]) {
      const writer = new Writer();
      writer.varint(1, value);
      assertEquals(readFields(writer.finish())[0]?.value, value);
    }
  }
});

Deno.test("Writer encodes as the protobuf encoding guide's examples do", () => {
  const writer = new Writer();
  writer.varint(1, 150);
  writer.text(2, "testing");
  writer.bytes(16, Uint8Array.of(7));
  assertEquals(
    writer.finish(),
    Uint8Array.of(
      0x08,
      0x96,
      0x01,
      0x12,
      7,
      0x74,
      0x65,
      0x73,
      0x74,
      0x69,
      0x6e,
      0x67,
      0x82,
      1,
      1,
      7,
    ),
  );
});

Deno.test("readFields refuses other wire types and numbers without end", () => {
  for (const wireType of [1, 3, 4, 5, 6, 7]) {
    assertThrows(() => readFields(Uint8Array.of(8 + wireType, 0)), RangeError, `${wireType}`);
  }
  const endless = new Uint8Array(12).fill(0x80);
  assertThrows(() => readFields(endless), RangeError, "longer than 64 bits");
});

Deno.test("readFields takes the ten bytes of the largest number", () => {
  const largest = Uint8Array.of(8, ...new Array(9).fill(0xff), 1);
  assertEquals(readFields(largest)[0]?.value, 2 ** 64);
});
