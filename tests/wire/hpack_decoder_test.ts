import {
  assert,
  assertEquals,
  assertFalse,
  assertNotEquals,
  assertStrictEquals,
} from "@std/assert";
import { huffmanEncode, huffmanLength } from "../../lib/wire/huffman.ts";
import { HeaderCache, HpackDecoder, latin1 } from "../../lib/wire/mod.ts";
import { rng } from "../support/cuts.ts";
import { ascii, block, concat, type Pairs, pairsOf, REQUEST } from "../support/frames.ts";
import { hex } from "../support/hex.ts";

/** `x: 1`, into the dynamic table. */
const INSERT_X = hex("40 01 78 01 31");
/** Index 62, the newest entry. */
const NEWEST = hex("be");

Deno.test("HpackDecoder gives the same list object for the same fields, however they are coded", () => {
  const { decoder, decode } = setUp();
  decode(hex("83  40 01 78 01 31")); // :method POST indexed, x: 1 inserted
  const list = decoder.list;
  decode(hex("83  be"));
  assertStrictEquals(decoder.list, list);
  decode(hex("02 04 50 4f 53 54  00 01 78 01 31")); // POST as a literal, and so is x
  assertStrictEquals(decoder.list, list);
  decode(concat(hex("83 00"), coded("x"), coded("1")));
  assertStrictEquals(decoder.list, list);
});

Deno.test("HpackDecoder gives lists that connections of one cache share", () => {
  const cache = new HeaderCache();
  const one = setUp({ cache });
  const two = setUp({ cache });
  one.decode(block(REQUEST));
  two.decode(block(REQUEST));
  assertStrictEquals(one.decoder.list, two.decoder.list);
});

for (
  const [what, wire] of [
    ["index 0", "80"],
    ["an index that is beyond the static table", "be"],
    ["index 0 with seven bits and more", "ff 80 80 80 80 80 01"],
    ["a name of an index beyond the table", "7e 01 31"],
    ["a name of an index beyond the table, not indexed", "0f 2f 01 31"],
    ["an index of 2^28 and more", "ff 80 ff ff ff 7f"],
    ["an index of 2^35 and more", "ff ff ff ff ff ff 7f"],
    ["an integer without end", "ff ff ff ff ff ff ff ff ff ff ff ff"],
    ["an integer of many zeros", "ff 80 80 80 80 80 80 80 80 80 00"],
    ["a string of 2^31 bytes", "00 7f 81 ff ff ff 07  61"],
    ["a string longer than the block", "00 01 78 02 31"],
    ["a string with a broken code", "00 01 78 81 00"],
    ["a string with eight bits of padding", "00 01 78 82 f8 ff"],
    ["a string with EOS", "00 01 78 84 ff ff ff ff"],
    ["a table size above ours", "3f e2 1f"],
    ["a table size of 2^28 and more", "3f ff ff ff ff 7f"],
    ["a table size after a field", "82 20"],
    ["a table size between fields", "82 20 82"],
  ]
) {
  Deno.test(`HpackDecoder refuses ${what}`, () => {
    const { decoder } = setUp();
    const bytes = hex(wire!);
    assertNotEquals(decoder.decode(bytes, 0, bytes.length), "");
  });
}

Deno.test("HpackDecoder takes the largest table size we announced, and several updates in a row", () => {
  const { decode } = setUp();
  decode(hex("3f e1 1f")); // 4096
  decode(hex("20  3f e1 1f  82"));
  decode(hex("20 20 20"));
});

