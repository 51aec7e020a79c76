/**
 * Scenario 10: more calls at once than the backend's SETTINGS_MAX_CONCURRENT_STREAMS.
 *
 * In memory, tests/proxy/backend_links_test.ts asks for the burst before SETTINGS are known, for at most 8 connections,
 * and for a deadline in the queue; tests/proxy/call_deadline_test.ts for the deadline before there is a connection. Here:
 * real sockets, what the metrics say of the queue, and limits that change under way.
 *
 * By the contract up to 8 connections are opened where the limit leaves calls waiting. So the row's five calls do
 * not wait, and its sixth is answered in time; for one that is still queued at its deadline it takes more.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { SETTING } from "../../lib/wire/mod.ts";
import { settings, settingsAck } from "../support/frames.ts";
import { catchesUp, ended } from "../support/peer_waiting.ts";
import { GET, PUT, withRig } from "../support/proxy_rig.ts";
import { type SocketRig, withSockets } from "../support/socket_rig.ts";
import { until } from "../support/waiting.ts";

const ONE_STREAM = [SETTING.maxConcurrentStreams, 1] as const;

const MAX_CONNECTIONS = 64;

/** As `auto` takes it, without a question of the sidecar's own: where calls wait for a stream it would wait among them. */
const NO_QUESTION = { COLLAPSER_METHODS: GET };

const BACKEND = (name: string, port: number) =>
  `collapser_backend_${name}{backend="127.0.0.1:${port}"}`;

/** As the row has it: each call takes 100 ms. */
const CALL_MS = 100;

Deno.test("Scenario 10(a): a burst before SETTINGS are known ends well, with one stream at most on a connection", async () => {
  await withSockets({ variables: NO_QUESTION, backend: { settings: "silent" } }, async (rig) => {
    const watch = watchOpenStreams(rig);
    await until(() => rig.backend.ends.length === 1, "a connection");
    const caller = await rig.caller();
    const calls = [1, 2, 3, 4, 5].map((n) => caller.call(n % 2 === 0 ? PUT : GET, `${n}`));
    const bounded = caller.call(GET, "6", { metadata: [["grpc-timeout", "10S"]] });
    await until(() => rig.proxy.counters.backends[0]!.pending === 6, "six that wait");
    rig.expectsRequests(0);
    const { port } = rig.backend;
    assertEquals((await rig.local.scrape()).get(BACKEND("pending", port)), 6);
    rig.backend.settings = [ONE_STREAM];
    rig.backend.end.sends(settings(ONE_STREAM), settingsAck());
    await ended(...calls, bounded);
    for (const [i, call] of calls.entries()) call.expects(0, `re:${i + 1}`);
    bounded.expects(0, "re:6");
    assertEquals(watch.most(), 1);
    assert(rig.backend.ends.length <= MAX_CONNECTIONS, `${rig.backend.ends.length} connections`);
    const series = await rig.local.scrape();
    const gauges = ["pending", "inflight"].map((name) => series.get(BACKEND(name, port)));
    assertEquals(gauges, [0, 0]);
  });
});

Deno.test("Scenario 10(b): a call still queued at its deadline gets 4, and the backend never hears of it", async () => {
  const backend = { settings: [ONE_STREAM] };
  await withSockets({ variables: NO_QUESTION, backend }, async (rig) => {
    const caller = await rig.caller();
    const count = MAX_CONNECTIONS + 5;
    const calls = Array.from({ length: count }, (_, i) => caller.call(GET, `${i}`));
    await rig.backend.has(MAX_CONNECTIONS);
    const bounded = [GET, PUT].map((path) =>
      caller.call(path, "late", { metadata: [["grpc-timeout", "150m"]] })
    );
    await ended(...bounded);
    for (const call of bounded) call.expectsFailure(4, "the call's deadline has passed");
    const { port } = rig.backend;
    const series = await rig.local.scrape();
    assertEquals(series.get(BACKEND("pending", port)), 5);
    assertEquals(series.get(BACKEND("inflight", port)), MAX_CONNECTIONS);
    rig.expectsRequests(MAX_CONNECTIONS);
    rig.backend.onRequest = (request) => request.echoes();
    for (const request of [...rig.backend.requests]) request.echoes();
    await ended(...calls);
    for (const [i, call] of calls.entries()) call.expects(0, `re:${i}`);
    rig.expectsRequests(count);
    assertEquals(rig.backend.ends.length, MAX_CONNECTIONS);
    assertEquals(rig.backend.requests.some(({ messages }) => messages[0] === "late"), false);
  });
});

Deno.test("Scenario 10(c): a caller that leaves the queue is forgotten there, and those behind it come in their order", async () => {
  await withRig({ backendSettings: [ONE_STREAM] }, async (rig) => {
    const caller = await rig.caller();
    const first = Array.from({ length: MAX_CONNECTIONS }, (_, i) => caller.call(GET, `${i}`));
    await rig.settle();
    const queued = ["a", "b", "c", "d"].map((said) => caller.call(PUT, said));
    const followers = [caller.call(GET, "shared"), caller.call(GET, "shared")];
    await rig.settle();
    assertEquals(rig.gauges.pending, 5);
    queued[1]!.cancels();
    followers[0]!.cancels(); // the flight's leader; its call stays in the queue for the other
    await rig.settle();
    assertEquals(rig.gauges.pending, 4);
    for (let at = 0; at < MAX_CONNECTIONS + 4; at++) {
      rig.request(at).echoes();
      await rig.settle();
    }
    const order = rig.requests.slice(MAX_CONNECTIONS).map(({ messages }) => messages[0]);
    assertEquals(order, ["a", "c", "d", "shared"]);
    for (const [i, call] of first.entries()) call.expects(0, `re:${i}`);
    followers[1]!.expects(0, "re:shared");
    assertEquals(queued[1]!.reply.endedBy, undefined);
  });
});

