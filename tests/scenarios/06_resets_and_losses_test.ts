/**
 * Scenario 6: the backend resets a stream, or its connection is lost, while a stream is shared.
 *
 * In memory, tests/proxy/backend_session_test.ts asks (a) of every error code and (b), for calls that have messages and
 * for calls that have none. Here: real sockets, TCP and unix, with grpc-js beside the raw callers; connections that
 * break in the middle of something; and losses on the callers' side.
 *
 * Where the row says that the next call opens a new connection, that holds for (b): a reset ends a stream, and the
 * connection goes on.
 *
 * @module
 */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { ERROR_CODE, errorCodeName } from "../../lib/wire/mod.ts";
import { block, data, goAway, headers, rstStream } from "../support/frames.ts";
import { JsCaller } from "../support/js_caller.ts";
import { framed, message, valueOf } from "../support/peer_end.ts";
import { catchesUp, ended } from "../support/peer_waiting.ts";
import { GET, PUT } from "../support/proxy_rig.ts";
import { LIST, withSockets } from "../support/socket_rig.ts";
import { until } from "../support/waiting.ts";

const RESETS: readonly (readonly [code: number, status: number])[] = [
  [ERROR_CODE.noError, 13],
  [ERROR_CODE.protocolError, 13],
  [ERROR_CODE.internalError, 13],
  [ERROR_CODE.flowControlError, 13],
  [ERROR_CODE.cancel, 1],
  [ERROR_CODE.enhanceYourCalm, 8],
  [ERROR_CODE.inadequateSecurity, 7],
  [ERROR_CODE.refusedStream, 14], // too late to be sent again: something has been answered
];

/** grpc-js lets go of messages that it has not handed over when a bad status comes: they must be there first. */
const JS_MESSAGES = "two messages at both grpc-js clients";

Deno.test("Scenario 6(a): a reset after two messages becomes its status for leader and follower, on connections that go on", async () => {
  await withSockets(async (rig) => {
    using one = new JsCaller(rig.local.port);
    using two = new JsCaller(rig.local.port);
    const caller = await rig.caller();
    let count = 0;
    for (const [code, status] of RESETS) {
      const seen: [string[], string[]] = [[], []];
      const answers = Promise.all(
        [one, two].map((client, i) => client.call(LIST, "1", { messages: seen[i]! })),
      );
      const calls = [caller.call(LIST, "raw"), caller.call(LIST, "raw"), caller.call(PUT, "raw")];
      await rig.waits(4);
      await rig.backend.has(count += 3);
      for (const request of rig.backend.requests.slice(-3)) {
        request.begins(["a", "b"]);
        if (request.messages[0] === "raw") request.resets(code);
      }
      await until(() => seen.every((messages) => messages.length === 2), JS_MESSAGES);
      rig.backend.requests.slice(-3).find(({ messages }) => messages[0] === "1")!.resets(code);
      const text = `collapser: the backend reset the stream with ${errorCodeName(code)}`;
      for (const { messages, status: js } of await answers) {
        assertEquals([messages, js.code, js.details], [["a", "b"], status, text]);
      }
      await ended(...calls);
      for (const call of calls) {
        call.expects(status, "a", "b");
        assertEquals([call.reply.reset, call.reply.endedBy], [undefined, "HEADERS"]);
      }
    }
    const next = caller.call(LIST, "raw");
    await rig.backend.has(++count);
    rig.backend.requests.at(-1)!.echoes();
    await ended(next);
    next.expects(0, "re:raw");
    assertEquals(rig.backend.ends.length, 1);
    assertEquals(caller.seen("RST_STREAM"), []);
  });
});

for (const transport of ["TCP", "unix"] as const) {
  Deno.test(`Scenario 6(b): a ${transport} connection that is lost after two messages becomes 14, and the next call gets another`, async () => {
    const folder = await Deno.makeTempDir();
    const place = transport === "TCP" ? {} : { path: `${folder}/backend.sock` };
    await withSockets({ backend: place }, async (rig) => {
      using one = new JsCaller(rig.local.port);
      using two = new JsCaller(rig.local.port);
      const caller = await rig.caller();
      const seen: [string[], string[]] = [[], []];
      const answers = Promise.all(
        [one, two].map((client, i) => client.call(LIST, "1", { messages: seen[i]! })),
      );
      const calls = [caller.call(LIST, "raw"), caller.call(LIST, "raw"), caller.call(PUT, "raw")];
      const early = [caller.call(GET, "none yet"), caller.call(GET, "none yet")];
      await rig.waits(6);
      await rig.backend.has(4);
      for (const request of rig.backend.requests) {
        if (request.messages[0] !== "none yet") request.begins(["a", "b"]);
      }
      await until(() => seen.every((messages) => messages.length === 2), JS_MESSAGES);
      rig.backend.end.socket.ends();
      for (const { messages, status } of await answers) {
        assertEquals([messages, status.code], [["a", "b"], 14]);
      }
      await ended(...calls, ...early);
      for (const call of calls) call.expects(14, "a", "b");
      for (const call of early) call.expects(14);
      const next = caller.call(LIST, "raw");
      await rig.backend.has(5);
      rig.backend.requests.at(-1)!.echoes();
      await ended(next);
      next.expects(0, "re:raw");
      assertEquals(rig.backend.ends.map(({ requests }) => requests.length), [4, 1]);
      rig.expectsRequests(5); // what may have been done is not done again
    });
    await Deno.remove(folder, { recursive: true });
  });
}