Deno.test("HpackDecoder refuses a block that is cut off anywhere within a field", () => {
  const pieces = [
    hex("3f e1 1f"), // table size 4096
    hex("82"),
    hex("40 03 66 6f 6f 03 62 61 72"), // foo: bar, inserted
    hex("be"),
    hex("0f 0d 02 31 30"), // content-length: 10, by a name index of two bytes
    concat(hex("10"), coded("secret-name"), coded("secret value")),
    concat(hex("00 01 61 7f 99 09"), new Uint8Array(1_304).fill(0x61)),
  ];
  const whole = concat(...pieces);
  const ends = new Set([0]);
  for (let i = 0, at = 0; i < pieces.length; i++) ends.add(at += pieces[i]!.length);
  for (let cut = 0; cut <= whole.length; cut++) {
    const { decoder } = setUp();
    const broken = decoder.decode(whole, 0, cut);
    assertEquals(broken === "", ends.has(cut), `cut at ${cut}: ${broken}`);
  }
});

Deno.test("HpackDecoder reads only its range", () => {
  const { decoder } = setUp();
  assertEquals(decoder.decode(hex("ff 82 84 ff"), 1, 3), "");
  assertEquals(pairs(decoder), [[":method", "GET"], [":path", "/"]]);
  assertNotEquals(decoder.decode(hex("00 01 78 01 31"), 0, 4), "", "the value lies outside");
});

Deno.test("HpackDecoder makes no list of an empty block", () => {
  const { decoder, decode } = setUp();
  decode(hex("82"));
  decode(hex(""));
  assertEquals(decoder.list.fields, []);
});

Deno.test("HpackDecoder gives the same bytes another meaning after the table changed", () => {
  const { decoder, decode } = setUp();
  decode(INSERT_X);
  for (const value of ["1", "2", "3"]) {
    decode(NEWEST);
    assertEquals(pairs(decoder), [["x", value]]);
    decode(NEWEST);
    assertEquals(pairs(decoder), [["x", value]]);
    decode(concat(hex("40 01 78 01"), ascii(String(Number(value) + 1))));
  }
});

Deno.test("HpackDecoder forgets what the same bytes meant when the table is emptied", () => {
  const { decoder, decode } = setUp();
  decode(INSERT_X);
  decode(NEWEST);
  decode(NEWEST);
  decode(hex("20"));
  assertNotEquals(decoder.decode(NEWEST, 0, 1), "");
});

Deno.test("HpackDecoder repeats an insertion when the same block comes again", () => {
  const { decoder, decode } = setUp();
  for (let i = 0; i < 3; i++) decode(INSERT_X);
  for (const index of ["be", "bf", "c0"]) {
    decode(hex(index));
    assertEquals(pairs(decoder), [["x", "1"]]);
  }
  assertNotEquals(decoder.decode(hex("c1"), 0, 1), "");
});

Deno.test("HpackDecoder remembers more than one block, and those of one length apart", () => {
  const { decoder, decode } = setUp();
  const blocks = ["82", "83", "84", "86", "82 84", "83 84"].map(hex);
  const expected: Pairs[] = [
    [[":method", "GET"]],
    [[":method", "POST"]],
    [[":path", "/"]],
    [[":scheme", "http"]],
    [[":method", "GET"], [":path", "/"]],
    [[":method", "POST"], [":path", "/"]],
  ];
  const random = rng(7);
  for (let i = 0; i < 300; i++) {
    const at = Math.floor(random() * blocks.length);
    decode(blocks[at]!);
    assertEquals(pairs(decoder), expected[at], `round ${i}`);
  }
});

Deno.test("HpackDecoder remembers blocks of all lengths correctly, also those too long for that", () => {
  const { decoder, decode } = setUp();
  for (let length = 1; length < 600; length += 13) {
    const fields: Pairs = [["x", "v".repeat(length)], ["y", `${length}`]];
    for (let repeat = 0; repeat < 3; repeat++) {
      decode(block(fields));
      assertEquals(pairs(decoder), fields);
    }
  }
});

Deno.test("HpackDecoder evicts what no longer fits, oldest first (RFC 7541 §4.4)", () => {
  const { decoder, decode } = setUp();
  decode(hex("3f 45")); // 100 bytes: three fields of 34
  for (const value of ["1", "2", "3"]) decode(concat(hex("40 01 78 01"), ascii(value)));
  assertEquals(table(decoder), ["3", "2"]);
  decode(hex("3f 25")); // 68 bytes: still two
  assertEquals(table(decoder), ["3", "2"]);
  decode(hex("3f 24")); // 67: one
  assertEquals(table(decoder), ["3"]);
});

