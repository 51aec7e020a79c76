import { assert, assertEquals, assertFalse } from "@std/assert";
import { copyBytes, equalBytes, latin1, putLatin1 } from "../../lib/wire/mod.ts";
import { pattern } from "../support/frames.ts";

const ALL_BYTES = Uint8Array.from({ length: 256 }, (_, byte) => byte);

Deno.test("latin1 and putLatin1 keep all 256 byte values, 0x80 to 0x9f among them", () => {
  const text = latin1(ALL_BYTES, 0, 256);
  assertEquals(text.length, 256);
  for (let byte = 0; byte < 256; byte++) assertEquals(text.charCodeAt(byte), byte);
  const back = new Uint8Array(258);
  putLatin1(text, back, 1);
  assertEquals(back.subarray(1, 257), ALL_BYTES);
  assertEquals([back[0], back[257]], [0, 0]);
});

Deno.test("latin1 reads its range of a view, not of the buffer under it", () => {
  const view = ALL_BYTES.subarray(65, 75);
  assertEquals(latin1(view, 1, 3), "BC");
  assertEquals(latin1(view, 4, 4), "");
});

Deno.test("copyBytes copies its range and nothing around it, at every length", () => {
  const source = pattern(300);
  for (let length = 0; length <= 200; length++) {
    const target = new Uint8Array(220).fill(0xee);
    copyBytes(source, 7, 7 + length, target, 5);
    assertEquals(target.subarray(5, 5 + length), source.subarray(7, 7 + length));
    assert(target.subarray(0, 5).every((byte) => byte === 0xee), `before, length ${length}`);
    assert(target.subarray(5 + length).every((byte) => byte === 0xee), `after, length ${length}`);
  }
});

Deno.test("equalBytes sees a difference in any place of its range and in no other", () => {
  const a = pattern(40);
  for (let at = 0; at < 40; at++) {
    const b = pattern(40);
    b[at]! ^= 1;
    const inRange = at >= 10 && at < 30;
    assertEquals(equalBytes(a, 10, b, 10, 20), !inRange, `place ${at}`);
  }
  assert(equalBytes(a, 3, a.subarray(3), 0, 37));
  assertFalse(equalBytes(a, 0, a, 1, 39));
});
