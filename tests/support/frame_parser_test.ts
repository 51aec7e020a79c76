import { assertEquals, assertThrows } from "@std/assert";
import { FLAG, FRAME } from "../../lib/wire/mod.ts";
import { FrameParser, splitFrames } from "./frame_parser.ts";
import {
  block,
  blockOf,
  concat,
  continuation,
  data,
  goAway,
  headers,
  pattern,
  ping,
  raw,
  REQUEST,
  RESPONSE,
  rstStream,
  settings,
  settingsAck,
  splitBlock,
  windowUpdate,
} from "./frames.ts";
import { hex, toHex } from "./hex.ts";

Deno.test("FrameParser reads back what the builders build", () => {
  const frames = concat(
    settings([3, 100]),
    settingsAck(),
    headers(1, REQUEST),
    data(1, "x", { endStream: true }),
    splitBlock(3, blockOf(20_000, RESPONSE)),
    ping(7, { ack: true }),
    rstStream(3, 8),
    windowUpdate(0, 5),
    goAway(3, 0, "bye"),
  );
  const seen = new FrameParser().read(frames);
  assertEquals(seen.map(({ type }) => type), [
    "SETTINGS",
    "SETTINGS ack",
    "HEADERS",
    "DATA",
    "HEADERS",
    "PING ack",
    "RST_STREAM",
    "WINDOW_UPDATE",
    "GOAWAY",
  ]);
  assertEquals(seen[2], { type: "HEADERS", streamId: 1, fields: REQUEST, endStream: false });
  assertEquals(seen[6], { type: "RST_STREAM", streamId: 3, code: "CANCEL" });
});

Deno.test("FrameParser throws for everything that may not be sent", () => {
  const illegal: [what: string, bytes: Uint8Array][] = [
    ["half a header", ping(1).subarray(0, 5)],
    ["half a frame", ping(1).subarray(0, 12)],
    ["a long frame", data(1, pattern(16_385))],
    ["half a block", headers(1, REQUEST, { endHeaders: false })],
    ["a frame within a block", concat(headers(1, block([]), { endHeaders: false }), ping(1))],
    ["CONTINUATION alone", continuation(1, block([]))],
    [
      "CONTINUATION of another",
      concat(headers(1, block([]), { endHeaders: false }), continuation(3, block([]))),
    ],
    ["a broken block", headers(1, hex("80"))],
    ["DATA on stream 0", data(0, "x")],
    ["PING on a stream", raw(FRAME.ping, { streamId: 1 }, pattern(8))],
    ["PING of a wrong size", raw(FRAME.ping, {}, pattern(7))],
    ["RST_STREAM of a wrong size", raw(FRAME.rstStream, { streamId: 1 }, pattern(3))],
    ["WINDOW_UPDATE of 0", windowUpdate(1, 0)],
    ["a loud acknowledgement", raw(FRAME.settings, { flags: FLAG.ack }, pattern(6))],
    ["a frame of unknown type", raw(0x42, { streamId: 1 })],
  ];
  for (const [what, bytes] of illegal) {
    assertThrows(() => new FrameParser().read(bytes), Error, "", what);
  }
});

Deno.test("blockOf makes blocks of exactly the length asked for", () => {
  for (const length of [200, 300, 16_384, 16_385, 200_000]) {
    assertEquals(blockOf(length, RESPONSE).length, length);
  }
});

Deno.test("splitFrames gives every byte back", () => {
  const frames = concat(headers(1, REQUEST), data(1, "x"));
  const again = splitFrames(frames).map(({ type, flags, streamId, payload }) =>
    raw(type, { flags, streamId }, payload)
  );
  assertEquals(concat(...again), frames);
});

Deno.test("hex reads what toHex writes, and notes aside", () => {
  assertEquals(toHex(hex("00 ff  # a note 12\n7f")), "00 ff 7f");
  assertThrows(() => hex("0"), Error, "Cannot read");
  assertThrows(() => hex("xy"), Error, "Cannot read");
});