Deno.test("HpackDecoder empties the table for an entry larger than it (RFC 7541 §4.4)", () => {
  const { decoder, decode } = setUp();
  decode(hex("3f 45"));
  decode(INSERT_X);
  decode(block([]));
  decode(concat(hex("40 01 79 45"), new Uint8Array(69).fill(0x79)));
  assertEquals(pairs(decoder), [["y", "y".repeat(69)]]);
  assertEquals(table(decoder), []);
});

Deno.test("HpackDecoder can name an entry that its own insertion evicts (RFC 7541 §4.4)", () => {
  const { decoder, decode } = setUp();
  decode(hex("3f 03")); // 34 bytes: one field
  decode(INSERT_X);
  decode(hex("7e 01 32")); // the name of entry 62, value 2
  assertEquals(pairs(decoder), [["x", "2"]]);
  assertEquals(table(decoder), ["2"]);
});

Deno.test("HpackDecoder keeps per-call fields apart and in order", () => {
  const { decoder, decode } = setUp({ perCall: ["grpc-timeout", "traceparent"] });
  const lists = ["1S", "2S"].map((timeout) => {
    decode(block([
      [":method", "POST"],
      ["grpc-timeout", timeout],
      ["x", "1"],
      ["traceparent", `t-${timeout}`],
      ["content-length", "5"],
      ["traceparent", "again"],
    ]));
    assertEquals(pairsOf(decoder.perCall), [
      ["grpc-timeout", timeout],
      ["traceparent", `t-${timeout}`],
      ["content-length", "5"],
      ["traceparent", "again"],
    ]);
    assertEquals(decoder.fault, "");
    return decoder.list;
  });
  assertStrictEquals(lists[0], lists[1]);
  assertEquals(pairs(decoder), [[":method", "POST"], ["x", "1"]]);
});

Deno.test("HpackDecoder gives a block without fields of its own nothing of the next one's", () => {
  const { decoder, decode } = setUp({ perCall: ["grpc-timeout"] });
  decode(block(REQUEST));
  const kept = decoder.perCall;
  decode(block([...REQUEST, ["grpc-timeout", "1S"]]));
  assertEquals(kept, []);
  assertEquals(pairsOf(decoder.perCall), [["grpc-timeout", "1S"]]);
});

Deno.test("HpackDecoder leaves per-call fields of one block out of the next", () => {
  const { decoder, decode } = setUp({ perCall: ["grpc-timeout"] });
  decode(block([["grpc-timeout", "1S"]]));
  const kept = decoder.perCall;
  decode(hex("82"));
  assertEquals(decoder.perCall, []);
  assertEquals(kept.length, 1, "what was handed out is not touched");
  decode(hex("82")); // from memory
  assertEquals(decoder.perCall, []);
});

Deno.test("HpackDecoder finds per-call fields again in the dynamic table", () => {
  const { decoder, decode } = setUp({ perCall: ["grpc-timeout"] });
  decode(concat(hex("40 0c"), ascii("grpc-timeout"), hex("02 31 53")));
  for (let i = 0; i < 3; i++) {
    decode(NEWEST);
    assertEquals(decoder.perCall.map(({ value }) => value), ["1S"]);
    assertEquals(decoder.list.fields, []);
  }
});

Deno.test("HpackDecoder faults a pseudo-header after a per-call field", () => {
  const { decoder, decode } = setUp({ perCall: ["grpc-timeout"] });
  decode(block([[":method", "POST"], ["grpc-timeout", "1S"], [":path", "/"]]));
  assertNotEquals(decoder.fault, "");
  decode(block([[":method", "POST"], [":path", "/"], ["grpc-timeout", "1S"]]));
  assertEquals(decoder.fault, "");
});

