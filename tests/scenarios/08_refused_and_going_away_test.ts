/**
 * Scenario 8: streams that the backend refuses, and connections that it takes leave of.
 *
 * In memory, tests/proxy/backend_session_test.ts asks (a), (b) and (c), of passed calls and of streams of messages too,
 * with what a GOAWAY says was not taken. Here: real sockets, grpc-js without retries of its own, and refusals and
 * GOAWAYs that come together.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { ERROR_CODE, SETTING } from "../../lib/wire/mod.ts";
import type { BackendRequest } from "../support/backend_end.ts";
import { goAway, rstStream, settings } from "../support/frames.ts";
import { JsCaller } from "../support/js_caller.ts";
import { ListeningBackend } from "../support/listening_backend.ts";
import { ended } from "../support/peer_waiting.ts";
import { GET, PUT, withRig } from "../support/proxy_rig.ts";
import { LIST, withSockets } from "../support/socket_rig.ts";
import { until } from "../support/waiting.ts";

const { noError, refusedStream } = ERROR_CODE;

/** As servers say first that they are about to go (RFC 9113 §6.8). */
const GOING = goAway(2 ** 31 - 1, noError);

Deno.test("Scenario 8(a): a call refused once is sent once more, and leader and followers see nothing of it", async () => {
  await withSockets(async (rig) => {
    using client = new JsCaller(rig.local.port);
    const caller = await rig.caller();
    const answers = Promise.all([1, 2, 3, 4].map(() => client.call(GET, "js")));
    const shared = [1, 2, 3, 4].map(() => caller.call(GET, "raw"));
    const passed = caller.call(PUT, "own");
    await rig.waits(8);
    await rig.backend.has(3);
    rig.backend.onRequest = (request) => request.echoes();
    for (const request of [...rig.backend.requests]) request.resets(refusedStream);
    await ended(...shared, passed);
    for (const call of shared) call.expects(0, "re:raw");
    passed.expects(0, "re:own");
    for (const { messages, status } of await answers) {
      assertEquals([messages, status.code], [["re:js"], 0]);
    }
    const perFlight = ["js", "raw", "own"].map((said) =>
      rig.backend.requests.filter(({ messages }) => messages[0] === said).length
    );
    assertEquals(perFlight, [2, 2, 2]);
  });
});

Deno.test("Scenario 8(b): a call refused twice is 14 for all who wait, by status and not by a reset", async () => {
  await withSockets(async (rig) => {
    using client = new JsCaller(rig.local.port);
    const caller = await rig.caller();
    const answers = Promise.all([1, 2, 3, 4].map(() => client.call(GET, "js")));
    const calls = [GET, GET, GET, GET, PUT].map((path) => caller.call(path, path));
    await rig.waits(8);
    await rig.backend.has(3);
    rig.backend.onRequest = (request) => request.resets(refusedStream);
    for (const request of [...rig.backend.requests]) request.resets(refusedStream);
    await ended(...calls);
    for (const call of calls) {
      call.expectsFailure(14, "the backend reset the stream with REFUSED_STREAM");
      assertEquals(call.reply.reset, undefined);
    }
    for (const { status } of await answers) assertEquals(status.code, 14);
    const said = ["js", GET, PUT];
    const counts = said.map((text) =>
      rig.backend.requests.filter(({ messages }) => messages[0] === text).length
    );
    assertEquals(counts, [2, 2, 2]);
    assertEquals(rig.backend.ends.length, 1);
  });
});

Deno.test("Scenario 8(c): a connection that says GOAWAY while it is idle, and stays open, gets no more calls", async () => {
  await withSockets(async (rig) => {
    rig.backend.onRequest = (request) => request.echoes();
    using client = new JsCaller(rig.local.port);
    const caller = await rig.caller();
    const before = caller.call(GET, "before");
    await ended(before);
    const [old] = rig.backend.ends;
    old!.sends(goAway(1, noError));
    await until(() => rig.backend.ends.length === 2, "another connection");
    for (const path of [GET, PUT, LIST]) {
      const call = caller.call(path, "after");
      await ended(call);
      call.expects(0, "re:after");
      assertEquals((await client.call(path, "js")).status.code, 0);
    }
    assertEquals(rig.backend.ends.map(({ requests }) => requests.length), [1, 6]);
  });
});

