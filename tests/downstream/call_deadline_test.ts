import { assertEquals } from "@std/assert";
import { ERROR_CODE } from "../../lib/wire/mod.ts";
import type { Pairs } from "../support/frames.ts";
import { valueOf } from "../support/peer_end.ts";
import { GET, type ProxyRig, PUT, withRig } from "../support/proxy_rig.ts";

/** An alarm may come this much late, as `Timers` has slots. */
const SLOT_MS = 4;

const PASSED = "the call's deadline has passed";

const CUT_SHORT =
  "the backend ended its answer when the time was up that another caller had given it";

Deno.test("Call ends with 4 at its deadline, and its backend call is cancelled (scenario 31)", async () => {
  for (const path of [GET, PUT]) {
    await withRig(async (rig) => {
      const caller = await rig.caller();
      const call = caller.call(path, "1", { metadata: timeout("200m") });
      await rig.advance(199);
      call.expectsNothing();
      await rig.advance(1 + SLOT_MS);
      call.expectsFailure(4, PASSED);
      assertEquals(rig.request(0).seen.reset, "CANCEL");
    });
  }
});

Deno.test("Call has a deadline of its own, and its leader none (scenario 31)", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const leader = caller.call(GET, "1");
    await rig.advance(50);
    const follower = caller.call(GET, "1", { metadata: timeout("200m") });
    await rig.advance(200 + SLOT_MS);
    follower.expectsFailure(4, PASSED);
    leader.expectsNothing();
    await rig.advance(750);
    rig.request(0).replies(["one"]);
    await rig.settle();
    leader.expects(0, "one");
    rig.expectsRequests(1);
    assertEquals(rig.request(0).seen.reset, undefined);
  });
});

Deno.test("Call has nothing of what another one on its connection asks for while its message is on its way", async () => {
  for (const path of [GET, PUT]) {
    await withRig(async (rig) => {
      const caller = await rig.caller();
      const call = caller.call(path, undefined, { ends: false });
      caller.call("/test.Service/GetOther", "2", {
        metadata: [...timeout("200m"), ["cache-control", "no-store"]],
      });
      call.sends("1", { ends: true });
      await rig.settle();
      const request = rig.requests.find((each) => each.path === path)!;
      assertEquals(valueOf(request.fields, "grpc-timeout"), undefined);
      assertEquals(valueOf(request.fields, "cache-control"), undefined);
    });
  }
});

Deno.test("Call passes on what is left of its time, in whole", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    caller.call(PUT, "1", { metadata: timeout("200m") });
    const alone: Pairs = [...timeout("200m"), ["cache-control", "no-store"]];
    const late = caller.call(GET, undefined, { ends: false, metadata: alone });
    await rig.advance(5);
    late.sends("1", { ends: true });
    caller.call("/test.Service/GetOther", "2", { metadata: timeout("1H") });
    await rig.settle();
    assertEquals(rig.requests.map(timeoutOf), ["200m", "195m", "1H"]);
    await rig.advance(400);
  });
});

Deno.test("Call ends at its deadline also while its message is awaited", async () => {
  await withRig(async (rig) => {
    rig.onRequest = (request) => request.echoes();
    const caller = await rig.caller();
    caller.call(GET, "known to be unary now");
    await rig.settle();
    const call = caller.call(GET, undefined, { ends: false, metadata: timeout("100m") });
    await rig.advance(100 + SLOT_MS);
    call.expectsFailure(4, PASSED);
    rig.expectsRequests(1);
    assertEquals(rig.outcomes, { led: 1, rejected: 1 });
  });
});

