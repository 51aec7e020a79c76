/**
 * What one request head of nine fields costs, there and back, once both tables are warm. Run with
 * `deno bench bench/wire/`.
 *
 * @module
 */

import {
  DEFAULT_TABLE_BYTES,
  encodeStateless,
  Field,
  HeaderCache,
  HpackDecoder,
  HpackEncoder,
  OutputBuffer,
} from "../../lib/wire/mod.ts";
import { writeCodedString, writeInteger } from "../../lib/wire/hpack_encoder.ts";
import { huffmanDecode, huffmanEncode, huffmanLength } from "../../lib/wire/huffman.ts";
import { STATIC_TABLE } from "../../lib/wire/static_table.ts";

/** More than the decoder remembers whole, so that going round them misses each time. */
const DISTINCT_BLOCKS = 4;

/** Calls of a busy caller; they fill its table some four times, so that what is evicted is sent again, too. */
const BUSY_CALLS = 100;

/** Table size updates to 0 and back to 4,096: the table is empty again. */
const EMPTY_TABLE = [0x20, 0x3f, 0xe1, 0x1f];

interface Sent {
  readonly name: string;
  readonly value: string;
  /** It goes into the table (RFC 7541 §6.2.1), or does not (§6.2.2). */
  readonly indexing: boolean;
}

/** Writes fields as the encoder of Go does: all that may be goes into the table, and a known name is an index. */
class GoTable {
  #entries: Sent[] = []; // newest first

  write(block: OutputBuffer, field: Sent): void {
    const { name, value, indexing } = field;
    const all = [...STATIC_TABLE.map(([name, value]) => ({ name, value })), ...this.#entries];
    const found = all.findIndex((entry) => entry.name === name && entry.value === value);
    if (found >= 0) return writeInteger(block, 0x80, 7, found + 1);
    const named = all.findIndex((entry) => entry.name === name) + 1;
    writeInteger(block, indexing ? 0x40 : 0x00, indexing ? 6 : 4, named);
    if (named === 0) writeCodedString(block, name);
    writeCodedString(block, value);
    if (indexing) this.#insert(field);
  }

  #insert(field: Sent): void {
    this.#entries.unshift(field);
    const bytes = (entry: Sent) => entry.name.length + entry.value.length + 32;
    while (this.#entries.reduce((sum, entry) => sum + bytes(entry), 0) > DEFAULT_TABLE_BYTES) {
      this.#entries.pop();
    }
  }
}

const PER_CALL = new Set(["grpc-timeout", "traceparent"]);

const cache = new HeaderCache((name) => PER_CALL.has(name));

/** What a grpc-go client sends; the authority tells the blocks apart. */
function head(authority: string): readonly Field[] {
  return cache.list([
    [":method", "POST"],
    [":scheme", "http"],
    [":path", "/hello.v1.Hello/SayHello"],
    [":authority", authority],
    ["content-type", "application/grpc"],
    ["user-agent", "grpc-go/1.72.0"],
    ["te", "trailers"],
    ["grpc-accept-encoding", "gzip"],
    ["authorization", "Bearer 0123456789abcdef0123456789abcdef"],
  ]).fields;
}

const heads = Array.from({ length: DISTINCT_BLOCKS }, (_, i) => head(`service-${i}.test:50052`));
const timeout = new Field("grpc-timeout", "999871u", { perCall: true });
const encoder = new HpackEncoder();
const decoder = new HpackDecoder(cache, { maxListBytes: 65_536 });
const out = new OutputBuffer();

// The first blocks say everything, the later ones are one byte a field.
for (let round = 0; round < 3; round++) {
  for (const fields of heads) decode(encode(fields));
}
const warm = heads.map(encode);
const withTimeout = encode([...heads[0]!, timeout]);
const literal = encodeStateless(heads[0]!);
for (const [i, block] of warm.entries()) {
  if (block.length !== heads[i]!.length) throw new Error("Cannot measure: the tables are not warm");
}
const knownTraceparent = cache.name("traceparent");
let turn = 0;

Deno.bench({
  group: "decode a head of nine fields",
  name: "the same block again, from memory",
  baseline: true,
  fn() {
    decode(warm[0]!);
  },
});

Deno.bench({
  group: "decode a head of nine fields",
  name: `one of ${DISTINCT_BLOCKS} blocks in turn, field by field`,
  fn() {
    decode(warm[turn++ % DISTINCT_BLOCKS]!);
  },
});

