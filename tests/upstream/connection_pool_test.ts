import { assert, assertEquals } from "@std/assert";
import { ERROR_CODE, SETTING } from "../../lib/wire/mod.ts";
import { goAway, settings } from "../support/frames.ts";
import { GET, type ProxyRig, PUT, withRig } from "../support/proxy_rig.ts";

const REFUSED = "Connection refused";

Deno.test("ConnectionPool connects by itself, before the first call, to the address it was given", async () => {
  await withRig({ opens: false }, async (rig) => {
    assertEquals(rig.dials, []);
    rig.proxy.open();
    await rig.settle();
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

Deno.test("ConnectionPool is asked again and again until it is there, with no restart (scenario 12)", async () => {
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

Deno.test("ConnectionPool pauses longer after each attempt, up to 600 ms, each shortened by chance", async () => {
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

Deno.test("ConnectionPool begins with short pauses again once it was reached", async () => {
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

Deno.test("ConnectionPool that accepts and says nothing is given up after the connect timeout (scenario 12)", async () => {
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

Deno.test("ConnectionPool is used only once its SETTINGS are in", async () => {
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

Deno.test("ConnectionPool that drops each connection at once is not dialled without a pause", async () => {
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

Deno.test("ConnectionPool asks at once for a new connection when one that has worked is lost", async () => {
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

Deno.test("ConnectionPool that pauses after one connection asks at once when the last one is lost", async () => {
  await withRig({ backendConnections: 2 }, async (rig) => {
    const caller = await rig.caller();
    caller.call(GET, "1");
    await rig.settle();
    rig.request(0).replies(["one"]);
    await rig.settle();
    const [kept, dropped] = rig.backends;
    dropped!.socket.ends();
    await rig.settle();
    rig.backend.socket.ends(); // the one in its place is good for nothing either, so there is a pause
    await rig.settle();
    assertEquals(rig.dials.length, 3);
    kept!.socket.ends();
    await rig.settle();
    assertEquals(rig.dials.length, 5);
    const call = caller.call(GET, "2");
    await rig.settle();
    rig.request(1).replies(["two"]);
    await rig.settle();
    call.expects(0, "two");
    assertEquals(rig.heard, ["main up"]);
  });
});

Deno.test("ConnectionPool never has more streams open than its peer allows, and widens up to need (scenario 10)", async () => {
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

Deno.test("ConnectionPool opens no more connections than it may; the rest waits, its deadlines kept (scenario 10)", async () => {
  const backendSettings = [[SETTING.maxConcurrentStreams, 1]] as const;
  await withRig({ backendSettings, backendMaxConnections: 3 }, async (rig) => {
    const caller = await rig.caller();
    const calls = Array.from({ length: 12 }, (_, i) => caller.call(GET, `${i}`));
    const bounded = caller.call(GET, "late", { metadata: [["grpc-timeout", "150m"]] });
    await rig.advance(100);
    assertEquals(rig.backends.length, 3);
    rig.expectsRequests(3);
    assertEquals(rig.gauges.pending, 10);
    await rig.advance(54);
    assertEquals(bounded.status, 4);
    assertEquals(rig.gauges.pending, 9);
    for (let done = 0; done < 12; done++) {
      rig.request(done).echoes();
      await rig.settle();
    }
    for (const [i, call] of calls.entries()) call.expects(0, `re:${i}`);
    rig.expectsRequests(12);
    assertEquals(rig.backends.length, 3);
  });
});

Deno.test("ConnectionPool sends what waits when its peer raises the stream limit", async () => {
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

Deno.test("ConnectionPool is let go of when the proxy closes, whatever it is doing", async () => {
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

Deno.test("Proxy.closed waits until what was written to backends is sent", async () => {
  await withRig({}, async (rig) => {
    const caller = await rig.caller();
    const call = caller.call(GET, "1");
    await rig.settle();
    const { socket } = rig.backends[0]!;
    socket.hold();
    call.cancels(); // which goes on to the backend, which does not read
    await rig.settle();
    rig.proxy.close();
    let isOver = false;
    void rig.proxy.closed.then(() => isOver = true);
    await rig.advance(900);
    assertEquals(isOver, false);
    socket.release();
    await rig.settle();
    assertEquals([isOver, rig.backends[0]!.seen("RST_STREAM").length], [true, 1]);
  });
});