Deno.test("Call that waits for a backend ends at its deadline and never reaches it (scenario 10)", async () => {
  await withRig({ dialling: "hangs" }, async (rig) => {
    const caller = await rig.caller();
    const calls = [GET, PUT].map((path) => caller.call(path, "1", { metadata: timeout("150m") }));
    const patient = caller.call(PUT, "2", { metadata: timeout("1S") });
    await rig.settle();
    assertEquals(rig.gauges.pending, 3);
    await rig.advance(150 + SLOT_MS);
    for (const call of calls) call.expectsFailure(4, PASSED);
    assertEquals(rig.gauges.pending, 1);
    await rig.advance(46);
    rig.dialling = "accepts";
    rig.answerDials();
    await rig.settle();
    rig.expectsRequests(1);
    assertEquals(timeoutOf(rig.request(0)), "800m");
    rig.request(0).replies(["two"]);
    await rig.settle();
    patient.expects(0, "two");
  });
});

Deno.test("FlightCall is bounded by backendTimeoutMs when its leader set no deadline", async () => {
  await withRig({ backendTimeoutMs: 3_000 }, async (rig) => {
    const caller = await rig.caller();
    const calls = [caller.call(GET, "1"), caller.call(GET, "1")];
    await rig.advance(2_999);
    for (const call of calls) call.expectsNothing();
    await rig.advance(1 + SLOT_MS);
    for (const call of calls) call.expectsFailure(4, "the backend gave no answer within 3000 ms");
    assertEquals(rig.request(0).seen.reset, "CANCEL");
    assertEquals(timeoutOf(rig.request(0)), undefined);
    rig.expectsRequests(1);
  });
});

Deno.test("FlightCall is not bounded by backendTimeoutMs while its leader has more time, nor is a passed call", async () => {
  await withRig({ backendTimeoutMs: 3_000 }, async (rig) => {
    const caller = await rig.caller();
    const led = caller.call(GET, "1", { metadata: timeout("1M") });
    const passed = caller.call(PUT, "1");
    await rig.advance(50_000);
    for (const request of rig.requests) request.replies(["late"]);
    await rig.settle();
    for (const call of [led, passed]) call.expects(0, "late");
  });
});

Deno.test("FlightCall goes on without a leader whose deadline came first (scenario 32)", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const leader = caller.call(GET, "1", { metadata: timeout("100m") });
    const followers = Array.from({ length: 3 }, () => caller.call(GET, "1"));
    await rig.advance(100 + SLOT_MS);
    leader.expectsFailure(4, PASSED);
    await rig.advance(400);
    rig.request(0).replies(["one"]);
    await rig.settle();
    for (const call of followers) call.expects(0, "one");
    rig.expectsRequests(1);
    assertEquals(rig.request(0).seen.reset, undefined);
  });
});

Deno.test("FlightCall does not call again when the backend is silent until backendTimeoutMs", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const leader = caller.call(GET, "1", { metadata: timeout("100m") });
    const follower = caller.call(GET, "1");
    await rig.advance(10_000 + SLOT_MS);
    leader.expectsFailure(4, PASSED);
    follower.expectsFailure(4, "the backend gave no answer within 10000 ms");
    rig.expectsRequests(1);
  });
});

Deno.test("FlightCall calls again when the backend kept the time it was told of, for those with more", async () => {
  const ends = [
    (rig: ProxyRig) => rig.request(0).fails(4),
    (rig: ProxyRig) => rig.request(0).resets(8),
  ];
  for (const end of ends) {
    for (const afterMs of [60, 99, 110]) { // within what clocks may differ, just before, after
      await withRig({ backendTimeoutMs: 100 }, async (rig) => {
        const caller = await rig.caller();
        const leader = caller.call(GET, "1", {
          metadata: [...timeout("100m"), ["x-request-id", "leader"]],
        });
        const short = caller.call(GET, "1", { metadata: timeout("120m") });
        const middle = caller.call(GET, "1", { metadata: timeout("5S") });
        const longest = caller.call(GET, "1", {
          metadata: [...timeout("9S"), ["x-request-id", "longest"]],
        });
        await rig.advance(afterMs);
        end(rig);
        await rig.settle();
        rig.expectsRequests(2);
        assertEquals(valueOf(rig.request(1).fields, "x-request-id"), "longest");
        assertEquals(timeoutOf(rig.request(1)), `${9_000 - afterMs}m`);
        assertEquals(rig.request(1).messages, ["1"]);
        assertEquals(leader.status, 4);
        rig.request(1).replies(["one"]);
        await rig.settle();
        for (const call of [middle, longest]) call.expects(0, "one");
        assertEquals(short.status, afterMs < 70 ? 0 : 4); // its own time is (nearly) up or not
      });
    }
  }
});

