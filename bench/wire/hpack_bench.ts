/**
 * What one request head of nine fields costs, there and back, once both tables are warm. Run with
 * `deno bench bench/wire/`.
 *
 * @module
 */

import {
  encodeStateless,
  Field,
  HeaderCache,
  HpackDecoder,
  HpackEncoder,
  huffmanDecode,
  huffmanEncode,
  huffmanLength,
  OutputBuffer,
} from "../../lib/wire/mod.ts";

/** More than the decoder remembers whole, so that going round them misses each time. */
const DISTINCT_BLOCKS = 4;

const cache = new HeaderCache((name) => name === "grpc-timeout");

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

const token = "Bearer 0123456789abcdef0123456789abcdef";
const coded = new Uint8Array(huffmanLength(token));
const scratch = new Uint8Array(2 * coded.length);
huffmanEncode(token, coded, 0);

Deno.bench({
  group: "Huffman code of 39 characters",
  name: "decode",
  baseline: true,
  fn() {
    huffmanDecode(coded, 0, coded.length, scratch);
  },
});

Deno.bench({
  group: "Huffman code of 39 characters",
  name: "encode",
  fn() {
    huffmanEncode(token, coded, 0);
  },
});

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