Deno.test("Scenario 8(d): a call that meets the GOAWAY on its way is sent again, with no failure to see", async () => {
  for (const last of [goAway(0, noError), GOING]) {
    await withSockets(async (rig) => {
      rig.backend.onRequest = (request) => {
        // What was taken before the last word is not sent again, and ends where it began.
        if (last === GOING || request.backend === rig.backend.ends[1]) request.echoes();
      };
      const caller = await rig.caller();
      rig.backend.end.sends(last);
      const calls = [GET, GET, PUT].map((path) => caller.call(path, "1")); // at the same time
      await until(() => rig.backend.ends.length === 2, "another connection");
      await ended(...calls);
      for (const call of calls) call.expects(0, "re:1");
    });
  }
});

/** A backend that shuts down refuses what has just come and takes its leave, in one breath and in any order. */
const LEAVES:
  readonly (readonly [what: string, says: (request: BackendRequest) => Uint8Array[]])[] = [
    ["GOAWAY, then the refusal", ({ id }) => [goAway(0, noError), rstStream(id, refusedStream)]],
    ["the refusal, then GOAWAY", ({ id }) => [rstStream(id, refusedStream), goAway(0, noError)]],
    ["the refusal amid both GOAWAYs", ({ id }) => [
      GOING,
      rstStream(id, refusedStream),
      goAway(id, noError),
    ]],
    ["the refusal before both GOAWAYs", ({ id }) => [
      rstStream(id, refusedStream),
      GOING,
      goAway(id, noError),
    ]],
    ["the refusal and a limit of no streams", ({ id }) => [
      rstStream(id, refusedStream),
      settings([SETTING.maxConcurrentStreams, 0]),
    ]],
  ];

for (const [what, says] of LEAVES) {
  Deno.test(`Scenario 8(e): a refusal that comes with a farewell costs no call: ${what}`, async () => {
    await withRig(async (rig) => {
      const caller = await rig.caller();
      const calls = [GET, GET, GET, GET].map((path) => caller.call(path, "1"));
      await rig.settle();
      rig.backend.sends(...says(rig.request(0)));
      await rig.settle();
      rig.expectsRequests(2);
      assertEquals(rig.backends.map(({ requests }) => requests.length), [1, 1]);
      rig.request(1).replies(["one"]);
      await rig.settle();
      for (const call of calls) call.expects(0, "one");
    });
  });
}

Deno.test("Scenario 8(f): a refusal after its leader has left is sent again for those who stay", async () => {
  await withRig(async (rig) => {
    const [leaving, staying] = [await rig.caller(), await rig.caller()];
    const led = leaving.call(GET, "1");
    await rig.settle();
    const joined = [staying.call(GET, "1"), staying.call(GET, "1")];
    await rig.settle();
    led.cancels();
    await rig.settle();
    rig.request(0).resets(refusedStream);
    await rig.settle();
    rig.expectsRequests(2);
    rig.request(1).replies(["one"]);
    await rig.settle();
    for (const call of joined) call.expects(0, "one");
  });
});

Deno.test("Scenario 8(g): a backend that has gone for good after its GOAWAY makes 14, and is found when it is back", async () => {
  // Callers stay where stale results may stand in for the backend.
  await withSockets({ variables: { COLLAPSER_STALE_IF_ERROR: "1ms" } }, async (rig) => {
    const caller = await rig.caller();
    const { port } = rig.backend;
    rig.backend.end.sends(GOING, goAway(0, noError));
    await rig.backend.stop();
    await until(() => !rig.proxy.readiness.ready, "not ready");
    const calls = [GET, PUT].map((path) => caller.call(path, "1"));
    await ended(...calls);
    for (const call of calls) assertEquals(call.status, 14);
    await using again = new ListeningBackend({ port, onRequest: (request) => request.echoes() });
    await rig.isReady();
    const next = caller.call(GET, "1");
    await ended(next);
    next.expects(0, "re:1");
    assertEquals(again.requests.length, 1);
  });
});