Deno.test("FlightCall shares a 4 that has nothing to do with its leader's deadline", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const calls = [
      caller.call(GET, "1", { metadata: timeout("1S") }),
      caller.call(GET, "1"),
      caller.call(GET, "2"),
      caller.call(GET, "2"),
    ];
    await rig.advance(100);
    for (const request of rig.requests) request.fails(4, [["x-own", "1"]]);
    await rig.settle();
    for (const call of calls) {
      call.expects(4);
      assertEquals(valueOf(call.trailers, "x-own"), "1");
    }
    rig.expectsRequests(2);
  });
});

Deno.test("FlightCall ends with 14 for those with more time when they were given some of the answer already", async () => {
  await withRig({ backendTimeoutMs: 100 }, async (rig) => {
    const caller = await rig.caller();
    const leader = caller.call(GET, "1", { metadata: timeout("100m") });
    const followers = ["5S", "9S"].map((value) =>
      caller.call(GET, "1", { metadata: timeout(value) })
    );
    const silent = caller.call(GET, "1");
    await rig.settle();
    rig.request(0).begins(["a"]);
    await rig.advance(98);
    rig.request(0).ends({ status: 4 });
    await rig.settle();
    leader.expects(4, "a");
    leader.expectsFailure(4, PASSED);
    silent.expects(4, "a");
    silent.expectsFailure(4, "the backend's answer stopped: nothing more came within 100 ms");
    for (const call of followers) {
      call.expects(14, "a");
      call.expectsFailure(14, CUT_SHORT);
    }
    assertEquals(rig.gauges.flights, 0);
    rig.expectsRequests(1);
  });
});

Deno.test("FlightCall does not call again when nobody has more time", async () => {
  await withRig({ backendTimeoutMs: 100 }, async (rig) => {
    const caller = await rig.caller();
    const calls = [100, 110, 120].map((ms) =>
      caller.call(GET, "1", { metadata: timeout(`${ms}m`) })
    );
    await rig.advance(95);
    rig.request(0).fails(4);
    await rig.settle();
    for (const call of calls) call.expects(4);
    rig.expectsRequests(1);
  });
});

Deno.test("FlightCall that is sent after its leader has left is given the time of those who wait", async () => {
  const others: readonly (readonly [given: Pairs, sent: string | undefined])[] = [
    [[], undefined],
    [timeout("5S"), "10S"],
    [timeout("1M"), "59800m"],
  ];
  for (const [given, sent] of others) {
    for (const leaves of ["deadline", "cancel"] as const) {
      await withRig({ dialling: "hangs" }, async (rig) => {
        const caller = await rig.caller();
        const leader = caller.call(GET, "1", {
          metadata: [...timeout("100m"), ["x-request-id", "7"]],
        });
        const followers = [
          caller.call(GET, "1", { metadata: timeout("1S") }),
          caller.call(GET, "1", { metadata: given }),
        ];
        await rig.settle();
        if (leaves === "cancel") leader.cancels();
        await rig.advance(200);
        rig.dialling = "accepts";
        rig.answerDials();
        await rig.settle();
        assertEquals([timeoutOf(rig.request(0)), valueOf(rig.request(0).fields, "x-request-id")], [
          sent,
          "7",
        ]);
        rig.request(0).replies(["one"]);
        await rig.settle();
        for (const call of followers) call.expects(0, "one");
        rig.expectsRequests(1);
      });
    }
  }
});

