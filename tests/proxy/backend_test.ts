import { assert, assertEquals } from "@std/assert";
import { ERROR_CODE, SETTING } from "../../lib/wire/mod.ts";
import { goAway, settings } from "../support/frames.ts";
import { GET, type ProxyRig, PUT, withRig } from "../support/proxy_rig.ts";

const REFUSED = "Connection refused";

Deno.test("AddressBackend connects by itself, before the first call, to the address it was given", async () => {
  await withRig(async (rig) => {
    assertEquals(rig.dials, [{
      address: { host: "backend.test", port: 50_051 },
      timeoutMs: 5_000,
      atMs: 1_000_000,
    }]);
    assertEquals(rig.proxy.readiness, { ready: true, reason: "" });
    assertEquals(rig.heard, ["main up"]);
    assertEquals(rig.proxy.counters.backends[0]?.up, true);
  });
});

Deno.test("AddressBackend is asked again and again until it is there, with no restart (scenario 12)", async () => {
  await withRig({ dialling: "refuses" }, async (rig) => {
    const caller = await rig.caller();
    const reason = `the backend cannot be reached: ${REFUSED}`;
    assertEquals(rig.proxy.readiness, { ready: false, reason });
    const call = caller.call(GET, "1");
    await rig.settle();
    call.expectsFailure(14, reason);
    await rig.advance(10_000);
    assertEquals(rig.heard, [`main down: ${REFUSED}`]); // told once, not at each attempt
    rig.dialling = "accepts";
    await rig.advance(700);
    assertEquals(rig.proxy.readiness, { ready: true, reason: "" });
    assertEquals(rig.heard, [`main down: ${REFUSED}`, "main up"]);
    const next = caller.call(GET, "1");
    await rig.settle();
    rig.request(0).replies(["one"]);
    await rig.settle();
    next.expects(0, "one");
  });
});

Deno.test("AddressBackend pauses longer after each attempt, up to 600 ms, each shortened by chance", async () => {
  const pauses: number[][] = [];
  for (const seed of [1, 2]) {
    await withRig({ dialling: "refuses", seed }, async (rig) => {
      await rig.advance(5_000);
      pauses.push(rig.dials.slice(1).map(({ atMs }, i) => atMs - rig.dials[i]!.atMs));
    });
  }
  for (const series of pauses) {
    const longest = [50, 80, 128, 204.8, 327.68, 524.288, 600, 600, 600, 600];
    for (const [i, pause] of series.entries()) {
      const most = longest[Math.min(i, 9)]!;
      assert(pause >= most * 0.75 && pause <= most + 8, `pause ${i}: ${pause}, at most ${most}`);
    }
  }
  assert(pauses[0]!.some((pause, i) => pause !== pauses[1]![i]), "two seeds, two series");
});

Deno.test("AddressBackend begins with short pauses again once it was reached", async () => {
  await withRig({ dialling: "refuses" }, async (rig) => {
    await rig.advance(5_000);
    rig.dialling = "accepts";
    await rig.advance(700);
    rig.dialling = "refuses";
    await rig.advance(1_000);
    const before = rig.dials.length;
    rig.backend.socket.ends();
    await rig.advance(500);
    assert(rig.dials.length - before >= 5, `${rig.dials.length - before} attempts within 500 ms`);
  });
});

Deno.test("AddressBackend that accepts and says nothing is given up after the connect timeout (scenario 12)", async () => {
  await withRig({ backendSettings: "silent", backendConnectTimeoutMs: 2_000 }, async (rig) => {
    const caller = await rig.caller();
    const bounded = caller.call(GET, "1", { metadata: [["grpc-timeout", "1S"]] });
    const unbounded = caller.call(PUT, "1");
    await rig.advance(1_004);
    assertEquals(bounded.status, 4);
    unbounded.expectsNothing();
    await rig.advance(1_000);
    unbounded.expectsFailure(14, "the backend cannot be reached: no SETTINGS within 2000 ms");
    rig.expectsRequests(0);
    assertEquals(rig.proxy.readiness.ready, false);
    rig.backendSettings = [];
    await rig.advance(2_700);
    assertEquals(rig.proxy.readiness.ready, true);
  });
});

Deno.test("AddressBackend is used only once its SETTINGS are in", async () => {
  await withRig({ backendSettings: "silent" }, async (rig) => {
    const caller = await rig.caller();
    const call = caller.call(GET, "1");
    await rig.advance(100);
    rig.expectsRequests(0);
    assertEquals(rig.proxy.readiness.ready, false);
    assertEquals(rig.gauges.pending, 1);
    rig.backend.sends(settings());
    await rig.settle();
    rig.expectsRequests(1);
    assertEquals(rig.gauges, { flights: 1, waiters: 1, connections: 1, inflight: 1, pending: 0 });
    rig.request(0).replies(["one"]);
    await rig.settle();
    call.expects(0, "one");
  });
});

Deno.test("AddressBackend that drops each connection at once is not dialled without a pause", async () => {
  const drops: ((rig: ProxyRig) => void)[] = [
    (rig) => rig.backend.socket.ends(),
    (rig) => rig.backend.sends(goAway(0, ERROR_CODE.noError)),
  ];
  for (const drop of drops) {
    await withRig(async (rig) => {
      for (let i = 0, seen = 0; i < 1_000; i++) {
        if (rig.backends.length > seen) drop(rig);
        seen = rig.backends.length;
        await rig.advance(1);
      }
      assert(rig.dials.length > 1 && rig.dials.length < 40, `${rig.dials.length} dials in 1 s`);
      await rig.advance(1_000);
      assertEquals(rig.proxy.readiness.ready, true);
    });
  }
});