Deno.test("Scenario 6(c): a connection that breaks in the middle of something ends its calls with 14 too", async () => {
  const whole = message(1, "never whole").slice();
  const tail = headers(1, block([["grpc-status", "0"]]), { endStream: true });
  const breaks: readonly (readonly [what: string, bytes: Uint8Array])[] = [
    ["a frame", whole.subarray(0, whole.length - 3)],
    ["a frame's head", whole.subarray(0, 5)],
    ["a message", data(1, framed("never whole").subarray(0, 7))],
    ["trailers", tail.subarray(0, tail.length - 2)],
    ["a header block", headers(1, block([["grpc-status", "0"]]), { endHeaders: false })],
    ["a GOAWAY with INTERNAL_ERROR", goAway(1, ERROR_CODE.internalError)],
    ["a GOAWAY with ENHANCE_YOUR_CALM", goAway(1, ERROR_CODE.enhanceYourCalm, "too_many_pings")],
    ["what is no frame at all", new TextEncoder().encode("HTTP/1.1 502 Bad Gateway\r\n\r\n")],
  ];
  for (const [what, bytes] of breaks) {
    await withSockets(async (rig) => {
      const caller = await rig.caller();
      const calls = [caller.call(LIST, "1"), caller.call(LIST, "1")];
      await rig.waits(2);
      await rig.backend.has(1);
      rig.backend.requests[0]!.begins(["a", "b"]);
      await until(() => calls.every(({ messages }) => messages.length === 2), "two messages");
      rig.backend.end.socket.sends(bytes);
      rig.backend.end.socket.ends();
      await ended(...calls);
      for (const call of calls) {
        assertEquals([call.status, call.messages], [14, ["a", "b"]], what);
        assertEquals(call.reply.endedBy, "HEADERS", what);
      }
      const next = caller.call(LIST, "1");
      await rig.backend.has(2);
      rig.backend.requests[1]!.echoes();
      await ended(next);
      next.expects(0, "re:1");
    });
  }
});

Deno.test("Scenario 6(d): a reset or a loss that comes after the end changes nothing, not what is kept either", async () => {
  await withSockets({ variables: { COLLAPSER_CACHE_DURATION: "1m" } }, async (rig) => {
    const caller = await rig.caller();
    const codes = [ERROR_CODE.noError, ERROR_CODE.internalError, ERROR_CODE.refusedStream];
    for (const [i, code] of codes.entries()) {
      const calls = [caller.call(GET, `${i}`), caller.call(GET, `${i}`)];
      await rig.waits(2);
      await rig.backend.has(i + 1);
      const request = rig.backend.requests.at(-1)!;
      request.replies(["whole"]);
      request.backend.sends(rstStream(request.id, code));
      if (i === 2) request.backend.socket.ends();
      await ended(...calls);
      for (const call of calls) call.expects(0, "whole");
    }
    await until(() => rig.backend.ends.length === 2, "another connection");
    for (const i of codes.keys()) {
      const repeat = caller.call(GET, `${i}`);
      await ended(repeat);
      repeat.expects(0, "whole");
    }
    rig.expectsRequests(3);
    assertEquals(rig.local.outcomes.hit, 3);
  });
});

Deno.test("Scenario 6(e): a caller that resets its stream, or is lost, takes nothing from the others", async () => {
  await withSockets(async (rig) => {
    const [leaving, staying] = [await rig.caller(), await rig.caller()];
    const codes = [ERROR_CODE.noError, ERROR_CODE.internalError, ERROR_CODE.cancel];
    for (const [i, code] of [...codes, "lost"].entries()) {
      const led = leaving.call(LIST, `${i}`);
      await rig.waits(1);
      const joined = staying.call(LIST, `${i}`);
      await rig.waits(2);
      await rig.backend.has(i + 1);
      const request = rig.backend.requests.at(-1)!;
      request.begins(["a"]);
      await until(() => led.messages.length === 1, "the first message");
      if (typeof code === "number") led.cancels(code);
      else leaving.leaves();
      await rig.waits(1);
      request.sends("b");
      request.ends();
      await ended(joined);
      joined.expects(0, "a", "b");
      assertEquals(request.seen.reset, undefined);
    }
    const last = staying.call(LIST, "nobody stays");
    await rig.backend.has(5);
    last.cancels();
    await until(() => rig.backend.requests[4]!.seen.reset === "CANCEL", "the end of the stream");
    await catchesUp(staying);
    assertEquals(staying.seen("GOAWAY"), []);
  });
});

Deno.test("Scenario 6(f): what was lost shows in /ready and in the metrics, by its code", async () => {
  await withSockets(async (rig) => {
    const caller = await rig.caller();
    const known = caller.call(GET, "0"); // what no backend has answered has no label of its own
    await rig.backend.has(1);
    rig.backend.requests[0]!.replies(["known"]);
    await ended(known);
    const reset = caller.call(GET, "1");
    await rig.backend.has(2);
    rig.backend.requests[1]!.resets(ERROR_CODE.internalError);
    await ended(reset);
    const lost = caller.call(GET, "1");
    await rig.backend.has(3);
    await rig.backend.stop();
    await ended(lost);
    assertEquals(lost.status, 14);
    assertStringIncludes(valueOf(lost.trailers, "grpc-message")!, "collapser: the connection");
    await until(async () => (await rig.local.ask("/ready")).status === 503, "not ready");
    const { text } = await rig.local.ask("/metrics");
    for (const code of ["Internal", "Unavailable"]) {
      assertStringIncludes(
        text,
        `collapser_responses_total{method="${GET}",grpc_code="${code}"} 1`,
      );
    }
  });
});
