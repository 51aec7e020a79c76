/**
 * Scenario 4: answers that end without a status, that are no gRPC, or that nobody gives.
 *
 * In memory, tests/proxy/backend_session_test.ts asks (a) and the whole table of (b), HTTP 200 included, of leader,
 * follower and passed call, each with its repeat; tests/proxy/backend_links_test.ts asks (c) without letting any
 * time pass. Here: real sockets and grpc-js for all three, answers that are broken off, and other hops' pages.
 *
 * The contract decides where the row leaves two statuses open: 13 where trailers are missing.
 *
 * @module
 */

import { assertEquals, assertStringIncludes } from "@std/assert";
import type { BackendRequest } from "../support/backend_end.ts";
import { DialledCaller } from "../support/dialled_caller.ts";
import { data, headers, type Pairs, RESPONSE } from "../support/frames.ts";
import { JsCaller } from "../support/js_caller.ts";
import { ListeningBackend } from "../support/listening_backend.ts";
import { LocalSidecar } from "../support/local_sidecar.ts";
import { framed, valueOf } from "../support/peer_end.ts";
import { ended } from "../support/peer_waiting.ts";
import { freePort } from "../support/process.ts";
import { GET, PUT } from "../support/proxy_rig.ts";
import { LIST, withSockets } from "../support/socket_rig.ts";
import { until } from "../support/waiting.ts";

const NO_STATUS = "collapser: the backend ended the stream without a grpc-status";

/** Results are kept this long where a repeat must come while a good one would still be there. */
const KEPT = { COLLAPSER_CACHE_DURATION: "1m" };

Deno.test("Scenario 4(a): an answer without trailers is 13 for grpc-js, leader or not, and is not kept", async () => {
  await withSockets({ variables: KEPT }, async (rig) => {
    using client = new JsCaller(rig.local.port);
    using other = new JsCaller(rig.local.port);
    let count = 0;
    for (const isSplit of [false, true]) {
      for (const path of [GET, LIST]) {
        const answers = Promise.all([client.call(path, "1"), other.call(path, "1")]);
        await rig.waits(2);
        await rig.backend.has(++count);
        const request = rig.backend.requests.at(-1)!;
        request.begins();
        const { id, backend } = request;
        if (isSplit) backend.sends(data(id, framed("a")), data(id, "", { endStream: true }));
        else backend.sends(data(id, framed("a"), { endStream: true }));
        for (const { messages, status } of await answers) {
          assertEquals([messages, status.code, status.details], [["a"], 13, NO_STATUS]);
        }
      }
    }
    const repeat = client.call(GET, "1");
    await rig.backend.has(++count);
    rig.backend.requests.at(-1)!.replies(["whole"]);
    const { messages, status } = await repeat;
    assertEquals([messages, status.code], [["whole"], 0]);
  });
});

Deno.test("Scenario 4(b): grpc-js gets the status that stands for an HTTP status, and its repeat reaches the backend", async () => {
  const table = [
    [400, 13],
    [401, 16],
    [403, 7],
    [404, 12],
    [429, 14],
    [500, 2],
    [502, 14],
    [503, 14],
    [504, 14],
  ] as const;
  await withSockets({ variables: KEPT }, async (rig) => {
    using client = new JsCaller(rig.local.port);
    using other = new JsCaller(rig.local.port);
    let count = 0;
    for (const [http, grpc] of table) {
      const answers = Promise.all([client.call(GET, "1"), other.call(GET, "1")]);
      await rig.waits(2);
      await rig.backend.has(++count);
      const { id, backend } = rig.backend.requests.at(-1)!;
      backend.sends(
        headers(id, [[":status", `${http}`], ["content-type", "text/html"]]),
        data(id, "<html>".repeat(1_000), { endStream: true }),
      );
      for (const { messages, status } of await answers) {
        const details = `collapser: the backend answered HTTP ${http}, not gRPC`;
        assertEquals([messages, status.code, status.details], [[], grpc, details]);
      }
    }
  });
});