Deno.test("HpackDecoder faults an illegal per-call field, which no list shows", () => {
  const { decoder, decode } = setUp({ perCall: ["grpc-timeout"] });
  for (let i = 0; i < 2; i++) {
    decode(block([["grpc-timeout", "1\nS"]]));
    assertNotEquals(decoder.fault, "");
  }
  decode(block([["grpc-timeout", "1S"]]));
  assertEquals(decoder.fault, "");
});

Deno.test("HpackDecoder faults a control in a per-call value, plain and in Huffman code", () => {
  const { decoder, decode } = setUp({ perCall: ["grpc-timeout"] });
  for (const value of ["1\0S", "1S\n", "\x7f", "1S"]) {
    for (const string of [concat(Uint8Array.of(value.length), ascii(value)), coded(value)]) {
      for (const name of [concat(hex("0c"), ascii("grpc-timeout")), coded("grpc-timeout")]) {
        decode(concat(hex("40"), name, string));
        assertEquals(decoder.fault === "", value === "1S", JSON.stringify(value));
        assertEquals(decoder.perCall[0]?.value, value);
        decode(NEWEST);
        assertEquals(decoder.fault === "", value === "1S", JSON.stringify(value));
      }
    }
  }
});

Deno.test("HpackDecoder faults a control in a field of a list, however often it comes", () => {
  const { decoder, decode } = setUp();
  for (let i = 0; i < 3; i++) {
    decode(block([["x", "a\nb"], ["y", "ab"]]));
    assertEquals(decoder.list.fields.map(({ fault }) => fault === ""), [false, true]);
  }
});

Deno.test("HpackDecoder reads a name right in whichever way it was spelled before", () => {
  const { decoder, decode } = setUp();
  const random = rng(11);
  // Some of them are the Huffman code of others.
  const names = Array.from(
    { length: 60 },
    (_, i) => "ab-".repeat(5).slice(0, 1 + i % 12) + (i % 5),
  );
  names.push(...names.map((name) => latin1(coded(name), 1, coded(name).length)));
  for (let round = 0; round < 2_000; round++) {
    const name = names[Math.floor(random() * names.length)]!;
    const plain = concat(Uint8Array.of(name.length), ascii(name));
    decode(concat(hex("00"), random() < 0.5 ? plain : coded(name), hex("01 31")));
    assertEquals(pairs(decoder), [[name, "1"]], `round ${round}`);
  }
});

Deno.test("HpackDecoder flags a list larger than its limit and keeps the table right", () => {
  const { decoder, decode } = setUp({ maxListBytes: 34 + 33 });
  decode(concat(INSERT_X, hex("40 01 79 00"))); // y: empty, 33 bytes: at the limit
  assertFalse(decoder.tooLarge);
  decode(concat(INSERT_X, hex("40 01 7a 01 32"), hex("40 01 79 00")));
  assert(decoder.tooLarge);
  decode(NEWEST);
  assertFalse(decoder.tooLarge);
  assertEquals(pairs(decoder), [["y", ""]]);
  decode(hex("bf"));
  assertEquals(pairs(decoder), [["z", "2"]]);
  decode(hex("c0"));
  assertEquals(pairs(decoder), [["x", "1"]]);
});

Deno.test("HpackDecoder flags the same list each time, indexed fields and per-call ones too", () => {
  const { decoder, decode } = setUp({ maxListBytes: 80, perCall: ["grpc-timeout"] });
  for (let i = 0; i < 3; i++) {
    decode(hex("82 82 82"));
    assert(decoder.tooLarge);
    decode(block([["grpc-timeout", "1S"], ["grpc-timeout", "2S"]]));
    assert(decoder.tooLarge);
    decode(hex("82"));
    assertFalse(decoder.tooLarge);
  }
});

