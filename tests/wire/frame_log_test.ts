import { assert, assertEquals } from "@std/assert";
import { FLAG, FRAME, FrameLog } from "../../lib/wire/mod.ts";
import { rng } from "../support/cuts.ts";
import { splitFrames } from "../support/frame_parser.ts";
import { concat, pattern } from "../support/frames.ts";

interface Shape {
  type: number;
  flags: number;
  length: number;
}

Deno.test("FrameLog makes one frame of a short block and of short data", () => {
  const log = new FrameLog();
  log.appendHeaders(pattern(10), false);
  log.appendData(pattern(20), 5, 15);
  assertEquals(shapes(log), [
    { type: FRAME.headers, flags: FLAG.endHeaders, length: 10 },
    { type: FRAME.data, flags: 0, length: 10 },
  ]);
  const [, frame] = framesOf(log);
  assertEquals(frame?.payload, pattern(20).slice(5, 15));
  assertEquals([log.dataBytes, log.ended, log.end], [10, false, 2 * 9 + 20]);
});

for (
  const [length, sizes] of [
    [0, [0]],
    [1, [1]],
    [16_383, [16_383]],
    [16_384, [16_384]],
    [16_385, [16_384, 1]],
    [32_768, [16_384, 16_384]],
    [40_000, [16_384, 16_384, 7_232]],
  ] as const
) {
  Deno.test(`FrameLog cuts data of ${length} bytes into frames any peer takes`, () => {
    const log = new FrameLog();
    log.appendData(pattern(length), 0, length, true);
    assertEquals(
      shapes(log),
      sizes.map((size, i) => ({
        type: FRAME.data,
        flags: i === sizes.length - 1 ? FLAG.endStream : 0,
        length: size,
      })),
    );
    assertEquals(concat(...framesOf(log).map((frame) => frame.payload)), pattern(length));
    assertEquals([log.dataBytes, log.ended], [length, true]);
  });

  Deno.test(`FrameLog cuts a block of ${length} bytes into HEADERS and CONTINUATION`, () => {
    const log = new FrameLog();
    log.appendHeaders(pattern(length), true);
    assertEquals(
      shapes(log),
      sizes.map((size, i) => ({
        type: i === 0 ? FRAME.headers : FRAME.continuation,
        // END_STREAM is on HEADERS alone, END_HEADERS on the last (RFC 9113 §6.2, §6.10).
        flags: (i === 0 ? FLAG.endStream : 0) | (i === sizes.length - 1 ? FLAG.endHeaders : 0),
        length: size,
      })),
    );
    assertEquals(concat(...framesOf(log).map((frame) => frame.payload)), pattern(length));
    assertEquals([log.dataBytes, log.ended], [0, true]);
  });
}

Deno.test("FrameLog.dropBefore keeps positions and what is after them", () => {
  const log = new FrameLog();
  const starts: number[] = [];
  for (let i = 0; i < 40; i++) {
    starts.push(log.end);
    log.appendData(Uint8Array.of(i, ...new Uint8Array(9_999)), 0, 10_000);
  }
  const { end } = log;
  for (const [i, start] of starts.entries()) {
    log.dropBefore(start);
    assertEquals([log.start, log.end, log.dataBytes], [start, end, 400_000]);
    assertEquals(framesOf(log).map((frame) => frame.payload[0]), starts.map((_, j) => j).slice(i));
  }
});

Deno.test("FrameLog.dropBefore lets storage be used again, so that a long stream stays small", () => {
  const log = new FrameLog();
  const piece = pattern(10_000);
  for (let i = 0; i < 1_000; i++) {
    log.appendData(piece, 0, piece.length);
    log.dropBefore(log.end - 10_009);
    assertEquals(framesOf(log).length, 1);
  }
  assertEquals(framesOf(log)[0]?.payload, piece);
  assert(log.heldBytes < 300_000, `${log.heldBytes} bytes held after 10 MB went through`);
});

Deno.test("FrameLog.dropBefore goes neither back nor past the end", () => {
  const log = new FrameLog();
  log.appendData(pattern(100), 0, 100);
  log.dropBefore(50);
  log.dropBefore(10);
  assertEquals(log.start, 50);
  log.dropBefore(10_000);
  assertEquals([log.start, log.end], [109, 109]);
});

Deno.test("FrameLog.expect has storage grow in few steps, to no more than what is expected needs", () => {
  const total = 62 * 16_384; // frame heads included, little less than the largest piece that is asked for
  const sizesOf = (expects: boolean) => {
    const log = new FrameLog();
    const sizes = new Set<number>();
    for (let sent = 0; sent < total; sent += 16_384) {
      log.appendData(pattern(16_384), 0, 16_384);
      sizes.add(log.heldBytes);
      if (expects) log.expect(total - log.dataBytes);
    }
    log.appendHeaders(pattern(30), true);
    assertEquals(framesOf(log).length, 63);
    assertEquals(log.heldBytes, 1_114_112);
    return [...sizes];
  };
  assertEquals(sizesOf(true), [17_408, 139_264, 1_114_112]);
  assertEquals(sizesOf(false), [17_408, 34_816, 69_632, 139_264, 278_528, 557_056, 1_114_112]);
});

