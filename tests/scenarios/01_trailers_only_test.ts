/**
 * Scenario 1: an immediate error travels as one header block that also ends the stream.
 *
 * In memory, the same is asked of a flight and of a passed call in tests/proxy/shared_call_test.ts and
 * tests/proxy/backend_session_test.ts. Here: real sockets, followers on connections of their own, and the forms that
 * broken hops make of such an answer.
 *
 * @module
 */

import { assertEquals, assertNotEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { ERROR_CODE } from "../../lib/wire/mod.ts";
import type { SeenFrame } from "../support/frame_parser.ts";
import { block, data, headers, type Pairs, RESPONSE, splitBlock } from "../support/frames.ts";
import { JsCaller } from "../support/js_caller.ts";
import { valueOf } from "../support/peer_end.ts";
import { catchesUp, ended } from "../support/peer_waiting.ts";
import { GET, PUT } from "../support/proxy_rig.ts";
import { withSockets } from "../support/socket_rig.ts";
import { until } from "../support/waiting.ts";

/** A google.rpc.Status, in base64 without padding as most servers write it. */
const DETAILS = "CAUSAmhpGgQKAngvAA";

const ERROR: Pairs = [
  ["grpc-status", "5"],
  ["grpc-message", "no such item%0A"],
  ["grpc-status-details-bin", DETAILS],
  ["x-err", "7"],
];

/** One block that is the whole answer. */
const ALONE: Pairs = [...RESPONSE, ...ERROR];

Deno.test("Scenario 1(a): a leader and its followers get the one block that ended the backend's stream, as it came", async () => {
  await withSockets(async (rig) => {
    const [one, two] = [await rig.caller(), await rig.caller()];
    const calls = [one.call(GET, "1"), one.call(GET, "1"), two.call(GET, "1")];
    await rig.waits(3);
    await rig.backend.has(1);
    rig.backend.requests[0]!.fails(5, ERROR.slice(1));
    await ended(...calls);
    for (const caller of [one, two]) {
      await catchesUp(caller);
      for (const frame of framesOfCalls(caller.frames)) {
        assertEquals(frame, {
          type: "HEADERS",
          streamId: "streamId" in frame ? frame.streamId : 0,
          fields: ALONE,
          endStream: true,
        });
      }
    }
    assertEquals([one, two].map(({ frames }) => framesOfCalls(frames).length), [2, 1]);
    rig.expectsRequests(1);
  });
});

Deno.test("Scenario 1(b): grpc-js finds message, details and metadata of such an answer, leader or not", async () => {
  await withSockets(async (rig) => {
    using client = new JsCaller(rig.local.port);
    using other = new JsCaller(rig.local.port);
    const answers = Promise.all([
      client.call(GET, "1"),
      client.call(GET, "1"),
      other.call(GET, "1"),
      client.call(PUT, "1"),
    ]);
    await rig.waits(3);
    await rig.backend.has(2);
    for (const request of rig.backend.requests) request.fails(5, ERROR.slice(1));
    for (const { messages, status } of await answers) {
      assertEquals(messages, []);
      assertEquals([status.code, status.details], [5, "no such item\n"]);
      assertEquals(status.metadata.get("x-err"), ["7"]);
      const details = status.metadata.get("grpc-status-details-bin");
      assertEquals(details, [Buffer.from(DETAILS, "base64")]);
    }
    rig.expectsRequests(2);
  });
});

Deno.test("Scenario 1(c): an answer without messages that is good is kept, and stays one block", async () => {
  await withSockets({ variables: { COLLAPSER_CACHE_DURATION: "1m" } }, async (rig) => {
    const caller = await rig.caller();
    const led = caller.call(GET, "1");
    await rig.backend.has(1);
    rig.backend.requests[0]!.fails(0, [["x-none", "1"]]);
    await ended(led);
    const hit = caller.call(GET, "1");
    await ended(hit);
    for (const { reply } of [led, hit]) {
      assertEquals(reply.blocks, [[...RESPONSE, ["grpc-status", "0"], ["x-none", "1"]]]);
      assertEquals(reply.endedBy, "HEADERS");
    }
    assertEquals(rig.local.outcomes.hit, 1);
  });
});

Deno.test("Scenario 1(d): details beyond one frame, and a word of the sidecar's, stay in the one block", async () => {
  await withSockets(async (rig) => {
    const caller = await rig.caller();
    const asks = { metadata: [["x-collapser-debug", "1"]] as const };
    const calls = [GET, PUT].map((path) => caller.call(path, "1", asks));
    await rig.backend.has(2);
    const large: Pairs = [...ALONE, ["x-more-bin", "A".repeat(20_000)]];
    for (const { id } of rig.backend.requests) {
      rig.backend.end.sends(splitBlock(id, block(large), { endStream: true }));
    }
    await ended(...calls);
    for (const [i, { reply }] of calls.entries()) {
      assertEquals(reply.blocks, [[...large, ["x-collapser", i === 0 ? "led" : "passed"]]]);
      assertEquals([reply.text, reply.endedBy], ["", "HEADERS"]);
    }
  });
});

Deno.test("Scenario 1(e): HEADERS with a status that do not end the stream are no status, and DATA never ends a reply", async () => {
  await withSockets(async (rig) => {
    const caller = await rig.caller();
    const calls = [caller.call(GET, "1"), caller.call(GET, "1"), caller.call(PUT, "1")];
    await rig.waits(2);
    await rig.backend.has(2);
    for (const { id } of rig.backend.requests) { // what the hops of the reports made of (a)
      rig.backend.end.sends(headers(id, ALONE), data(id, "", { endStream: true }));
    }
    await ended(...calls);
    for (const call of calls) {
      assertEquals(call.reply.endedBy, "HEADERS");
      assertEquals(call.status, 13);
      assertNotEquals(valueOf(call.trailers, "grpc-message"), undefined);
    }
    assertEquals(caller.seen("DATA").filter(({ endStream }) => endStream), []);
  });
});

Deno.test("Scenario 1(f): an error that comes before the request is whole ends the call with that error, and both streams", async () => {
  await withSockets(async (rig) => {
    const caller = await rig.caller();
    for (const asksForNoMore of [true, false]) {
      const before = rig.backend.requests.length;
      const upload = caller.call(PUT, "first", { ends: false });
      await until(() => rig.backend.requests[before]?.messages.length === 1, "the first message");
      const request = rig.backend.requests[before]!;
      request.fails(5, ERROR.slice(1));
      if (asksForNoMore) request.resets(ERROR_CODE.noError); // RFC 9113 §8.1
      await ended(upload);
      upload.sends("late, since it was under way");
      await until(() => upload.reply.reset !== undefined, "the end of the caller's stream");
      assertEquals(upload.reply.blocks, [ALONE]);
      assertEquals([upload.reply.endedBy, upload.reply.reset], ["HEADERS", "NO_ERROR"]);
      const { seen } = request;
      if (!asksForNoMore) await until(() => seen.reset !== undefined, "the end of the backend's");
      assertEquals(seen.messages, ["first"]);
      const next = caller.call(PUT, "next");
      await until(() => rig.backend.requests[before + 1]?.ended === true, "the next call");
      rig.backend.requests[before + 1]!.echoes();
      await ended(next);
      next.expects(0, "re:next");
    }
    assertEquals(caller.seen("GOAWAY"), []);
  });
});

/** What came on streams, credit aside. */
function framesOfCalls(frames: readonly SeenFrame[]): SeenFrame[] {
  return frames.filter((frame) =>
    "streamId" in frame && frame.streamId !== 0 && frame.type !== "WINDOW_UPDATE"
  );
}