Deno.bench({
  group: "decode a head of nine fields",
  name: "the same with grpc-timeout, which is never remembered",
  fn() {
    decode(withTimeout);
  },
});

Deno.bench({
  group: "decode a head of nine fields",
  name: "one of 4 literal blocks in turn: nothing is indexed",
  fn() {
    // A byte that differs keeps the memory out of it.
    literal[literal.length - 1] = 0x61 + (turn++ & 3);
    decode(literal);
  },
});

for (
  const [name, indexing] of [
    ["into the table, as grpc-go sends them", true],
    ["nowhere, and are spelled out each time", false],
  ] as const
) {
  const blocks = busyCaller(indexing);
  const own = new HpackDecoder(cache, { maxListBytes: 65_536 });
  Deno.bench({
    group: `${BUSY_CALLS} heads of nine fields, and grpc-timeout and traceparent in Huffman code`,
    name: `decode: the two are put ${name}`,
    baseline: indexing,
    fn() {
      for (const block of blocks) {
        const broken = own.decode(block, 0, block.length);
        if (broken !== "" || own.perCall.length !== 2) throw new Error("Cannot decode the block");
      }
    },
  });
}

Deno.bench({
  group: "encode a head of nine fields",
  name: "warm, one byte a field",
  baseline: true,
  fn() {
    write(heads[0]!);
  },
});

Deno.bench({
  group: "encode a head of nine fields",
  name: "warm, with grpc-timeout as a literal",
  fn() {
    write(heads[0]!);
    encoder.write(out, timeout);
  },
});

Deno.bench({
  group: "encode a head of nine fields",
  name: "stateless, made anew",
  fn() {
    encodeStateless(heads[0]!);
  },
});

for (
  const [group, text] of [
    ["Huffman code of a token of 39 characters", "Bearer 0123456789abcdef0123456789abcdef"],
    ["Huffman code of a traceparent of 55 characters", traceparent(1)],
    ["Huffman code of 52 characters that are rare", '{"^~<\\|>": "!"}'.repeat(4).slice(0, 52)],
  ] as const
) {
  const coded = new Uint8Array(huffmanLength(text));
  const scratch = new Uint8Array(2 * coded.length);
  huffmanEncode(text, coded, 0);
  Deno.bench({
    group,
    name: "decode",
    baseline: true,
    fn() {
      huffmanDecode(coded, 0, coded.length, scratch);
    },
  });
  Deno.bench({
    group,
    name: "encode",
    fn() {
      huffmanEncode(text, coded, 0);
    },
  });
}

Deno.bench({
  group: "a field of one call",
  name: "made by the cache",
  baseline: true,
  fn() {
    cache.field(knownTraceparent, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", false);
  },
});

Deno.bench({
  group: "a field of one call",
  name: "made by hand",
  fn() {
    new Field("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", {
      perCall: true,
    });
  },
});

/** Deterministic, different for each call, and as hexadecimal as any. */
function traceparent(call: number): string {
  const digits = (count: number, factor: number) =>
    Array.from({ length: count }, (_, i) => ((call * factor + i * i * 7) % 16).toString(16)).join(
      "",
    );
  return `00-${digits(32, 5)}-${digits(16, 3)}-01`;
}

/** The blocks of {@linkcode BUSY_CALLS} calls, in order; they may be sent over and over. */
function busyCaller(indexing: boolean): Uint8Array[] {
  const table = new GoTable();
  return Array.from({ length: BUSY_CALLS }, (_, call) => {
    const block = new OutputBuffer();
    if (call === 0) { for (const byte of EMPTY_TABLE) block.byte(byte); }
    for (const { name, value } of heads[0]!) table.write(block, { name, value, indexing: true });
    table.write(block, { name: "grpc-timeout", value: `${999_000 + call}u`, indexing });
    table.write(block, { name: "traceparent", value: traceparent(call), indexing });
    return block.bytes.slice(0, block.length);
  });
}

function encode(fields: readonly Field[]): Uint8Array {
  write(fields);
  return out.bytes.slice(0, out.length);
}

function write(fields: readonly Field[]): void {
  out.clear();
  for (const field of fields) encoder.write(out, field);
}

function decode(block: Uint8Array): void {
  const broken = decoder.decode(block, 0, block.length);
  if (broken !== "") throw new Error(`Cannot decode what was encoded: ${broken}`);
}