Deno.test("FrameLog.expect takes nothing at once, and no more than eight times what has come", () => {
  const log = new FrameLog();
  log.appendData(pattern(20), 0, 20);
  const before = log.heldBytes;
  log.expect(2 ** 31);
  assertEquals(log.heldBytes, before);
  log.appendData(pattern(500), 0, 500);
  assertEquals(log.heldBytes, 1_536);
});

Deno.test("FrameLog.expect is of no account where what was read is dropped", () => {
  const log = new FrameLog();
  log.appendData(pattern(16_384), 0, 16_384);
  log.appendData(pattern(10), 0, 10);
  log.dropBefore(9 + 16_384);
  log.expect(2 ** 20);
  for (let i = 0; i < 3; i++) log.appendData(pattern(16_384), 0, 16_384);
  assertEquals(log.heldBytes, 69_632);
});

Deno.test("FrameLog.settle holds exactly what is in it and can still grow", () => {
  const log = new FrameLog();
  log.appendHeaders(pattern(30), false);
  log.appendData(pattern(50), 0, 50);
  const before = framesOf(log);
  log.settle();
  assertEquals(log.heldBytes, log.end);
  assertEquals(log.bytes.buffer.byteLength, log.end, "storage of its own");
  assertEquals(framesOf(log), before);
  log.appendData(pattern(7), 0, 7, true);
  assertEquals(framesOf(log).length, 3);
});

Deno.test("FrameLog.settle after dropBefore keeps positions", () => {
  const log = new FrameLog();
  log.appendData(pattern(50), 0, 50);
  const second = log.end;
  log.appendData(pattern(60), 0, 60, true);
  log.dropBefore(second);
  log.settle();
  assertEquals([log.start, log.end, log.heldBytes], [second, second + 69, 69]);
  assertEquals(framesOf(log).map((frame) => frame.payload), [pattern(60)]);
});

Deno.test("FrameLog.clear forgets everything", () => {
  const log = new FrameLog();
  log.appendData(pattern(200_000), 0, 200_000, true);
  log.dropBefore(100_000);
  log.clear();
  assertEquals(log, new FrameLog());
  log.appendHeaders(pattern(3), true);
  assertEquals(framesOf(log).map((frame) => frame.payload), [pattern(3)]);
});

Deno.test("FrameLog keeps its frames apart from those of other small logs", () => {
  const logs = Array.from({ length: 2_000 }, (_, i) => {
    const log = new FrameLog();
    log.appendData(new Uint8Array(50).fill(i), 0, 50);
    return log;
  });
  for (const [i, log] of logs.entries()) {
    log.appendData(new Uint8Array(i % 300).fill(i), 0, i % 300);
  }
  for (const [i, log] of logs.entries()) {
    const payload = concat(...framesOf(log).map((frame) => frame.payload));
    assertEquals(payload, new Uint8Array(50 + i % 300).fill(i), `log ${i}`);
  }
});

Deno.test("FrameLog holds what was appended, whatever logs beside it are cleared, settled or dropped", () => {
  for (let seed = 1; seed <= 5; seed++) {
    const random = rng(seed);
    const pick = (most: number) => Math.floor(random() * most);
    const logs = Array.from(
      { length: 30 },
      () => ({ log: new FrameLog(), frames: [] as string[] }),
    );
    for (let round = 0; round < 1_000; round++) {
      const entry = logs[pick(logs.length)]!;
      const { log, frames } = entry;
      const choice = random();
      if (choice < 0.7) {
        const bytes = new Uint8Array(pick(random() < 0.9 ? 300 : 6_000)).fill(pick(256));
        log.appendData(bytes, 0, bytes.length);
        frames.push(`${bytes[0]} x ${bytes.length}`);
      } else if (choice < 0.8) {
        log.settle();
      } else if (choice < 0.9) {
        log.clear();
        frames.length = 0;
      } else {
        entry.log = new FrameLog();
        entry.frames = [];
      }
      const checked = logs[pick(logs.length)]!;
      const held = framesOf(checked.log).map(({ payload }) => {
        assert(payload.every((byte) => byte === payload[0]), `seed ${seed}, round ${round}`);
        return `${payload[0]} x ${payload.length}`;
      });
      assertEquals(held, checked.frames, `seed ${seed}, round ${round}`);
    }
  }
});

function framesOf(log: FrameLog) {
  const frames = splitFrames(log.bytes.slice(log.start - log.shift, log.end - log.shift));
  assert(frames.every((frame) => frame.streamId === 0));
  return frames;
}

function shapes(log: FrameLog): Shape[] {
  return framesOf(log).map(({ type, flags, payload }) => ({ type, flags, length: payload.length }));
}

Deno.test("FrameLog joins its DATA, whatever frames it is in", () => {
  const body = pattern(50_000);
  const log = new FrameLog();
  for (const [from, to] of [[0, 1], [1, 1], [1, 40_000], [40_000, 50_000]] as const) {
    log.appendData(body, from, to);
  }
  assertEquals(log.data(), body);
  assertEquals(new FrameLog().data().length, 0);
});