Deno.test("Scenario 4(c): without a backend callers get 14 at once, as gRPC, and again until it is there", async () => {
  const port = freePort();
  await using local = new LocalSidecar({ BACKEND_ADDRESS: `127.0.0.1:${port}` });
  await until(() => local.sidecar.proxy.readiness.reason.includes("refused"), "the first dial");
  await using caller = await DialledCaller.at(local.port);
  const calls = [GET, GET, PUT, LIST].map((path) => caller.call(path, "1"));
  await ended(...calls);
  const repeat = caller.call(GET, "1");
  await ended(repeat);
  for (const call of [...calls, repeat]) {
    const head = call.trailers!.slice(0, 3);
    assertEquals(head, [...RESPONSE, ["grpc-status", "14"]]);
    assertEquals([call.reply.blocks.length, call.reply.endedBy], [1, "HEADERS"]);
    assertStringIncludes(call.grpcMessage!, "collapser: the backend cannot be reached: ");
  }
  assertEquals(await local.ask("/ready").then(({ status }) => status), 503);
  // The repeat need not dial by itself: that goes on in the background, and the backend is found.
  await using backend = new ListeningBackend({ port, onRequest: (request) => request.echoes() });
  await until(() => local.sidecar.proxy.readiness.ready, "a backend that has come");
  const found = caller.call(GET, "1");
  await ended(found);
  found.expects(0, "re:1");
  assertEquals(backend.requests.length, 1);
});

Deno.test("Scenario 4(d): a unix socket that is not there makes 14 too", async () => {
  const folder = await Deno.makeTempDir();
  {
    await using local = new LocalSidecar({ BACKEND_ADDRESS: `unix:${folder}/none.sock` });
    await using caller = await DialledCaller.at(local.port);
    const call = caller.call(GET, "1");
    await ended(call);
    assertEquals(call.trailers!.slice(0, 3), [...RESPONSE, ["grpc-status", "14"]]);
  }
  await Deno.remove(folder, { recursive: true });
});

Deno.test("Scenario 4(e): a message that is broken off is not kept, whatever status follows", async () => {
  const cuts: readonly ((request: BackendRequest) => void)[] = [
    ({ id, backend }) => backend.sends(data(id, framed("whole answer").subarray(0, 9))),
    ({ id, backend }) => backend.sends(data(id, framed("whole answer").subarray(0, 3))),
    ({ id, backend }) =>
      backend.sends(data(id, framed("one")), data(id, framed("other").subarray(0, 7))),
  ];
  await withSockets({ variables: KEPT }, async (rig) => {
    const caller = await rig.caller();
    let count = 0;
    for (const [i, cut] of cuts.entries()) {
      const calls = [caller.call(GET, `${i}`), caller.call(GET, `${i}`)];
      await rig.waits(2);
      await rig.backend.has(++count);
      const request = rig.backend.requests.at(-1)!;
      request.begins();
      cut(request);
      request.ends();
      await ended(...calls);
      // As the backend said it: what is wrong with it is for the caller's library to see.
      for (const call of calls) assertEquals(call.reply.text, calls[0]!.reply.text);
      const repeat = caller.call(GET, `${i}`);
      await rig.backend.has(++count);
      rig.backend.requests.at(-1)!.replies(["whole"]);
      await ended(repeat);
      repeat.expects(0, "whole");
    }
  });
});

Deno.test("Scenario 4(f): pages that other hops send in a backend's place are never an answer", async () => {
  const pages: readonly (readonly [fields: Pairs, status: number])[] = [
    [[[":status", "200"], ["content-type", "text/html"]], 2],
    [[[":status", "200"]], 2],
    [[[":status", "200"], ["content-type", "application/json"]], 2],
    [[[":status", "200"], ["content-type", "application/grpc-web"]], 2],
    [[[":status", "503"], ["content-type", "application/grpc"]], 14],
    [[[":status", "204"]], 2],
    [[[":status", "302"], ["location", "/login"]], 2],
  ];
  await withSockets({ variables: KEPT }, async (rig) => {
    const caller = await rig.caller();
    let count = 0;
    for (const [fields, status] of pages) {
      for (const isAlone of [true, false]) {
        const calls = [caller.call(GET, "1"), caller.call(GET, "1"), caller.call(PUT, "1")];
        await rig.waits(2);
        await rig.backend.has(count += 2);
        for (const { id, backend } of rig.backend.requests.slice(-2)) {
          const body = isAlone
            ? []
            : [data(id, "x"), headers(id, [["x", "1"]], { endStream: true })];
          backend.sends(headers(id, fields, { endStream: isAlone }), ...body);
        }
        await ended(...calls);
        for (const call of calls) {
          assertEquals(call.status, status, `${fields}`);
          assertEquals(call.trailers!.slice(0, 2), [...RESPONSE]);
          assertEquals([call.reply.text, call.reply.endedBy], ["", "HEADERS"]);
        }
      }
    }
    const told = caller.call(GET, "1");
    await rig.backend.has(++count);
    const { id, backend } = rig.backend.requests.at(-1)!;
    backend.sends(headers(id, [[":status", "404"], ["grpc-status", "8"]], { endStream: true }));
    await ended(told);
    assertEquals(valueOf(told.trailers, "grpc-status"), "8"); // which wins where it is there
  });
});
