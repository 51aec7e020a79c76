import { assertEquals, assertThrows } from "@std/assert";
import { derContent, derValues } from "../../lib/transport/der.ts";
import { der } from "../support/certificates.ts";

Deno.test("derValues finds values one after the other, and derContent what they are made of", () => {
  const inner = der(0x04, new Uint8Array([1, 2]));
  const bytes = new Uint8Array([...der(0x30, inner, inner), ...der(0x05)]);
  const [sequence, nothing] = derValues(bytes, 0, bytes.length);
  assertEquals(sequence, { tag: 0x30, start: 0, from: 2, to: 10 });
  assertEquals(nothing, { tag: 0x05, start: 10, from: 12, to: 12 });
  assertEquals(derContent(bytes, sequence).map(({ from, to }) => [from, to]), [[4, 6], [8, 10]]);
  assertEquals(derContent(bytes, nothing), []);
  assertEquals(derValues(bytes, 4, 4), []);
});

Deno.test("derValues reads lengths of one byte and of several", () => {
  for (const length of [0, 0x7f, 0x80, 0xff, 0x100, 0xffff]) {
    const bytes = der(0x04, new Uint8Array(length));
    const [value] = derValues(bytes, 0, bytes.length);
    assertEquals([value?.to, value!.to - value!.from], [bytes.length, length]);
  }
});

Deno.test("derValues throws a RangeError for what is cut or no DER", () => {
  const whole = der(0x30, new Uint8Array(300));
  for (let cut = 1; cut < whole.length; cut++) {
    assertThrows(() => derValues(whole.subarray(0, cut), 0, cut), RangeError, "malformed");
  }
  const bad = [[0x1f, 0x01, 0x00], [0x30, 0x80, 0, 0], [0x30, 0x85, 0, 0, 0, 0, 0], [
    0x04,
    0x02,
    1,
  ]];
  for (const bytes of bad) {
    assertThrows(() => derValues(new Uint8Array(bytes), 0, bytes.length), RangeError, "at byte 0");
  }
});

Deno.test("derContent throws a RangeError for a value that is not there", () => {
  assertThrows(() => derContent(new Uint8Array(), undefined), RangeError, "missing");
});