Deno.test("Scenario 10(d): a limit that is lowered under way holds for the next streams, and costs no call that is open", async () => {
  await withRig({ backendSettings: [[SETTING.maxConcurrentStreams, 100]] }, async (rig) => {
    const caller = await rig.caller();
    const open = [1, 2, 3].map((n) => caller.call(PUT, `${n}`));
    await rig.settle();
    const [end] = rig.backends;
    rig.backendSettings = [ONE_STREAM];
    end!.sends(settings(ONE_STREAM));
    await rig.settle();
    const next = [4, 5].map((n) => caller.call(PUT, `${n}`));
    await rig.settle();
    assertEquals(rig.backends.map(({ requests }) => requests.length), [3, 1, 1]);
    for (const request of rig.requests) request.echoes();
    await rig.settle();
    for (const [i, call] of [...open, ...next].entries()) call.expects(0, `re:${i + 1}`);
    assertEquals(end!.seen("GOAWAY"), []);
  });
});

Deno.test("Scenario 10(e): a refusal beyond the limit, before SETTINGS say so, is no failure of the call", async () => {
  // A backend that lowers its limit refuses what was on its way to it (RFC 9113 §5.1.2).
  const backend = { settings: [[SETTING.maxConcurrentStreams, 100]] } as const;
  await withSockets({ backend }, async (rig) => {
    const caller = await rig.caller();
    const calls = [1, 2, 3].map((n) => caller.call(GET, `${n}`));
    await rig.backend.has(3);
    rig.backend.settings = [ONE_STREAM];
    const [kept, ...refused] = rig.backend.requests;
    rig.backend.end.sends(settings(ONE_STREAM));
    for (const request of refused) request.resets(0x7);
    await rig.backend.has(5);
    assertEquals(rig.backend.ends[0]!.requests.length, 3);
    for (const request of [kept!, ...rig.backend.requests.slice(3)]) request.echoes();
    await ended(...calls);
    for (const [i, call] of calls.entries()) call.expects(0, `re:${i + 1}`);
  });
});

Deno.test("Scenario 10(f): a queue that is full refuses at once with 8, and says so in the metrics", async () => {
  const variables = { BACKEND_MAX_CONCURRENT: "2", BACKEND_MAX_PENDING: "3" };
  await withSockets({ variables }, async (rig) => {
    const caller = await rig.caller();
    const calls = Array.from({ length: 5 }, (_, i) => caller.call(GET, `${i}`));
    await rig.backend.has(2);
    await catchesUp(caller);
    const joined = caller.call(GET, "4"); // it waits for what waits already
    await rig.waits(6);
    const { port } = rig.backend;
    const beyond = [GET, PUT].map((path) => caller.call(path, "beyond"));
    await ended(...beyond);
    const text = `too many calls wait for backend 127.0.0.1:${port}`;
    for (const call of beyond) call.expectsFailure(8, text);
    const series = await rig.local.scrape();
    assertEquals(series.get(BACKEND("pending", port)), 3);
    const rejected = [...series].filter(([name]) => name.startsWith("collapser_backend_rejected"));
    assertEquals(rejected.reduce((sum, [, value]) => sum + value, 0), 2);
    rig.backend.onRequest = (request) => request.echoes();
    for (const request of [...rig.backend.requests]) request.echoes();
    await ended(...calls, joined);
    for (const [i, call] of calls.entries()) call.expects(0, `re:${i}`);
    joined.expects(0, "re:4");
  });
});

Deno.test("Scenario 10(g): what the sidecar allows its callers is announced, and a stream beyond it is refused alone", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const [announced] = caller.seen("SETTINGS");
    const limit = announced!.settings.find(([id]) => id === SETTING.maxConcurrentStreams)?.[1];
    assert(limit !== undefined && limit >= 100, `a limit of ${limit}`); // RFC 9113 §6.5.2
    const calls = Array.from({ length: limit }, () => caller.call(GET, "1"));
    await rig.settle();
    const beyond = caller.call(GET, "1");
    await rig.settle();
    assertEquals(beyond.reply.reset, "REFUSED_STREAM");
    rig.uncounted = 1;
    rig.request(0).echoes();
    await rig.settle();
    for (const call of calls) call.expects(0, "re:1");
    const again = caller.call(GET, "again");
    await rig.settle();
    rig.request(1).echoes();
    await rig.settle();
    again.expects(0, "re:again");
  });
});

/** Answers each request after a while, and knows how many were open at most on one connection. */
function watchOpenStreams(rig: SocketRig): { most(): number } {
  let most = 0;
  rig.backend.onRequest = (request) => {
    most = Math.max(most, request.backend.open.length);
    setTimeout(() => request.echoes(), CALL_MS);
  };
  return { most: () => most };
}
