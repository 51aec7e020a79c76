import { assert, assertEquals } from "@std/assert";
import { huffmanDecode, huffmanEncode, huffmanLength } from "../../../lib/wire/huffman.ts";
import { latin1 } from "../../../lib/wire/mod.ts";
import type { Draws } from "../draws.ts";
import type { Target } from "../run.ts";

const LONGEST = 60;

/** Every text comes back, and bytes that decode at all are the ones that their text is encoded to. */
export const huffman: Target = {
  name: "huffman",
  about: "the static code, both ways (RFC 7541 §5.2)",
  run(draws) {
    const text = randomText(draws);
    const coded = encoded(text);
    assertEquals(decoded(coded), text);
    const bytes = draws.chance(0.5) ? draws.bytes(draws.below(LONGEST)) : mutated(coded, draws);
    const found = decoded(bytes);
    if (found !== undefined) assertEquals(encoded(found), bytes, "another code for the same text");
  },
};

function randomText(draws: Draws): string {
  const printable = draws.chance(0.7);
  const code = () => printable ? draws.between(0x20, 0x7e) : draws.below(256);
  return Array.from({ length: draws.below(LONGEST) }, () => String.fromCharCode(code())).join("");
}

function mutated(bytes: Uint8Array, draws: Draws): Uint8Array {
  const copy = bytes.slice(0, bytes.length - draws.small(3));
  if (copy.length > 0) copy[draws.below(copy.length)] = draws.below(256);
  return copy;
}

function encoded(text: string): Uint8Array {
  const length = huffmanLength(text);
  const out = new Uint8Array(length + 1);
  huffmanEncode(text, out, 0);
  assertEquals(out[length], 0, "more bytes than it said");
  return out.subarray(0, length);
}

function decoded(bytes: Uint8Array): string | undefined {
  const room = bytes.length * 2; // the shortest code has five bits
  const out = new Uint8Array(room);
  const length = huffmanDecode(bytes, 0, bytes.length, out);
  if (length < 0) return undefined;
  assert(length <= room, "more text than there is room for");
  return latin1(out, 0, length);
}
