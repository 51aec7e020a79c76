/**
 * RFC 7541 Appendix C, complete. Each example of C.3 to C.6 is one connection: its blocks are decoded
 * one after another, and the dynamic table is asked for after each.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import {
  Field,
  HeaderCache,
  HpackDecoder,
  HpackEncoder,
  OutputBuffer,
} from "../../lib/wire/mod.ts";
import { writeInteger } from "../../lib/wire/hpack_encoder.ts";
import { concat, type Pairs, pairsOf } from "../support/frames.ts";
import { hex, toHex } from "../support/hex.ts";

interface Step {
  readonly section: string;
  readonly wire: string;
  readonly fields: Pairs;
  /** The dynamic table afterwards, newest first. */
  readonly table: Pairs;
}

for (
  const { section, prefixBits, value, wire } of [
    { section: "C.1.1", prefixBits: 5, value: 10, wire: "0a" },
    { section: "C.1.2", prefixBits: 5, value: 1337, wire: "1f 9a 0a" },
    { section: "C.1.3", prefixBits: 8, value: 42, wire: "2a" },
  ]
) {
  Deno.test(`writeInteger writes ${value} as RFC 7541 ${section} does`, () => {
    const out = new OutputBuffer();
    writeInteger(out, 0, prefixBits, value);
    assertEquals(toHex(out.bytes.subarray(0, out.length)), wire);
  });
}

Deno.test("HpackDecoder reads the integers of RFC 7541 C.1.1 and C.1.2 as table sizes", () => {
  const decoder = newDecoder();
  decode(decoder, hex("2a  40 01 61 00")); // 10 bytes: no entry fits
  assertEquals(tableOf(decoder), []);
  // 1337 bytes: an entry of that size fits, one of a byte more does not.
  const fits = concat(hex("40 01 61  7f 99 09"), new Uint8Array(1304).fill(0x78));
  assertEquals(fits.length - 6 + 1 + 32, 1337);
  decode(decoder, concat(hex("3f 9a 0a"), fits));
  assertEquals(tableOf(decoder).length, 1);
  decode(decoder, concat(hex("3f 99 0a"), fits));
  assertEquals(tableOf(decoder), []);
});

for (
  const { section, wire, fields, table } of [
    {
      section: "C.2.1",
      wire: "40 0a 63 75 73 74 6f 6d 2d 6b 65 79 0d 63 75 73 74 6f 6d 2d 68 65 61 64 65 72",
      fields: [["custom-key", "custom-header"]],
      table: [["custom-key", "custom-header"]],
    },
    {
      section: "C.2.2",
      wire: "04 0c 2f 73 61 6d 70 6c 65 2f 70 61 74 68",
      fields: [[":path", "/sample/path"]],
      table: [],
    },
    {
      section: "C.2.3",
      wire: "10 08 70 61 73 73 77 6f 72 64 06 73 65 63 72 65 74",
      fields: [["password", "secret"]],
      table: [],
    },
    { section: "C.2.4", wire: "82", fields: [[":method", "GET"]], table: [] },
  ] satisfies Step[]
) {
  Deno.test(`HpackDecoder decodes RFC 7541 ${section}`, () => {
    const decoder = newDecoder();
    assertEquals(decode(decoder, hex(wire)), fields);
    assertEquals(decoder.list.fields[0]?.sensitive, section === "C.2.3");
    assertEquals(tableOf(decoder), table);
  });
}

const AUTHORITY = [":authority", "www.example.com"] as const;
const NO_CACHE = ["cache-control", "no-cache"] as const;
const CUSTOM = ["custom-key", "custom-value"] as const;
const GET = [":method", "GET"] as const;
const ROOT = [":path", "/"] as const;
const HTTP = [":scheme", "http"] as const;

const REQUESTS: readonly Omit<Step, "section" | "wire">[] = [
  { fields: [GET, HTTP, ROOT, AUTHORITY], table: [AUTHORITY] },
  { fields: [GET, HTTP, ROOT, AUTHORITY, NO_CACHE], table: [NO_CACHE, AUTHORITY] },
  {
    fields: [GET, [":scheme", "https"], [":path", "/index.html"], AUTHORITY, CUSTOM],
    table: [CUSTOM, NO_CACHE, AUTHORITY],
  },
];

const REQUEST_WIRES = {
  "C.3": [
    "82 86 84 41 0f 77 77 77 2e 65 78 61 6d 70 6c 65 2e 63 6f 6d",
    "82 86 84 be 58 08 6e 6f 2d 63 61 63 68 65",
    "82 87 85 bf 40 0a 63 75 73 74 6f 6d 2d 6b 65 79 0c 63 75 73 74 6f 6d 2d 76 61 6c 75 65",
  ],
  "C.4": [
    "82 86 84 41 8c f1 e3 c2 e5 f2 3a 6b a0 ab 90 f4 ff",
    "82 86 84 be 58 86 a8 eb 10 64 9c bf",
    "82 87 85 bf 40 88 25 a8 49 e9 5b a9 7d 7f 89 25 a8 49 e9 5b b8 e8 b4 bf",
  ],
};

