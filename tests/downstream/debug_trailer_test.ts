import { assertEquals } from "@std/assert";
import { withDebugTrailer } from "../../lib/downstream/debug_trailer.ts";
import { FrameLog } from "../../lib/wire/mod.ts";
import { block, pattern, RESPONSE, TRAILERS } from "../support/frames.ts";
import { framesOf } from "../support/log_frames.ts";
import { valueOf } from "../support/peer_end.ts";
import { GET, withRig } from "../support/proxy_rig.ts";
import { logOf } from "../support/scripted_peer.ts";

const DEBUG = [["x-collapser-debug", "1"]] as const;

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

Deno.test("Call tells its outcome in the trailers when asked, and only then", async () => {
  await withRig({ maxFollowers: 1 }, async (rig) => {
    const caller = await rig.caller();
    const silent = caller.call(GET, "1");
    const joined = caller.call(GET, "1", { metadata: DEBUG });
    const passed = caller.call("/other.Service/PutItem", "1", { metadata: DEBUG });
    const full = caller.call(GET, "1", { metadata: DEBUG });
    const led = caller.call(GET, "2", { metadata: DEBUG });
    const failed = caller.call(GET, "3", { metadata: DEBUG });
    const off = caller.call(GET, "2", { metadata: [["x-collapser-debug", "0"]] });
    await rig.settle();
    for (const request of rig.requests) {
      if (request.messages[0] === "3") request.fails(5, [["x-err", "7"]]);
      else request.replies(["x"], { trailers: [["x-own", "kept"]] });
    }
    await rig.settle();
    const hit = caller.call(GET, "1", { metadata: DEBUG });
    await rig.settle();
    const outcomes = [silent, joined, passed, full, led, failed, off, hit].map((c) => c.outcome);
    assertEquals(outcomes, [
      undefined,
      "joined",
      "passed",
      "passed",
      "led",
      "led",
      undefined,
      "hit",
    ]);
    for (const call of [joined, passed, led, hit]) {
      call.expects(0, "x");
      assertEquals(valueOf(call.trailers, "x-own"), "kept");
    }
    failed.expects(5);
    assertEquals(valueOf(failed.trailers, "x-err"), "7");
  });
});