Deno.test("AddressBackend asks at once for a new connection when one that has worked is lost", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    await rig.advance(1_000);
    rig.backend.socket.ends();
    await rig.settle();
    assertEquals(rig.dials.length, 2);
    assertEquals(rig.proxy.readiness.ready, true);
    const call = caller.call(GET, "1");
    await rig.settle();
    rig.request(0).replies(["one"]);
    await rig.settle();
    call.expects(0, "one");
    assertEquals(rig.heard, ["main up"]);
  });
});

Deno.test("AddressBackend keeps calls waiting in order while a connection is made, and refuses more than it may (8)", async () => {
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
    assertEquals(rig.proxy.counters.backends[0]?.refused, { pending_full: 2, unreachable: 0 });
  });
});

Deno.test("AddressBackend fails the calls that wait when the connection cannot be made", async () => {
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

Deno.test("AddressBackend never has more streams open than its peer allows, and widens up to need (scenario 10)", async () => {
  await withRig({
    backendSettings: [[SETTING.maxConcurrentStreams, 1]],
    dialling: "hangs",
  }, async (rig) => {
    const caller = await rig.caller();
    const calls = Array.from({ length: 5 }, (_, i) => caller.call(GET, `${i}`));
    const bounded = caller.call(GET, "late", { metadata: [["grpc-timeout", "150m"]] });
    await rig.settle();
    rig.dialling = "accepts";
    rig.answerDials();
    for (let round = 0; round < 8; round++) {
      await rig.settle();
      for (const { open } of rig.backends) assert(open.length <= 1, `${open.length} open streams`);
      await rig.advance(10);
    }
    assertEquals(rig.backends.length, 6);
    assertEquals(bounded.status, undefined);
    for (const request of rig.requests) request.echoes();
    await rig.settle();
    for (const [i, call] of calls.entries()) call.expects(0, `re:${i}`);
    bounded.expects(0, "re:late");
  });
});

Deno.test("AddressBackend opens at most 8 connections; the rest waits, its deadlines kept (scenario 10)", async () => {
  await withRig({ backendSettings: [[SETTING.maxConcurrentStreams, 1]] }, async (rig) => {
    const caller = await rig.caller();
    const calls = Array.from({ length: 12 }, (_, i) => caller.call(GET, `${i}`));
    const bounded = caller.call(GET, "late", { metadata: [["grpc-timeout", "150m"]] });
    await rig.advance(100);
    assertEquals(rig.backends.length, 8);
    rig.expectsRequests(8);
    assertEquals(rig.gauges.pending, 5);
    await rig.advance(54);
    assertEquals(bounded.status, 4);
    assertEquals(rig.gauges.pending, 4);
    for (let done = 0; done < 12; done++) {
      rig.request(done).echoes();
      await rig.settle();
    }
    for (const [i, call] of calls.entries()) call.expects(0, `re:${i}`);
    rig.expectsRequests(12);
    assertEquals(rig.backends.length, 8);
  });
});

Deno.test("AddressBackend sends what waits when its peer raises the stream limit", async () => {
  await withRig({ backendSettings: [[SETTING.maxConcurrentStreams, 0]] }, async (rig) => {
    const caller = await rig.caller();
    const calls = [caller.call(GET, "1"), caller.call(GET, "2")];
    await rig.settle();
    rig.expectsRequests(0);
    rig.backends[0]!.sends(settings([SETTING.maxConcurrentStreams, 10]));
    await rig.settle();
    rig.expectsRequests(2);
    for (const request of rig.requests) request.echoes();
    await rig.settle();
    calls[0]!.expects(0, "re:1");
    calls[1]!.expects(0, "re:2");
  });
});

Deno.test("AddressBackend has no more calls under way than maxConcurrent, whatever the streams", async () => {
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

Deno.test("AddressBackend does not count a call that has begun to stream, either way", async () => {
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

Deno.test("AddressBackend never counts a call that streams before it is sent", async () => {
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

Deno.test("AddressBackend counts what it sends, how it ends and how long it takes", async () => {
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

Deno.test("AddressBackend is let go of when the proxy closes, whatever it is doing", async () => {
  const states = ["accepts", "refuses", "hangs"] as const;
  for (const dialling of states) {
    await withRig({ dialling }, async (rig) => {
      await rig.advance(100);
      const before = rig.dials.length;
      rig.proxy.close();
      rig.dialling = "accepts";
      rig.answerDials(); // the connection comes too late, and is closed
      await rig.advance(10_000);
      assertEquals(rig.dials.length, before);
    });
  }
});

Deno.test("AddressBackend ends calls under way and waiting with 14 when the proxy closes", async () => {
  await withRig({ backendMaxConcurrent: 1 }, async (rig) => {
    const caller = await rig.caller();
    const calls = [caller.call(GET, "1"), caller.call(PUT, "2")];
    await rig.settle();
    rig.proxy.close();
    await rig.settle();
    for (const call of calls) call.expectsFailure(14, "shutting down");
  });
});
