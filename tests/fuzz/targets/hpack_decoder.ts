import { assert, assertEquals } from "@std/assert";
import { HeaderCache, HpackDecoder } from "../../../lib/wire/mod.ts";
import { STATIC_TABLE } from "../../../lib/wire/static_table.ts";
import type { Draws } from "../draws.ts";
import { randomFields } from "../fields.ts";
import { ModelDecoder, ModelEncoder, type ModelField, sizeOf } from "../models/hpack.ts";
import type { Target } from "../run.ts";

const MOST_BLOCKS = 12;

/** What the cache of both ends is told to leave out of lists. */
const PER_CALL = new Set(["content-length", "grpc-timeout", "x-request-id"]);

/** Shared by all cases, as it is by all connections; forgotten once in a while. */
let cache = newCache();
let casesLeft = 0;

/** Blocks in any coding there is, some broken: as a plain decoder reads them, table and all. */
export const hpackDecoder: Target = {
  name: "hpack-decoder",
  about: "header blocks in every legal coding and in broken ones (RFC 7541)",
  run(draws) {
    if (casesLeft-- <= 0) {
      cache = newCache();
      casesLeft = 500;
    }
    const maxListBytes = draws.pick([65_536, 300, 0]);
    const decoder = new HpackDecoder(cache, { maxListBytes });
    const model = new ModelDecoder();
    const encoder = new ModelEncoder(draws);
    let last: Uint8Array = new Uint8Array(0);
    for (let left = 1 + draws.below(MOST_BLOCKS); left > 0; left--) {
      const block = nextBlock(encoder, last, draws);
      last = block.slice();
      const around = new Uint8Array(block.length + 4).fill(0xff);
      around.set(block, 2);
      const broken = decoder.decode(around, 2, 2 + block.length);
      const expected = model.decode(block);
      draws.note(`block of ${block.length}: ${"broken" in expected ? expected.broken : "whole"}`);
      assertEquals(broken !== "", "broken" in expected, broken || JSON.stringify(expected));
      if ("broken" in expected) return;
      checkFields(decoder, expected.fields, maxListBytes);
      encoder.table.entries = [...model.table.entries]; // what was mutated is what counts
      encoder.table.maxBytes = model.table.maxBytes;
      if (draws.chance(0.3)) checkTable(decoder, model);
    }
  },
};

function newCache(): HeaderCache {
  return new HeaderCache((name) => PER_CALL.has(name));
}

function nextBlock(encoder: ModelEncoder, last: Uint8Array, draws: Draws): Uint8Array {
  if (draws.chance(0.2)) return last; // the decoder remembers blocks, as long as its table is the same
  const block = encoder.encode(randomFields(draws));
  if (block.length > 0 && draws.chance(0.1)) {
    block[draws.below(block.length)] = draws.below(256);
  }
  return draws.chance(0.03) ? block.slice(0, draws.below(block.length + 1)) : block;
}

function checkFields(
  decoder: HpackDecoder,
  expected: readonly ModelField[],
  maxListBytes: number,
): void {
  let listBytes = 0;
  const kept = expected.filter((field) => (listBytes += sizeOf(field)) <= maxListBytes);
  const plain = ({ name, value, sensitive }: ModelField) => ({
    name,
    value,
    sensitive: !!sensitive,
  });
  assertEquals(decoder.tooLarge, listBytes > maxListBytes, "tooLarge");
  assertEquals(
    decoder.list.fields.map(plain),
    kept.filter(({ name }) => !PER_CALL.has(name)).map(plain),
  );
  assertEquals(
    decoder.perCall.map(plain),
    kept.filter(({ name }) => PER_CALL.has(name)).map(plain),
  );
  let late = false; // a list shows the order of its own fields; what is left out of it would be missed
  for (const { name } of kept.slice(kept.findIndex((field) => PER_CALL.has(field.name)) + 1)) {
    if (name.startsWith(":")) late = kept.some((field) => PER_CALL.has(field.name));
  }
  if (late) assert(decoder.fault !== "", "a pseudo-header after a regular field");
}

/** Each entry of the table under test, read by its index, and none beyond. */
function checkTable(decoder: HpackDecoder, model: ModelDecoder): void {
  const { entries } = model.table;
  entries.forEach(({ name, value }, i) => {
    const index = STATIC_TABLE.length + 1 + i;
    const block = index < 127 ? Uint8Array.of(0x80 | index) : Uint8Array.of(0xff, index - 127);
    assertEquals(decoder.decode(block, 0, block.length), "", `entry ${i} is missing`);
    const [field] = [...decoder.list.fields, ...decoder.perCall];
    if (!decoder.tooLarge) assertEquals([field?.name, field?.value], [name, value], `entry ${i}`);
  });
}
