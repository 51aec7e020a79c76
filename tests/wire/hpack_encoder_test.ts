import {
  assert,
  assertEquals,
  assertFalse,
  assertMatch,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import {
  DEFAULT_TABLE_BYTES,
  encodeStateless,
  Field,
  HeaderCache,
  HpackDecoder,
  HpackEncoder,
  OutputBuffer,
  statelessBlock,
  writeLiteral,
} from "../../lib/wire/mod.ts";
import { writeInteger } from "../../lib/wire/hpack_encoder.ts";
import { rng } from "../support/cuts.ts";
import { type Pairs, pairsOf, REQUEST } from "../support/frames.ts";
import { hex, toHex } from "../support/hex.ts";

Deno.test("HpackEncoder leaves a field literal when first met, inserts it then, and indexes it after", () => {
  const { encode } = setUp();
  const field = new Field("x-key", "value");
  assertEquals(encode([field]), "00 05 78 2d 6b 65 79 05 76 61 6c 75 65");
  // What goes into the table is Huffman coded: each string tells so by its first bit.
  assertMatch(encode([field]), /^40 8[1-4]( ..){3,4} 8[1-4]( ..){3,4}$/);
  assertEquals(encode([field]), "be");
  assertEquals(encode([field, field]), "be be");
});

Deno.test("HpackEncoder counts indexes from the newest entry", () => {
  const { encode } = setUp();
  const fields = ["a", "b", "c"].map((value) => new Field("x-key", value));
  encode(fields);
  encode(fields);
  assertEquals(encode(fields), "c0 bf be");
});

Deno.test("HpackEncoder uses static entries, by value and by name", () => {
  const { encode } = setUp();
  assertEquals(encode([new Field(":method", "POST"), new Field(":status", "200")]), "83 88");
  assertEquals(encode([new Field(":path", "/a")]), "04 02 2f 61");
  assertEquals(encode([new Field("te", "trailers")]).slice(0, 5), "00 02");
});

Deno.test("HpackEncoder never indexes what is sensitive, and never gives per-call fields a place", () => {
  const { encode } = setUp();
  const secret = new Field("authorization", "s", { sensitive: true });
  const timeout = new Field("grpc-timeout", "1S", { perCall: true });
  for (let i = 0; i < 5; i++) {
    assertEquals(encode([secret]), "1f 08 01 73");
    assertEquals(encode([timeout]).slice(0, 5), "00 0c");
  }
});

Deno.test("HpackEncoder keeps a field sensitive whose static entry would do", () => {
  const { encode } = setUp();
  assertEquals(encode([new Field(":path", "/", { sensitive: true })]), "14 01 2f");
});

Deno.test("HpackEncoder gives no place to a field of more than a quarter of the table", () => {
  const { encoder, encode } = setUp();
  const fits = new Field("x", "v".repeat(1_024 - 33));
  const tooLarge = new Field("x", "v".repeat(1_024 - 32));
  for (const field of [fits, tooLarge]) encode([field]);
  assertEquals(encode([fits]).slice(0, 2), "40");
  assertEquals(encode([fits]), "be");
  assertEquals(encode([tooLarge]).slice(0, 2), "00");
  encoder.setMaxTableBytes(0);
  encode([]);
  const small = new Field("y", "1");
  for (let i = 0; i < 4; i++) assertEquals(encode([small]), "00 01 79 01 31");
});

Deno.test("HpackEncoder evicts the oldest entries, and writes them anew when they come again", () => {
  const { encode, decoded } = setUp();
  const fields = Array.from({ length: 200 }, (_, i) => new Field("x-key", `value-${i}`));
  for (let round = 0; round < 4; round++) {
    for (const field of fields) {
      encode([field]);
      assertEquals(decoded(), [["x-key", field.value]]);
    }
  }
});

Deno.test("HpackEncoder says a smaller table size first in the next block, and uses no more", () => {
  const { encoder, encode } = setUp();
  const field = new Field("x-key", "value");
  for (let i = 0; i < 3; i++) encode([field]);
  encoder.setMaxTableBytes(0);
  assert(encoder.owesSizeUpdate);
  assertEquals(encode([field]).slice(0, 5), "20 00");
  assertFalse(encoder.owesSizeUpdate);
  assertEquals(encode([field]).slice(0, 2), "00");
});

for (
  const [what, sizes, wire] of [
    ["to 0", [0], "20"],
    ["to 1,024", [1_024], "3f e1 07"],
    ["to what it was", [4_096], ""],
    ["to more than we use", [65_536], ""],
    ["to more than we use, by way of 0", [0, 65_536], "20 3f e1 1f"],
    ["to 0 and back", [0, 4_096], "20 3f e1 1f"],
    ["down and half up", [100, 2_000], "3f 45 3f b1 0f"],
    ["down, up, and down again", [100, 2_000, 50], "3f 13"],
    ["down in steps", [3_000, 2_000, 1_000], "3f c9 07"],
    ["up and down", [65_536, 100], "3f 45"],
    ["to 0 twice", [0, 0], "20"],
    ["to the smallest in the middle", [2_000, 10, 3_000], "2a 3f 99 17"],
  ] as [string, number[], string][]
) {
  Deno.test(`HpackEncoder owes the least size and then the last one (RFC 7541 §4.2): ${what}`, () => {
    const { encoder, encode } = setUp();
    for (const size of sizes) encoder.setMaxTableBytes(size);
    assertEquals(encode([]), wire);
    assertEquals(encode([]), "", "said once");
  });
}

Deno.test("HpackEncoder fills a table again that was emptied and raised", () => {
  const { encoder, encode, decoded } = setUp();
  const field = new Field("x-key", "value");
  for (let i = 0; i < 3; i++) encode([field]);
  encoder.setMaxTableBytes(0);
  encoder.setMaxTableBytes(4_096);
  assertEquals(encode([field]).slice(0, 14), "20 3f e1 1f 40", "inserted again at once");
  assertEquals(encode([field]), "be");
  assertEquals(decoded(), [["x-key", "value"]]);
});

Deno.test("HpackEncoder agrees with HpackDecoder on random fields and table sizes", () => {
  for (let seed = 1; seed <= 60; seed++) {
    const random = rng(seed);
    const pick = (count: number) => Math.floor(random() * count);
    const { encoder, encode, decoded } = setUp();
    const fields = Array.from(
      { length: 40 },
      () =>
        new Field(pick(3) === 0 ? "user-agent" : `x-${pick(6)}`, "v".repeat(pick(400)) + pick(10), {
          sensitive: pick(8) === 0,
          perCall: pick(8) === 0,
        }),
    );
    for (let round = 0; round < 60; round++) {
      while (random() < 0.2) encoder.setMaxTableBytes(pick(2) * pick(5_000));
      const list = Array.from({ length: pick(6) }, () => fields[pick(fields.length)]!);
      encode(list);
      assertEquals(decoded(), pairsOf(list), `seed ${seed}`);
    }
  }
});

Deno.test("statelessBlock is made once for a list, and means the same to any decoder", () => {
  const cache = new HeaderCache();
  const list = cache.list(REQUEST);
  const block = statelessBlock(list);
  assertStrictEquals(statelessBlock(cache.list(REQUEST)), block);
  for (const before of ["", "40 01 78 01 31", "20"]) {
    const decoder = newDecoder();
    assertEquals(decoder.decode(hex(before), 0, hex(before).length), "");
    assertEquals(decoder.decode(block, 0, block.length), "");
    assertEquals<Pairs>(pairsOf(decoder.list.fields), REQUEST);
    assertEquals(decoder.decode(block, 0, block.length), "", "twice");
  }
});

Deno.test("encodeStateless keeps sensitive fields never indexed and the others out of the table", () => {
  const fields = [
    new Field(":status", "200"),
    new Field("x", "1"),
    new Field("grpc-status", "0", { sensitive: true }),
    new Field("long", "v".repeat(300)),
  ];
  const block = encodeStateless(fields);
  const decoder = newDecoder();
  assertEquals(decoder.decode(block, 0, block.length), "");
  assertEquals(
    decoder.list.fields.map(({ name, value, sensitive }) => [name, value, sensitive]),
    fields.map(({ name, value, sensitive }) => [name, value, sensitive]),
  );
  assertFalse(decoder.decode(hex("be"), 0, 1) === "", "something went into the table");
});

Deno.test("encodeStateless makes nothing of no fields", () => {
  assertEquals(encodeStateless([]), new Uint8Array(0));
});

Deno.test("encodeStateless gives a block that the next one does not touch", () => {
  const first = encodeStateless([new Field("x", "1")]);
  assertEquals(toHex(first), "00 01 78 01 31");
  encodeStateless([new Field("y", "2".repeat(40_000))]);
  assertEquals(toHex(first), "00 01 78 01 31");
});

Deno.test("encodeStateless goes on after fields that could not all be given", () => {
  assertThrows(() =>
    encodeStateless(function* () {
      yield new Field("x", "1");
      throw new Error("Cannot give more");
    }())
  );
  assertEquals(toHex(encodeStateless([new Field("y", "2")])), "00 01 79 01 32");
});

Deno.test("statelessBlock puts the fields of one call behind the list, and keeps the list's own", () => {
  const list = new HeaderCache().list([[":status", "200"], ["x", "1"]]);
  const extra = [new Field("y", "2"), new Field("x", "s", { sensitive: true })];
  assertEquals(
    toHex(statelessBlock(list, extra)),
    "88 00 01 78 01 31 00 01 79 01 32 10 01 78 01 73",
  );
  assertEquals(toHex(statelessBlock(list)), "88 00 01 78 01 31");
  assertEquals(
    toHex(statelessBlock(list, [new Field("y", "3")])),
    "88 00 01 78 01 31 00 01 79 01 33",
  );
});

Deno.test("writeLiteral marks a sensitive field alone, whichever of its name came first", () => {
  for (const first of [true, false]) {
    const name = `x-${first}`;
    for (const sensitive of [first, !first, first]) {
      const out = new OutputBuffer();
      writeLiteral(out, new Field(name, "", { sensitive }));
      assertEquals(out.bytes[0], sensitive ? 0x10 : 0x00);
    }
  }
});

Deno.test("writeInteger writes what HpackDecoder reads, at the edges of each prefix", () => {
  for (let bits = 1; bits <= 8; bits++) {
    const limit = 2 ** bits - 1;
    for (const value of [0, 1, limit - 1, limit, limit + 1, limit + 127, limit + 128, 2 ** 27]) {
      const out = new OutputBuffer();
      writeInteger(out, 0, bits, value);
      assertEquals(readInteger(out.bytes.subarray(0, out.length), bits), value);
    }
  }
});

/** An encoder and a decoder that hears all of it. */
function setUp() {
  const encoder = new HpackEncoder();
  const decoder = newDecoder();
  /** A block, which the decoder gets too, in hex. */
  function encode(fields: readonly Field[]): string {
    const out = new OutputBuffer();
    encoder.writeSizeUpdate(out);
    for (const field of fields) encoder.write(out, field);
    assertEquals(decoder.decode(out.bytes, 0, out.length), "");
    return toHex(out.bytes.subarray(0, out.length));
  }
  function decoded(): [string, string][] {
    return pairsOf(decoder.list.fields);
  }
  return { encoder, encode, decoded };
}

function newDecoder(): HpackDecoder {
  return new HpackDecoder(new HeaderCache(), { maxListBytes: DEFAULT_TABLE_BYTES * 10 });
}

/** RFC 7541 §5.1, straight from its pseudocode. */
function readInteger(bytes: Uint8Array, bits: number): number {
  let value = bytes[0]! & (2 ** bits - 1);
  if (value < 2 ** bits - 1) return value;
  for (let i = 1, m = 0;; i++, m += 7) {
    value += (bytes[i]! & 127) * 2 ** m;
    if ((bytes[i]! & 128) === 0) return value;
  }
}
