import { assertEquals } from "@std/assert";
import { ERROR_CODE } from "../../lib/wire/mod.ts";
import { GET, PUT, withRig } from "../support/proxy_rig.ts";
import { EndpointRig } from "./endpoint_rig.ts";

const REFUSED = "Connection refused";

const [, SERVICE = "", PUT_ITEM = ""] = PUT.split("/");

Deno.test("Endpoint keeps calls waiting in order while a connection is made, and refuses more than it may (8)", async () => {
  await withRig({ dialling: "hangs", backendMaxPending: 3 }, async (rig) => {
    const caller = await rig.caller();
    const calls = ["1", "2", "3", "4"].map((message) => caller.call(PUT, message));
    const joined = caller.call(GET, "5");
    await rig.settle();
    calls[3]!.expectsFailure(8, "too many calls wait for backend main");
    assertEquals(joined.status, 8);
    assertEquals(rig.gauges.pending, 3);
    calls[1]!.cancels();
    await rig.settle();
    const late = caller.call(PUT, "6");
    await rig.settle();
    rig.dialling = "accepts";
    rig.answerDials();
    await rig.settle();
    assertEquals(rig.requests.map(({ messages }) => messages[0]), ["1", "3", "6"]);
    for (const request of rig.requests) request.echoes();
    await rig.settle();
    calls[0]!.expects(0, "re:1");
    calls[2]!.expects(0, "re:3");
    late.expects(0, "re:6");
    assertEquals(rig.proxy.counters.backends[0]?.refused, {
      ...{ pending_full: 2, method_full: 0, unreachable: 0, ejected: 0, queue_timeout: 0 },
    });
  });
});

Deno.test("Endpoint fails the calls that wait when the connection cannot be made", async () => {
  await withRig({ dialling: "hangs" }, async (rig) => {
    const caller = await rig.caller();
    const calls = [caller.call(GET, "1"), caller.call(GET, "1"), caller.call(PUT, "1")];
    await rig.advance(500);
    for (const call of calls) call.expectsNothing();
    rig.dialling = "refuses";
    rig.answerDials();
    await rig.settle();
    for (const call of calls) {
      call.expectsFailure(14, `the backend cannot be reached: ${REFUSED}`);
    }
    const next = caller.call(PUT, "1");
    await rig.settle();
    next.expectsFailure(14, `the backend cannot be reached: ${REFUSED}`);
    assertEquals(rig.proxy.counters.backends[0]?.refused.unreachable, 1);
  });
});

Deno.test("Endpoint has no more calls under way than maxConcurrent, whatever the streams", async () => {
  await withRig({ backendMaxConcurrent: 2 }, async (rig) => {
    const caller = await rig.caller();
    const calls = Array.from({ length: 5 }, (_, i) => caller.call(PUT, `${i}`));
    await rig.settle();
    rig.expectsRequests(2);
    assertEquals(rig.gauges, { flights: 0, waiters: 0, connections: 1, inflight: 2, pending: 3 });
    rig.request(0).echoes();
    await rig.settle();
    rig.expectsRequests(3);
    calls[1]!.cancels(); // its place is free as well
    await rig.settle();
    rig.expectsRequests(4);
    rig.request(2).resets(ERROR_CODE.internalError);
    await rig.settle();
    rig.expectsRequests(5);
    assertEquals(rig.backends.length, 1);
    assertEquals(rig.gauges.pending, 0);
    for (const i of [3, 4]) rig.request(i).echoes();
    await rig.settle();
    calls[3]!.expects(0, "re:3");
    calls[4]!.expects(0, "re:4");
  });
});

Deno.test("Endpoint does not count a call that has begun to stream, either way", async () => {
  await withRig({ backendMaxConcurrent: 1 }, async (rig) => {
    const caller = await rig.caller();
    const asking = caller.call(PUT, "1", { ends: false });
    const waiting = caller.call(PUT, "w1");
    await rig.settle();
    rig.expectsRequests(1);
    asking.sends("2"); // a second message of the request
    await rig.settle();
    rig.expectsRequests(2);
    assertEquals(rig.gauges, { flights: 0, waiters: 0, connections: 1, inflight: 1, pending: 0 });
    rig.request(1).echoes();
    const answered = caller.call("/test.Service/ListItems", "1");
    const behind = caller.call(PUT, "w2");
    await rig.settle();
    rig.expectsRequests(3);
    rig.request(2).begins(["a"]);
    await rig.settle();
    rig.expectsRequests(3);
    rig.request(2).sends("b"); // a second message of the reply
    await rig.settle();
    rig.expectsRequests(4);
    rig.request(3).echoes();
    for (const i of [0, 2]) {
      rig.request(i).begins();
      rig.request(i).ends();
    }
    await rig.settle();
    asking.expects(0);
    waiting.expects(0, "re:w1");
    behind.expects(0, "re:w2");
    answered.cancels();
    await rig.settle();
  });
});