Deno.test("FlightCall that is refused after its leader has left is sent once more for those who wait", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const leader = caller.call(GET, "1", { metadata: timeout("100m") });
    const follower = caller.call(GET, "1", { metadata: timeout("20S") });
    await rig.advance(150);
    leader.expectsFailure(4, PASSED);
    assertEquals(timeoutOf(rig.request(0)), "10S");
    rig.request(0).resets(7);
    await rig.settle();
    assertEquals(timeoutOf(rig.request(1)), "19850m");
    rig.request(1).replies(["one"]);
    await rig.settle();
    follower.expects(0, "one");
  });
});

Deno.test("Call that is refused when its time is up ends with 4, and is sent once more for those with more time", async () => {
  for (const path of [GET, PUT]) {
    await withRig(async (rig) => {
      const caller = await rig.caller();
      const hurried = caller.call(path, "1", { metadata: timeout("200m") });
      const patient = path === GET ? caller.call(path, "1") : undefined;
      await rig.settle();
      rig.request(0).resets(ERROR_CODE.refusedStream);
      await rig.stall(201); // the reset is read before the deadline's alarm is woken
      hurried.expectsFailure(4, PASSED);
      if (patient === undefined) return rig.expectsRequests(1);
      rig.request(1).replies(["one"]);
      await rig.settle();
      patient.expects(0, "one");
      rig.expectsRequests(2);
    });
  }
});

Deno.test("FlightCall knows what the backend was told also when its leader has left before", async () => {
  await withRig({ backendTimeoutMs: 100 }, async (rig) => {
    const caller = await rig.caller();
    const leader = caller.call(GET, "1", { metadata: timeout("100m") });
    const follower = caller.call(GET, "1", { metadata: timeout("2S") });
    await rig.advance(50);
    leader.cancels();
    await rig.advance(50);
    rig.request(0).fails(4); // the backend was told of 100 ms
    await rig.settle();
    assertEquals(timeoutOf(rig.request(1)), "1900m");
    rig.request(1).replies(["one"]);
    await rig.settle();
    follower.expects(0, "one");
  });
});

Deno.test("FlightCall's second call is bounded, cancelled and shared like the first", async () => {
  await withRig({ backendTimeoutMs: 1_000 }, async (rig) => {
    const caller = await rig.caller();
    caller.call(GET, "1", { metadata: timeout("100m") });
    const patient = caller.call(GET, "1", { metadata: timeout("985m") });
    await rig.advance(500);
    const followers = [caller.call(GET, "1"), caller.call(GET, "1")];
    await rig.advance(490);
    rig.request(0).fails(4);
    await rig.settle();
    const late = caller.call(GET, "1");
    await rig.settle();
    patient.expectsFailure(4, PASSED);
    rig.expectsRequests(2);
    assertEquals(timeoutOf(rig.request(1)), undefined);
    await rig.advance(510 + SLOT_MS);
    for (const call of followers) {
      call.expectsFailure(4, "the backend gave no answer within 1000 ms");
    }
    late.expectsNothing();
    assertEquals(rig.request(1).seen.reset, undefined);
    await rig.advance(490);
    late.expectsFailure(4, "the backend gave no answer within 1000 ms");
    assertEquals(rig.request(1).seen.reset, "CANCEL");
  });
});

function timeout(value: string): Pairs {
  return [["grpc-timeout", value]];
}

function timeoutOf({ fields }: { fields: Pairs }): string | undefined {
  return valueOf(fields, "grpc-timeout");
}

Deno.test("Call that its backend cancels as the deadline passes has missed it; before that it was cancelled", async () => {
  for (const path of [GET, PUT]) {
    for (const [afterMs, status] of [[960, 4], [900, 1]] as const) {
      await withRig(async (rig) => {
        const caller = await rig.caller();
        const call = caller.call(path, "k", { metadata: [["grpc-timeout", "1S"]] });
        await rig.settle();
        await rig.advance(afterMs);
        rig.request(0).resets(ERROR_CODE.cancel);
        await rig.settle();
        // The backend of a call that may be shared was told of BACKEND_TIMEOUT, which has not passed.
        assertEquals(call.status, path === GET ? 1 : status, `${path} after ${afterMs} ms`);
      });
    }
  }
});