Deno.test("HpackDecoder goes on after a cache forgot everything", () => {
  const cache = new HeaderCache();
  const { decoder, decode } = setUp({ cache });
  decode(INSERT_X);
  decode(concat(hex("83"), NEWEST));
  for (let i = 0; i < 5_000; i++) cache.list([["x-flood", `${i}`]]);
  for (let i = 0; i < 3; i++) {
    decode(concat(hex("83"), NEWEST));
    assertEquals(pairs(decoder), [[":method", "POST"], ["x", "1"]]);
    decode(concat(hex("84"), NEWEST));
    assertEquals(pairs(decoder), [[":path", "/"], ["x", "1"]]);
  }
});

Deno.test("HpackDecoder marks never-indexed literals as sensitive, and only those", () => {
  const { decoder, decode } = setUp();
  decode(hex("10 01 78 01 31  00 01 78 01 31  1f 08 01 73")); // authorization by its index
  assertEquals(decoder.list.fields.map((field) => field.sensitive), [true, false, true]);
  assertEquals(pairs(decoder), [["x", "1"], ["x", "1"], ["authorization", "s"]]);
});

Deno.test("HpackDecoder survives random blocks, and either takes or refuses each", () => {
  const cache = new HeaderCache((name) => name === "grpc-timeout");
  let taken = 0;
  for (let seed = 1; seed <= 3_000; seed++) {
    const random = rng(seed);
    const { decoder } = setUp({ cache, maxListBytes: 500 });
    for (let round = 0; round < 4; round++) {
      const bytes = randomBlock(random);
      const broken = decoder.decode(bytes, 0, bytes.length);
      if (broken !== "") break;
      taken++;
      assert(decoder.list.size <= 500, `seed ${seed}`);
    }
  }
  assert(taken > 1_000, `only ${taken} blocks were legal`);
});

function setUp(
  { perCall = [], maxListBytes = 65_536, cache }: {
    perCall?: string[];
    maxListBytes?: number;
    cache?: HeaderCache;
  } = {},
) {
  const decoder = new HpackDecoder(cache ?? new HeaderCache((name) => perCall.includes(name)), {
    maxListBytes,
  });
  /** Decodes a block that is legal. */
  function decode(bytes: Uint8Array): void {
    assertEquals(decoder.decode(bytes, 0, bytes.length), "");
  }
  return { decoder, decode };
}

function pairs(decoder: HpackDecoder): Pairs {
  return pairsOf(decoder.list.fields);
}

/** Values in the dynamic table, newest first. */
function table(decoder: HpackDecoder): string[] {
  const values: string[] = [];
  for (let index = 62; decoder.decode(Uint8Array.of(0x80 | index), 0, 1) === ""; index++) {
    values.push(decoder.list.fields[0]!.value);
  }
  return values;
}

/** A string literal in Huffman code, of less than 127 bytes. */
function coded(text: string): Uint8Array {
  const length = huffmanLength(text);
  const bytes = new Uint8Array(1 + length);
  bytes[0] = 0x80 | length;
  huffmanEncode(text, bytes, 1);
  return bytes;
}

/** Mostly legal fields, with a byte changed now and then. */
function randomBlock(random: () => number): Uint8Array {
  const pick = (count: number) => Math.floor(random() * count);
  const parts = Array.from({ length: pick(6) }, () => {
    const value = coded("v".repeat(pick(30)));
    switch (pick(6)) {
      case 0:
        return Uint8Array.of(0x80 | (1 + pick(63)));
      case 1:
        return concat(Uint8Array.of(0x40 | (1 + pick(60))), value);
      case 2:
        return concat(hex("40 01"), ascii("x"), value);
      case 3:
        return concat(hex("00"), coded("grpc-timeout"), value);
      case 4:
        return concat(Uint8Array.of(0x10 | (1 + pick(14))), value);
      default:
        return random() < 0.3 ? Uint8Array.of(0x20 | pick(31)) : hex("be");
    }
  });
  const bytes = concat(...parts);
  if (bytes.length > 0 && random() < 0.3) bytes[pick(bytes.length)] = pick(256);
  return bytes;
}