Deno.test("Endpoint never counts a call that streams before it is sent", async () => {
  await withRig({ backendMaxConcurrent: 1 }, async (rig) => {
    const caller = await rig.caller();
    const stream = caller.call(GET, "1", { ends: false });
    stream.sends("2");
    const other = caller.call(PUT, "3");
    await rig.settle();
    rig.expectsRequests(2);
    rig.request(1).echoes();
    stream.cancels();
    await rig.settle();
    other.expects(0, "re:3");
  });
});

Deno.test("Endpoint counts what it sends, how it ends and how long it takes", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    caller.call(GET, "1");
    caller.call(PUT, "2");
    caller.call(PUT, "3").cancels();
    await rig.advance(200);
    rig.request(0).replies(["x"]);
    rig.request(1).fails(9);
    await rig.settle();
    const { answers, calls, latency } = rig.proxy.counters.backends[0]!;
    assertEquals([calls, latency.count], [3, 3]);
    assertEquals([answers.counts[0], answers.counts[9], answers.counts[1]], [1, 1, 1]);
    assertEquals(latency.sumSeconds, 0.4);
  });
});

Deno.test("Endpoint ends calls under way and waiting with 14 when the proxy closes", async () => {
  await withRig({ backendMaxConcurrent: 1 }, async (rig) => {
    const caller = await rig.caller();
    const calls = [caller.call(GET, "1"), caller.call(PUT, "2")];
    await rig.settle();
    rig.proxy.close();
    await rig.settle();
    for (const call of calls) call.expectsFailure(14, "shutting down");
  });
});

Deno.test("Endpoint keeps a method within what the policy allows of it, and leaves the others its places", async () => {
  const policies = [{ service: SERVICE, method: PUT_ITEM, maxConcurrent: 2 }];
  await withRig({ policies, backendMaxConcurrent: 3 }, async (rig) => {
    const caller = await rig.caller();
    const slow = ["1", "2", "3"].map((message) => caller.call(PUT, message));
    const other = caller.call(GET, "1");
    await rig.settle();
    const why = "backend main has 2 calls of this method already, as many as the policy allows";
    slow[2]!.expectsFailure(8, why);
    assertEquals(rig.proxy.counters.backends[0]!.refused.method_full, 1);
    rig.request(2).echoes();
    await rig.settle();
    other.expects(0, "re:1");
    slow[0]!.cancels(); // its place is free as well
    await rig.settle();
    const next = caller.call(PUT, "4");
    await rig.settle();
    for (const i of [1, 3]) rig.request(i).echoes();
    await rig.settle();
    next.expects(0, "re:4");
  });
});

Deno.test("Endpoint counts calls of a method that wait, and none that has begun to stream", async () => {
  const policies = [{ service: SERVICE, method: PUT_ITEM, maxConcurrent: 2 }];
  await withRig({ policies, backendMaxConcurrent: 1 }, async (rig) => {
    const caller = await rig.caller();
    const calls = ["1", "2", "3"].map((message) => caller.call(PUT, message));
    await rig.settle();
    assertEquals(calls[2]!.status, 8);
    assertEquals(rig.gauges.pending, 1);
    rig.request(0).begins(["one", "two"]);
    await rig.settle();
    rig.expectsRequests(2); // the one that waited
    const next = caller.call(PUT, "4");
    await rig.settle();
    assertEquals(rig.gauges.pending, 1);
    rig.request(0).ends();
    rig.request(1).echoes();
    await rig.settle();
    rig.request(2).echoes();
    await rig.settle();
    next.expects(0, "re:4");
  });
});

Deno.test("Endpoint sends no more calls once more than its budget allows", async () => {
  const rig = await EndpointRig.open({ maxConcurrent: 1_000 });
  for (let i = 0; i < 200; i++) rig.call(`${i}`);
  await rig.settle();
  for (const request of [...rig.requests]) request.resets(ERROR_CODE.refusedStream);
  await rig.settle();
  assertEquals(rig.requests.length, 200 + 124); // a hundred, and a fifth of those that are sent meanwhile
  assertEquals(rig.counters.answers.counts[14], 76);
  for (const { open } of rig.backends) for (const request of open) request.echoes();
  await rig.settle();
  assertEquals([rig.counters.answers.counts[0], rig.counters.calls], [124, 324]);
  await rig.finish();
});

Deno.test("Endpoint learns how many calls its backend takes from answers, and from no other end", async () => {
  const rig = await EndpointRig.open({ adapts: true, maxConcurrent: 100 });
  assertEquals(rig.counters.limit, 8); // while it is measured
  for (let i = 0; i < 100; i++) {
    const { exchange } = rig.call(`${i}`);
    rig.endpoint.settle(exchange, { kind: "backendTimeout", timeoutMs: 1, hasBegun: false });
  }
  await rig.settle();
  assertEquals(rig.counters.limit, 8);
  for (let i = 0; i < 32; i++) {
    assertEquals(rig.counters.limit, 8);
    rig.call(`${i}`);
    await rig.settle();
    rig.request(-1).echoes();
    await rig.settle();
  }
  assertEquals(rig.counters.limit, 64);
  await rig.finish();
});

