import { assertEquals } from "@std/assert";
import { withDebugTrailer } from "../../lib/downstream/debug_trailer.ts";
import { FrameLog } from "../../lib/wire/mod.ts";
import { FrameParser, type SeenFrame } from "../support/frame_parser.ts";
import { block, pattern, RESPONSE, TRAILERS } from "../support/frames.ts";
import { logOf } from "../support/scripted_peer.ts";

Deno.test("withDebugTrailer adds one field to the last block and nothing else", () => {
  const log = logOf([{ headers: RESPONSE }, { data: "abc" }, { headers: TRAILERS }]);
  const copy = withDebugTrailer(log, { outcome: "joined", boundary: 0 });
  assertEquals(framesOf(copy, 0), [
    { type: "HEADERS", streamId: 1, fields: RESPONSE, endStream: false },
    { type: "DATA", streamId: 1, text: "abc", endStream: false },
    {
      type: "HEADERS",
      streamId: 1,
      fields: [...TRAILERS, ["x-collapser", "joined"]],
      endStream: true,
    },
  ]);
  assertEquals([copy.ended, copy.dataBytes, log.ended], [true, 3, true]);
  assertEquals(framesOf(log, 0).length, 3); // the log itself is others' too
});

Deno.test("withDebugTrailer adds it to a block that is cut into CONTINUATION frames", () => {
  const long = [...TRAILERS, ["x-long", "v".repeat(40_000)]] as const;
  const log = logOf([{ headers: RESPONSE }, { block: block(long) }]);
  const copy = withDebugTrailer(log, { outcome: "led", boundary: 0 });
  assertEquals(framesOf(copy, 0).at(-1), {
    type: "HEADERS",
    streamId: 1,
    fields: [...long, ["x-collapser", "led"]],
    endStream: true,
  });
});

Deno.test("withDebugTrailer keeps positions, also where the log was dropped up to the middle of a frame", () => {
  const log = new FrameLog();
  log.appendHeaders(block(RESPONSE), false);
  const message = pattern(10_000);
  for (let i = 0; i < 20; i++) log.appendData(message, 0, message.length);
  const boundary = log.end - 2 * (9 + message.length);
  log.appendHeaders(block(TRAILERS), true);
  log.dropBefore(boundary - 500); // moves what is left to the front
  assertEquals(log.shift > 0, true);
  const copy = withDebugTrailer(log, { outcome: "passed", boundary });
  assertEquals([copy.start, copy.shift], [log.start, log.shift]);
  const seen = framesOf(copy, boundary);
  assertEquals(seen.map(({ type }) => type), ["DATA", "DATA", "HEADERS"]);
  assertEquals(seen.at(-1), {
    type: "HEADERS",
    streamId: 1,
    fields: [...TRAILERS, ["x-collapser", "passed"]],
    endStream: true,
  });
});

/** The frames of a log from a position on, as if they were sent on stream 1. */
function framesOf(log: FrameLog, position: number): SeenFrame[] {
  const bytes = log.bytes.slice(position - log.shift, log.end - log.shift);
  for (let at = 0; at < bytes.length;) {
    bytes[at + 8] = 1;
    at += 9 + (bytes[at]! << 16) + (bytes[at + 1]! << 8) + bytes[at + 2]!;
  }
  return new FrameParser().read(bytes);
}
