import { assertEquals, assertNotEquals } from "@std/assert";
import { deflateSync, gzipSync } from "node:zlib";
import { frameMessage } from "../../lib/grpc/mod.ts";
import { AnswerReader } from "../../lib/trial/answer_reader.ts";
import { likeness } from "../../lib/trust/mod.ts";
import { FrameLog } from "../../lib/wire/mod.ts";
import { rng } from "../support/cuts.ts";

const PROTOBUF = { encoding: undefined, isProtobuf: true };

/** A reply of these framed messages, as it stands when `data` is there. */
function replyOf(
  log: FrameLog,
  format = PROTOBUF as { encoding: string | undefined; isProtobuf: boolean },
) {
  const rest = { ended: true, status: 0, largestListBytes: 0, knowsMethod: true };
  return { log, format, ...rest };
}

function joined(...parts: Uint8Array[]): Uint8Array {
  return new Uint8Array(parts.flatMap((part) => [...part]));
}

function printOf(
  bytes: Uint8Array,
  options: { format?: Parameters<typeof replyOf>[1]; status?: number } = {},
) {
  const log = new FrameLog();
  log.appendData(bytes, 0, bytes.length);
  const { format, status = 0 } = options;
  return new AnswerReader(undefined).end({ ...replyOf(log, format), status });
}

/** Bytes that a seed decides. */
function bytesOf(length: number, seed: number): Uint8Array {
  const next = rng(seed);
  return Uint8Array.from({ length }, () => Math.floor(next() * 256));
}

Deno.test("AnswerReader prints a reply alike however it is cut, and whatever was dropped of what it has read", () => {
  const messages = [bytesOf(0, 1), bytesOf(100, 2), bytesOf(300_000, 3), bytesOf(5, 4)];
  const whole = joined(...messages.map((message) => frameMessage(message)));
  const expected = printOf(whole);
  for (let seed = 1; seed <= 30; seed++) {
    const next = rng(seed);
    const log = new FrameLog();
    const reader = new AnswerReader(undefined);
    for (let at = 0; at < whole.length;) {
      const small = next() < 0.5 ? 20 : 40_000;
      const to = Math.min(whole.length, at + 1 + Math.floor(next() * small));
      log.appendData(whole, at, to);
      at = to;
      if (next() < 0.5) continue;
      reader.read(replyOf(log));
      log.dropBefore(log.end);
    }
    assertEquals(reader.end(replyOf(log)), expected, `seed ${seed}`);
  }
});

Deno.test("AnswerReader tells replies apart by a byte, by where messages end, and by their status", () => {
  const [a, b] = [bytesOf(40, 1), bytesOf(40, 2)];
  const both = printOf(joined(frameMessage(a), frameMessage(b)));
  const others = [
    printOf(joined(frameMessage(b), frameMessage(a))),
    printOf(frameMessage(joined(a, b))),
    printOf(joined(frameMessage(a), frameMessage(b)), { status: 5 }),
    printOf(frameMessage(a)),
  ];
  for (const other of others) assertEquals(likeness(both, other), "different");
});

Deno.test("AnswerReader looks into compressed messages, and takes what it cannot for what it is", () => {
  const text = new TextEncoder().encode("the same ".repeat(100));
  const plain = printOf(frameMessage(text));
  const zipped = (bytes: Uint8Array, encoding: string) =>
    printOf(frameMessage(bytes, true), { format: { encoding, isProtobuf: true } });
  assertEquals(zipped(gzipSync(text), "gzip"), plain);
  assertEquals(zipped(deflateSync(text), "deflate"), plain);
  assertNotEquals(zipped(gzipSync(text), "snappy"), plain); // not known here
  const bomb = gzipSync(new Uint8Array(64 << 20));
  assertEquals(zipped(bomb, "gzip"), zipped(bomb, "gzip")); // and is not unpacked
});

Deno.test("AnswerReader sees through the order of protobuf's fields alone where messages are protobuf", () => {
  const field = (number: number, value: string) =>
    Uint8Array.of(number << 3 | 2, value.length, ...new TextEncoder().encode(value));
  const [one, two] = [field(1, "\u0001one"), field(2, "\u0002two")];
  const orders = [joined(one!, two!), joined(two!, one!)].map((message) => frameMessage(message));
  const compare = (format?: Parameters<typeof replyOf>[1]) =>
    likeness(
      ...orders.map((bytes) => printOf(bytes, { format: format ?? PROTOBUF })) as [never, never],
    );
  assertEquals(compare(), "reordered");
  assertEquals(compare({ encoding: undefined, isProtobuf: false }), "different");
});
