/**
 * Scenario 42: health is asked of the backend each time, watched for as long as anybody watches, and the sidecar's own
 * is told apart from it.
 *
 * That each question about health passes on its own stands in `tests/proxy/caller_session_test.ts`, readiness before
 * and after a backend's first start in `tests/sidecar/sidecar_test.ts`.
 *
 * @module
 */

import { assertEquals, assertMatch } from "@std/assert";
import { healthReply, healthRequest } from "../../lib/grpc/mod.ts";
import { latin1 } from "../../lib/wire/mod.ts";
import { STORED_LONG } from "../support/beside.ts";
import type { Pairs } from "../support/frames.ts";
import { ListeningBackend } from "../support/listening_backend.ts";
import { ended } from "../support/peer_waiting.ts";
import { withRig } from "../support/proxy_rig.ts";
import { withSockets } from "../support/socket_rig.ts";
import { until } from "../support/waiting.ts";

const CHECK = "/grpc.health.v1.Health/Check";
const WATCH = "/grpc.health.v1.Health/Watch";

/** As they come in messages. */
const SERVING = textOf(healthReply(true));
const NOT_SERVING = textOf(healthReply(false));

/** With whatever an operator may have said about what collapses. */
const METHODS = ["auto", "*", `${CHECK},${WATCH}`, "/grpc.health.v1.Health/*"];

for (const methods of METHODS) {
  Deno.test(`Scenario 42(a): every Check reaches the backend, and after a flip none says SERVING, with COLLAPSER_METHODS=${methods}`, async () => {
    let isServing = true;
    const variables = { ...STORED_LONG, COLLAPSER_METHODS: methods };
    await withSockets({ variables }, async (rig) => {
      const { backend, local } = rig;
      const caller = await rig.caller();
      const ask = () =>
        Array.from(
          { length: 20 },
          (_, i) => caller.call(CHECK, healthRequest(i % 2 ? "" : "test.Service")),
        );
      const answerAll = () => {
        for (const request of backend.open) request.replies([healthReply(isServing)]);
      };
      const before = ask();
      await backend.has(20); // all at once, with none of them answered
      answerAll();
      await ended(...before);
      for (const call of before) call.expects(0, SERVING);
      isServing = false;
      const after = ask();
      await backend.has(40);
      answerAll();
      await ended(...after);
      for (const call of after) call.expects(0, NOT_SERVING);
      assertEquals(backend.requests.length, 40);
      assertEquals(local.outcomes.passed, 40);
    });
  });
}

Deno.test("Scenario 42(a): nobody is advised to let health or reflection collapse", async () => {
  const heard: string[] = [];
  const observer = { couldHaveCollapsed: (method: string) => heard.push(method) };
  await withRig({ observer }, async (rig) => {
    const caller = await rig.caller();
    const reflection = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
    const paths = [CHECK, WATCH, reflection, "/test.Service/PutItem"];
    for (const path of paths) {
      for (let i = 0; i < 3; i++) caller.call(path, healthRequest("test.Service"));
      await rig.settle();
    }
    rig.expectsRequests(12);
    assertEquals(heard, ["/test.Service/PutItem"]); // the one hint there is was not wasted before
    for (const request of rig.requests) request.replies([]);
    await rig.settle();
  });
});

Deno.test("Scenario 42(b): the 12 of a backend without a health service passes through, for Check and Watch", async () => {
  await withSockets(async (rig) => {
    const { backend, local } = rig;
    const trailers: Pairs = [
      ["grpc-message", "unknown service grpc.health.v1.Health"],
      ["x-own", "1"],
    ];
    backend.onRequest = (request) => request.fails(12, trailers);
    const caller = await rig.caller();
    const calls = [CHECK, CHECK, WATCH].map((path) => caller.call(path, healthRequest("")));
    await ended(...calls);
    for (const { reply } of calls) {
      assertEquals(reply.blocks, [[
        [":status", "200"],
        ["content-type", "application/grpc"],
        ["grpc-status", "12"],
        ["grpc-message", "unknown service grpc.health.v1.Health"],
        ["x-own", "1"],
      ]]);
    }
    assertEquals(backend.requests.length, 3);
    const own = caller.call(CHECK, healthRequest("collapser")); // which needs none at the backend
    await ended(own);
    own.expects(0, SERVING);
    assertEquals(backend.requests.length, 3);
    assertEquals((await local.ask("/ready")).status, 200);
  });
});

