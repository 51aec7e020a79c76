import { assert, assertEquals } from "@std/assert";
import { decodeGrpcMessage, encodeGrpcMessage } from "../../lib/grpc/mod.ts";
import { rng } from "../support/cuts.ts";

Deno.test("encodeGrpcMessage leaves 0x20 to 0x7E except the percent sign as they are", () => {
  let plain = "";
  for (let code = 0x20; code <= 0x7e; code++) {
    if (code !== 0x25) plain += String.fromCharCode(code);
  }
  assertEquals(encodeGrpcMessage(plain), plain);
  assertEquals(encodeGrpcMessage(""), "");
});

Deno.test("encodeGrpcMessage escapes every other byte of the UTF-8 form in capitals", () => {
  for (
    const [text, encoded] of [
      ["100%", "100%25"],
      ["a\nb", "a%0Ab"],
      ["\t\r\x00\x1f\x7f", "%09%0D%00%1F%7F"],
      ["é", "%C3%A9"],
      ["缺\n100%", "%E7%BC%BA%0A100%25"],
      ["😀", "%F0%9F%98%80"],
      ["\ud800!", "%EF%BF%BD!"],
    ] as const
  ) assertEquals(encodeGrpcMessage(text), encoded);
});

Deno.test("decodeGrpcMessage reads escapes of either case", () => {
  for (
    const [encoded, text] of [
      ["", ""],
      ["plain text", "plain text"],
      ["%E7%BC%BA%0A100%25", "缺\n100%"],
      ["%e7%bC%Ba", "缺"],
      ["%2525", "%25"],
      ["%EF%BB%BFbom", "\ufeffbom"],
    ] as const
  ) assertEquals(decodeGrpcMessage(encoded), text);
});

Deno.test("decodeGrpcMessage leaves malformed escapes as they are", () => {
  for (
    const text of [
      "100% bad %zz",
      "%",
      "%4",
      "50%",
      "%%",
      "%g0",
      "%0g",
      "%-1",
      "% 41",
      "%@A",
      "%/0",
      "%:0",
      "%`a",
    ]
  ) {
    assertEquals(decodeGrpcMessage(text), text);
  }
  assertEquals(decodeGrpcMessage("%4%41%zz%42"), "%4A%zzB");
});

Deno.test("decodeGrpcMessage puts U+FFFD for bytes that are no UTF-8, and keeps the rest", () => {
  assertEquals(decodeGrpcMessage("a%FFb"), "a\ufffdb");
  assertEquals(decodeGrpcMessage("%E7%BC"), "\ufffd");
});

Deno.test("decodeGrpcMessage keeps raw characters that should have been escaped", () => {
  assertEquals(decodeGrpcMessage("é%41"), "éA");
});

Deno.test("decodeGrpcMessage gives back any text that encodeGrpcMessage took", () => {
  for (let seed = 1; seed <= 300; seed++) {
    const random = rng(seed);
    let text = "";
    for (let i = 0; i < 40; i++) {
      const codePoint = Math.floor(random() * (random() < 0.7 ? 0x80 : 0x110000));
      if (codePoint < 0xd800 || codePoint > 0xdfff) text += String.fromCodePoint(codePoint);
    }
    const encoded = encodeGrpcMessage(text);
    assert(/^([ -$&-~]|%[0-9A-F]{2})*$/.test(encoded), `seed ${seed}`);
    assertEquals(decodeGrpcMessage(encoded), text, `seed ${seed}`);
  }
});
