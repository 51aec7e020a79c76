import { assert, assertEquals, assertFalse } from "@std/assert";
import { HeaderBlock } from "../../lib/connection/header_block.ts";
import { pattern } from "../support/frames.ts";

Deno.test("HeaderBlock joins its pieces and says of which stream they are", () => {
  const block = new HeaderBlock();
  assertEquals(block.streamId, 0);
  block.begin(5, { endStream: true, selfDependent: false });
  assertEquals(block.streamId, 5);
  const bytes = pattern(1_000);
  for (let at = 0; at < 1_000; at += 100) assert(block.append(bytes, at, at + 100));
  const whole = block.take();
  assertEquals(whole.bytes.subarray(0, whole.length), bytes);
  assertEquals([whole.endStream, whole.selfDependent, block.streamId], [true, false, 0]);
});

Deno.test("HeaderBlock leaves what it handed out alone when the next block comes", () => {
  const block = new HeaderBlock();
  block.begin(1, { endStream: false, selfDependent: true });
  block.append(pattern(50), 0, 50);
  const first = block.take();
  block.begin(3, { endStream: false, selfDependent: false });
  block.append(new Uint8Array(50).fill(9), 0, 50);
  assertEquals(first.bytes.subarray(0, 50), pattern(50));
  assertEquals(first.selfDependent, true);
  assertEquals(block.take().length, 50);
});

Deno.test("HeaderBlock counts each block by itself", () => {
  const block = new HeaderBlock();
  for (let round = 0; round < 5; round++) {
    block.begin(1, { endStream: false, selfDependent: false });
    for (let frame = 0; frame < 33; frame++) assert(block.append(pattern(1), 0, 1));
    assertEquals(block.take().length, 33);
  }
  block.begin(1, { endStream: false, selfDependent: false });
  for (let frame = 0; frame < 33; frame++) assert(block.append(pattern(0), 0, 0));
  assertFalse(block.append(pattern(0), 0, 0), "HEADERS and 32 CONTINUATION are the most");
});

Deno.test("HeaderBlock takes 512 KiB and not a byte more", () => {
  const block = new HeaderBlock();
  block.begin(1, { endStream: false, selfDependent: false });
  const piece = new Uint8Array(128 * 1024);
  for (let i = 0; i < 4; i++) assert(block.append(piece, 0, piece.length));
  assertFalse(block.append(piece, 0, 1));
});