Deno.test("Scenario 42(c): each Watch is told the status there is, then every change, and stays open", async () => {
  await withSockets({ variables: STORED_LONG }, async (rig) => {
    const { backend } = rig;
    const caller = await rig.caller();
    const other = await rig.caller();
    const first = caller.call(WATCH, healthRequest(""));
    await backend.has(1);
    backend.requests[0]!.begins([healthReply(true)]);
    await until(() => first.messages.length === 1, "the first status");
    backend.requests[0]!.sends(healthReply(false));
    await until(() => first.messages.length === 2, "the change");
    const second = caller.call(WATCH, healthRequest(""));
    const third = other.call(WATCH, healthRequest(""));
    await backend.has(3); // each is a watch of its own
    for (const request of backend.requests.slice(1)) request.begins([healthReply(false)]);
    await until(() => [second, third].every(({ messages }) => messages.length === 1), "a status");
    for (const call of [second, third]) assertEquals(call.messages, [NOT_SERVING]);
    for (const request of backend.requests) request.sends(healthReply(true));
    const isTold = ({ messages }: { messages: string[] }) => messages.at(-1) === SERVING;
    await until(() => [first, second, third].every(isTold), "the change back");
    assertEquals(first.messages, [SERVING, NOT_SERVING, SERVING]);
    assertEquals(second.messages, [NOT_SERVING, SERVING]);
    second.cancels();
    await until(() => backend.open.length === 2, "the end of one watch at the backend");
    assertEquals(backend.requests.filter(({ seen }) => seen.reset === "CANCEL").length, 1);
    for (const { status } of [first, third]) assertEquals(status, undefined);
    for (const request of backend.open) request.sends(healthReply(false));
    const isLast = ({ messages }: { messages: string[] }) => messages.at(-1) === NOT_SERVING;
    await until(() => [first, third].every(isLast), "one more change");
    for (const request of backend.open) request.ends();
    await ended(first, third);
  });
});

Deno.test("Scenario 42(c): a Watch that is quiet for an hour is not ended by any time-out of ours", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const watch = caller.call(WATCH, healthRequest(""));
    await rig.settle();
    rig.request(0).begins([healthReply(true)]);
    for (let minute = 0; minute < 60; minute++) await rig.advance(60_000);
    assertEquals([watch.status, watch.reply.reset, watch.messages], [undefined, undefined, [
      SERVING,
    ]]);
    rig.request(0).sends(healthReply(false));
    await rig.settle();
    assertEquals(watch.messages, [SERVING, NOT_SERVING]);
    rig.expectsRequests(1);
  });
});

Deno.test("Scenario 42(c): a Watch ends with 14 when its backend goes, so that its caller watches anew", async () => {
  await withSockets(async (rig) => {
    const { backend } = rig;
    const caller = await rig.caller();
    const watch = caller.call(WATCH, healthRequest(""));
    await backend.has(1);
    backend.requests[0]!.begins([healthReply(true)]);
    await until(() => watch.messages.length === 1, "the status");
    backend.ends[0]!.socket.ends();
    await ended(watch);
    watch.expects(14, SERVING);
    await until(() => rig.proxy.readiness.ready, "the backend's next connection");
    const again = caller.call(WATCH, healthRequest(""));
    await backend.has(2);
    backend.requests[1]!.replies([healthReply(true)]);
    await ended(again);
    again.expects(0, SERVING);
  });
});

Deno.test("Scenario 42(d): readiness follows the backend down and up again, by HTTP and by gRPC, and liveness is steady", async () => {
  // Callers stay where stale results may stand in for the backend.
  await withSockets({ variables: { COLLAPSER_STALE_IF_ERROR: "1ms" } }, async (rig) => {
    const { backend: first, local } = rig;
    const caller = await rig.caller();
    const own = async () => {
      const call = caller.call(CHECK, healthRequest("collapser"));
      await ended(call);
      assertEquals([call.status, (await local.ask("/health")).status], [0, 200]);
      return call.messages[0];
    };
    const ready = async () => (await local.ask("/ready")).status;
    assertEquals([await ready(), await own()], [200, SERVING]);
    await first.stop();
    await until(async () => await ready() === 503, "not ready");
    assertEquals(await own(), NOT_SERVING);
    assertMatch((await local.ask("/ready")).text, /^not ready: the backend cannot be reached: /);
    const whole = caller.call(CHECK, healthRequest("")); // the backend's health is not ours to tell
    await ended(whole);
    assertEquals(whole.status, 14);
    await using second = new ListeningBackend({
      port: first.port,
      onRequest: (request) => request.replies([healthReply(true)]),
    });
    await until(async () => await ready() === 200, "ready again");
    assertEquals(await own(), SERVING);
    const again = caller.call(CHECK, healthRequest(""));
    await ended(again);
    again.expects(0, SERVING);
    assertEquals(second.requests.length, 1);
  });
});

function textOf(bytes: Uint8Array): string {
  return latin1(bytes, 0, bytes.length);
}