const PRIVATE = ["cache-control", "private"] as const;
const DATE = ["date", "Mon, 21 Oct 2013 20:13:21 GMT"] as const;
const LATER = ["date", "Mon, 21 Oct 2013 20:13:22 GMT"] as const;
const LOCATION = ["location", "https://www.example.com"] as const;
const GZIP = ["content-encoding", "gzip"] as const;
const COOKIE = [
  "set-cookie",
  "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
] as const;
const FOUND = [":status", "302"] as const;
const TEMPORARY = [":status", "307"] as const;

const RESPONSES: readonly Omit<Step, "section" | "wire">[] = [
  { fields: [FOUND, PRIVATE, DATE, LOCATION], table: [LOCATION, DATE, PRIVATE, FOUND] },
  { fields: [TEMPORARY, PRIVATE, DATE, LOCATION], table: [TEMPORARY, LOCATION, DATE, PRIVATE] },
  {
    fields: [[":status", "200"], PRIVATE, LATER, LOCATION, GZIP, COOKIE],
    table: [COOKIE, GZIP, LATER],
  },
];

/** The examples have a table of 256 bytes by agreement; here the first block says so. */
const TABLE_OF_256 = "3f e1 01 ";

const RESPONSE_WIRES = {
  "C.5": [
    TABLE_OF_256 +
    "48 03 33 30 32 58 07 70 72 69 76 61 74 65 61 1d 4d 6f 6e 2c 20 32 31 20 4f 63 74 20 32 30 31 " +
    "33 20 32 30 3a 31 33 3a 32 31 20 47 4d 54 6e 17 68 74 74 70 73 3a 2f 2f 77 77 77 2e 65 78 61 " +
    "6d 70 6c 65 2e 63 6f 6d",
    "48 03 33 30 37 c1 c0 bf",
    "88 c1 61 1d 4d 6f 6e 2c 20 32 31 20 4f 63 74 20 32 30 31 33 20 32 30 3a 31 33 3a 32 32 20 47 " +
    "4d 54 c0 5a 04 67 7a 69 70 77 38 66 6f 6f 3d 41 53 44 4a 4b 48 51 4b 42 5a 58 4f 51 57 45 4f " +
    "50 49 55 41 58 51 57 45 4f 49 55 3b 20 6d 61 78 2d 61 67 65 3d 33 36 30 30 3b 20 76 65 72 73 " +
    "69 6f 6e 3d 31",
  ],
  "C.6": [
    TABLE_OF_256 +
    "48 82 64 02 58 85 ae c3 77 1a 4b 61 96 d0 7a be 94 10 54 d4 44 a8 20 05 95 04 0b 81 66 e0 82 " +
    "a6 2d 1b ff 6e 91 9d 29 ad 17 18 63 c7 8f 0b 97 c8 e9 ae 82 ae 43 d3",
    "48 83 64 0e ff c1 c0 bf",
    "88 c1 61 96 d0 7a be 94 10 54 d4 44 a8 20 05 95 04 0b 81 66 e0 84 a6 2d 1b ff c0 5a 83 9b d9 " +
    "ab 77 ad 94 e7 82 1d d7 f2 e6 c7 b3 35 df df cd 5b 39 60 d5 af 27 08 7f 36 72 c1 ab 27 0f b5 " +
    "29 1f 95 87 31 60 65 c0 03 ed 4e e5 b1 06 3d 50 07",
  ],
};

for (const [section, wires] of Object.entries({ ...REQUEST_WIRES, ...RESPONSE_WIRES })) {
  Deno.test(`HpackDecoder decodes RFC 7541 ${section} with its table`, () => {
    const steps = section in REQUEST_WIRES ? REQUESTS : RESPONSES;
    const decoder = newDecoder();
    steps.forEach(({ fields, table }, i) => {
      assertEquals(decode(decoder, hex(wires[i]!)), fields, `${section}.${i + 1}`);
      assertEquals(tableOf(decoder), table, `table after ${section}.${i + 1}`);
    });
  });
}

Deno.test("HpackEncoder writes RFC 7541 C.4 where each field has been met before", () => {
  const cache = new HeaderCache();
  const encoder = new HpackEncoder();
  REQUESTS.forEach(({ fields }, i) => {
    const out = new OutputBuffer();
    for (const field of cache.list(fields).fields) {
      field.uses = 1;
      encoder.write(out, field);
    }
    assertEquals(toHex(out.bytes.subarray(0, out.length)), REQUEST_WIRES["C.4"][i]);
  });
});

Deno.test("HpackEncoder writes RFC 7541 C.2.3, a literal that is never indexed", () => {
  const out = new OutputBuffer();
  new HpackEncoder().write(out, new Field("password", "secret", { sensitive: true }));
  assertEquals(
    toHex(out.bytes.subarray(0, out.length)),
    "10 08 70 61 73 73 77 6f 72 64 06 73 65 63 72 65 74",
  );
});

function newDecoder(): HpackDecoder {
  return new HpackDecoder(new HeaderCache(), { maxListBytes: 65_536 });
}

function decode(decoder: HpackDecoder, bytes: Uint8Array): Pairs {
  assertEquals(decoder.decode(bytes, 0, bytes.length), "");
  return pairsOf(decoder.list.fields);
}

/** Index 62 is the newest entry; the first index without one ends the table. */
function tableOf(decoder: HpackDecoder): Pairs {
  const table: [string, string][] = [];
  for (let index = 62; decoder.decode(Uint8Array.of(0x80 | index), 0, 1) === ""; index++) {
    const { name, value } = decoder.list.fields[0]!;
    table.push([name, value]);
  }
  return table;
}