Deno.test("Endpoint takes no place, counts nothing and tells its group nothing of a call of the sidecar's own", async () => {
  const rig = await EndpointRig.open({ maxPending: 0 });
  rig.call("holder");
  const { owner } = rig.call("own", { isProbe: true });
  await rig.settle();
  assertEquals(rig.requests.length, 2);
  assertEquals(rig.held, { inflight: 1, pending: 0 });
  rig.request(1).echoes();
  await rig.settle();
  assertEquals(owner.heard, ["ended"]);
  const { calls, latency, answers, refused } = rig.counters;
  assertEquals([calls, latency.count, answers.counts[0], refused.pending_full], [1, 0, 0, 0]);
  assertEquals([rig.group.left, rig.group.answered], [[], []]);
  rig.dialling = "refuses";
  rig.backend.socket.ends();
  await rig.settle();
  const failed = rig.call("own", { isProbe: true });
  assertEquals([failed.owner.heard, failed.exchange.reply.status], [["ended"], 14]);
  assertEquals(rig.counters.refused.unreachable, 0);
  await rig.finish();
});

Deno.test("Endpoint tells its group of the first message alone, and whenever it can be reached or no longer", async () => {
  const rig = await EndpointRig.open();
  assertEquals([rig.group.reached, rig.endpoint.isDown, rig.endpoint.trouble], [1, false, ""]);
  const { exchange } = rig.call("1");
  await rig.settle();
  rig.request(0).begins();
  await rig.settle();
  assertEquals(rig.group.answered, []);
  rig.request(0).sends("a");
  rig.request(0).sends("b");
  rig.request(0).ends();
  await rig.settle();
  assertEquals(rig.group.answered, [exchange]);
  rig.dialling = "refuses";
  rig.backend.socket.ends();
  await rig.settle();
  assertEquals([rig.group.reached, rig.endpoint.isDown], [2, true]);
  assertEquals(rig.endpoint.trouble, REFUSED);
  rig.dialling = "accepts";
  await rig.advance(1_000);
  assertEquals([rig.group.reached, rig.endpoint.isDown, rig.endpoint.trouble], [3, false, ""]);
  rig.dialling = "hangs";
  rig.backend.socket.ends();
  await rig.advance(700); // and it may come back any moment
  assertEquals([rig.group.reached, rig.endpoint.isDown, rig.counters.up], [4, false, false]);
  await rig.finish();
});

Deno.test("Endpoint refuses no caller for a call of the sidecar's own that waits for a connection", async () => {
  const rig = await EndpointRig.open({ dialling: "hangs", maxPending: 1 });
  const own = rig.call("own", { isProbe: true });
  assertEquals(rig.held, { inflight: 0, pending: 0 });
  const { owner } = rig.call("1");
  assertEquals([owner.heard, rig.held], [[], { inflight: 0, pending: 1 }]);
  const late = rig.call("late", { isProbe: true });
  assertEquals(late.owner.heard, []); // nor for a queue of callers that is full
  rig.dialling = "accepts";
  rig.answerDials();
  await rig.settle();
  for (const request of [...rig.requests]) request.echoes();
  await rig.settle();
  for (const { owner } of [own, late]) assertEquals(owner.heard, ["ended"]);
  assertEquals(owner.heard, ["ended"]);
  await rig.finish();
});

Deno.test("Endpoint sends a call that begins to stream while it waits, before those that need a place", async () => {
  const rig = await EndpointRig.open({ maxConcurrent: 1 });
  rig.call("holder");
  const behind = rig.call("behind");
  const { exchange } = rig.call("first", { ends: false });
  await rig.settle();
  assertEquals([rig.requests.length, rig.held], [1, { inflight: 1, pending: 2 }]);
  exchange.isStreaming = true;
  rig.endpoint.bodyGrew(exchange);
  await rig.settle();
  assertEquals([rig.requests.length, rig.held], [2, { inflight: 1, pending: 1 }]);
  assertEquals(rig.request(1).messages, ["first"]);
  rig.request(0).echoes();
  await rig.settle();
  rig.request(2).echoes();
  await rig.settle();
  assertEquals(behind.owner.heard, ["ended"]);
  await rig.finish();
});

Deno.test("Endpoint opens another connection for a call that streams when all places are taken", async () => {
  const rig = await EndpointRig.open({ maxConcurrent: 1, backendSettings: [[3, 1]] });
  rig.call("holder");
  const { exchange, owner } = rig.call("first", { ends: false });
  const behind = rig.call("behind");
  await rig.settle();
  exchange.isStreaming = true;
  rig.endpoint.bodyGrew(exchange);
  await rig.settle();
  assertEquals([rig.backends.length, rig.requests.length], [2, 2]);
  assertEquals([rig.request(1).messages, owner.heard], [["first"], []]);
  assertEquals(rig.held, { inflight: 1, pending: 1 });
  rig.endpoint.cancel(behind.exchange);
  assertEquals(rig.held, { inflight: 1, pending: 0 });
  await rig.finish();
});
