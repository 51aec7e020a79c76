import { assertEquals } from "@std/assert";
import { SETTING } from "../../lib/wire/mod.ts";
import type { Pairs } from "../support/frames.ts";
import { valueOf } from "../support/peer_end.ts";
import { GET, PUT, type RigOptions, withRig } from "../support/proxy_rig.ts";

const LIST = "/test.Service/ListItems";

/** An alarm may come this much late, as `Timers` has slots. */
const SLOT_MS = 4;

const PASSED = "the call's deadline has passed";
const SILENT = "the backend gave no answer within 10000 ms";
const STOPPED = "the backend's answer stopped: nothing more came within 10000 ms";

// ---- until the answer begins

Deno.test("FlightTime gives each caller without a deadline BACKEND_TIMEOUT from its own arrival, and the backend call the last one's", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const leader = caller.call(GET, "1");
    await rig.advance(9_500);
    const followers = [caller.call(GET, "1"), caller.call(GET, "1")];
    await rig.advance(200);
    const last = caller.call(GET, "1");
    await rig.advance(300 + SLOT_MS);
    leader.expectsFailure(4, SILENT);
    await rig.advance(9_500 - 2 * SLOT_MS);
    for (const call of followers) call.expectsNothing();
    await rig.advance(2 * SLOT_MS);
    for (const call of followers) call.expectsFailure(4, SILENT);
    assertEquals(rig.request(0).seen.reset, undefined);
    last.expectsNothing();
    rig.request(0).replies(["late"]);
    await rig.settle();
    last.expects(0, "late");
    rig.expectsRequests(1);
    assertEquals(rig.outcomes, { led: 1, joined: 3 });
  });
});

Deno.test("FlightTime counts from when the question was there, however slowly it came", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const slow = caller.call(GET, undefined, { ends: false });
    await rig.advance(5);
    slow.ends(); // no message, so it passes
    const leader = caller.call(LIST, undefined, { ends: false });
    leader.sends("1");
    await rig.advance(8);
    leader.ends();
    await rig.advance(10_000 - 1);
    leader.expectsNothing();
    await rig.advance(1 + SLOT_MS);
    leader.expectsFailure(4, SILENT);
    slow.expectsNothing(); // it has no deadline at all
  });
});

Deno.test("FlightTime bounds a caller without a deadline also where its leader has more time", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const leader = caller.call(GET, "1", { metadata: timeout("1M") });
    const patient = caller.call(GET, "1", { metadata: timeout("30S") });
    await rig.advance(50);
    const follower = caller.call(GET, "1");
    await rig.advance(9_999);
    follower.expectsNothing();
    await rig.advance(1 + SLOT_MS);
    follower.expectsFailure(4, SILENT);
    await rig.advance(10_000);
    rig.request(0).replies(["late"]);
    await rig.settle();
    for (const call of [leader, patient]) call.expects(0, "late");
    rig.expectsRequests(1);
  });
});

Deno.test("FlightTime leaves a caller its deadline alone, beside a leader that has none or has gone", async () => {
  for (const leaves of [false, true]) {
    await withRig(async (rig) => {
      const caller = await rig.caller();
      const leader = caller.call(GET, "1");
      await rig.advance(50);
      const follower = caller.call(GET, "1", { metadata: timeout("1M") });
      const short = caller.call(GET, "1", { metadata: timeout("11S") });
      await rig.advance(950);
      if (leaves) leader.cancels();
      await rig.advance(9_000 + SLOT_MS);
      if (!leaves) leader.expectsFailure(4, SILENT);
      for (const call of [follower, short]) call.expectsNothing();
      await rig.advance(2_000);
      short.expectsFailure(4, PASSED);
      assertEquals(timeoutOf(rig.request(0)), undefined);
      assertEquals(rig.request(0).seen.reset, undefined);
      rig.request(0).replies(["late"]);
      await rig.settle();
      follower.expects(0, "late");
      rig.expectsRequests(1);
    });
  }
});

Deno.test("FlightTime says of a call that was never sent what it was short of, to those alone whose time is up", async () => {
  await withRig({ dialling: "hangs", backendTimeoutMs: 4_000 }, async (rig) => {
    const caller = await rig.caller();
    const leader = caller.call(GET, "1");
    await rig.advance(50);
    const follower = caller.call(GET, "1", { metadata: timeout("1M") });
    await rig.advance(4_500);
    leader.expectsFailure(
      14,
      "waited 4004 ms in the queue of backend main, which has no connection yet",
    );
    follower.expectsNothing();
    rig.dialling = "accepts";
    rig.answerDials();
    await rig.settle();
    rig.request(0).replies(["one"]);
    await rig.settle();
    follower.expects(0, "one");
  });
});

Deno.test("FlightTime needs one alarm for all who come without a deadline", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    caller.call(GET, "1");
    await rig.settle();
    const before = rig.timers.pending;
    for (let i = 0; i < 100; i++) caller.call(GET, "1");
    await rig.advance(20);
    assertEquals(rig.timers.pending, before);
    assertEquals(rig.gauges.waiters, 101);
  });
});

// ---- between its parts

Deno.test("FlightTime does not cut a reply that flows, for want of a deadline", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const calls = [caller.call(LIST, "1"), caller.call(LIST, "1")];
    await rig.settle();
    rig.request(0).begins(["0"]);
    const all = ["0"];
    for (let i = 1; i <= 8; i++) {
      await rig.advance(9_900);
      rig.request(0).sends(`${i}`);
      all.push(`${i}`);
    }
    rig.request(0).ends();
    await rig.settle();
    for (const call of calls) call.expects(0, ...all);
    rig.expectsRequests(1);
  });
});

Deno.test("FlightTime ends a reply that stops with 4, for those without a deadline, from its last part or from their arrival", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const leader = caller.call(LIST, "1");
    const patient = caller.call(LIST, "1", { metadata: timeout("1M") });
    await rig.advance(5_000);
    rig.request(0).begins(["a"]);
    await rig.advance(3_000);
    const late = caller.call(LIST, "1");
    await rig.settle();
    assertEquals(late.messages, ["a"]);
    await rig.advance(6_999);
    assertEquals(leader.status, undefined);
    await rig.advance(1 + SLOT_MS);
    leader.expects(4, "a");
    leader.expectsFailure(4, STOPPED);
    await rig.advance(3_000 - 2 * SLOT_MS);
    assertEquals(late.status, undefined);
    await rig.advance(2 * SLOT_MS);
    late.expects(4, "a");
    late.expectsFailure(4, STOPPED);
    rig.request(0).sends("b");
    rig.request(0).ends();
    await rig.settle();
    patient.expects(0, "a", "b");
    rig.expectsRequests(1);
  });
});

Deno.test("FlightTime does not take initial metadata for the beginning of an answer", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const call = caller.call(LIST, "1");
    await rig.advance(6_000);
    rig.request(0).begins();
    await rig.advance(4_000 + SLOT_MS);
    call.expects(4);
    call.expectsFailure(4, SILENT);
    assertEquals(rig.request(0).seen.reset, "CANCEL");
  });
});

Deno.test("FlightTime counts no silence while the backend waits for readers", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller([[SETTING.initialWindowSize, 8]]);
    const call = caller.call(LIST, "1");
    await rig.settle();
    rig.request(0).begins(["0123", "4567"]);
    await rig.advance(30_000);
    assertEquals([call.status, call.reply.text.length], [undefined, 8]);
    call.grants(100); // all of it is read, so now the backend owes the next
    await rig.advance(9_999);
    assertEquals([call.status, call.messages], [undefined, ["0123", "4567"]]);
    await rig.advance(1 + SLOT_MS);
    call.expectsFailure(4, STOPPED);
  });
});

Deno.test("FlightTime leaves alone who has not read all of a reply that has ended", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller([[SETTING.initialWindowSize, 8]]);
    const call = caller.call(GET, "1");
    await rig.settle();
    rig.request(0).replies(["0123456789"]);
    await rig.advance(60_000);
    assertEquals([call.status, call.reply.text.length], [undefined, 8]);
    call.grants(100);
    await rig.settle();
    call.expects(0, "0123456789");
  });
});

// ---- what the backend is told

Deno.test("FlightTime has the backend told of BACKEND_TIMEOUT, of what its leader has left if that is more, or of nothing", async () => {
  const given: readonly (readonly [path: string, given: Pairs, told: string | undefined])[] = [
    [GET, timeout("200m"), "10S"],
    [GET, timeout("10S"), "10S"],
    [GET, timeout("10001m"), "10001m"],
    [GET, timeout("1M"), "1M"],
    [GET, [], undefined],
    [PUT, timeout("200m"), "200m"],
    [PUT, [], undefined],
  ];
  for (const [path, metadata, told] of given) {
    await withRig(async (rig) => {
      const caller = await rig.caller();
      caller.call(path, "1", { metadata });
      await rig.settle();
      if (path === GET) caller.call(path, "1", { metadata: timeout("2H") });
      await rig.settle();
      assertEquals(timeoutOf(rig.request(0)), told);
      rig.expectsRequests(1);
    });
  }
});

// ---- initial metadata, and a backend that keeps to the time it was told of

const SHORT: RigOptions = { backendTimeoutMs: 1_000 };

Deno.test("FlightTime holds initial metadata back from those alone who may need another call's, and a second call's end is theirs", async () => {
  for (const status of [0, 5]) {
    await withRig(SHORT, async (rig) => {
      const caller = await rig.caller();
      const leader = caller.call(LIST, "1", { metadata: timeout("900m") });
      const early = caller.call(LIST, "1", { metadata: timeout("9S") });
      const equal = caller.call(LIST, "1", { metadata: timeout("1S") });
      await rig.settle();
      rig.request(0).begins([], { headers: [["x-call", "first"]] });
      await rig.settle();
      const late = caller.call(LIST, "1"); // 1,000 ms from now on are more than the backend has
      await rig.advance(600);
      const later = caller.call(LIST, "1");
      await rig.settle();
      for (const call of [leader, equal]) {
        assertEquals(valueOf(call.reply.blocks[0], "x-call"), "first");
      }
      for (const call of [early, later]) call.expectsNothing();
      await rig.advance(390);
      rig.request(0).ends({ status: 4 });
      await rig.settle();
      leader.expectsFailure(4, PASSED);
      equal.expectsFailure(4, PASSED);
      late.expectsFailure(4, "the backend gave no answer within 1000 ms");
      rig.expectsRequests(2);
      rig.request(1).replies(["one"], { status, headers: [["x-call", "second"]] });
      await rig.settle();
      for (const call of [early, later]) {
        call.expects(status, "one");
        assertEquals(call.reply.blocks.length, 2);
        assertEquals(valueOf(call.reply.blocks[0], "x-call"), "second");
      }
    });
  }
});

Deno.test("FlightTime hands initial metadata that it held back on with the first message, or with the end", async () => {
  await withRig(SHORT, async (rig) => {
    const caller = await rig.caller();
    const calls = ["1", "2"].map((said) => {
      caller.call(LIST, said, { metadata: timeout("500m") });
      return caller.call(LIST, said, { metadata: timeout("9S") });
    });
    await rig.settle();
    for (const request of rig.requests) request.begins([], { headers: [["x-call", "first"]] });
    await rig.settle();
    for (const call of calls) call.expectsNothing();
    rig.request(0).sends("a");
    rig.request(1).ends({ status: 9 });
    await rig.settle();
    assertEquals(calls.map(({ messages, status }) => [messages, status]), [
      [["a"], undefined],
      [[], 9],
    ]);
    for (const call of calls) assertEquals(valueOf(call.reply.blocks[0], "x-call"), "first");
    rig.request(0).ends();
    await rig.settle();
    calls[0]!.expects(0, "a");
    rig.expectsRequests(2);
  });
});

Deno.test("FlightTime holds no initial metadata back where the backend was told of no time", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const calls = [
      caller.call(LIST, "1"),
      caller.call(LIST, "1"),
      caller.call(LIST, "1", { metadata: timeout("1M") }),
    ];
    await rig.settle();
    rig.request(0).begins();
    await rig.settle();
    for (const call of calls) assertEquals(call.reply.blocks.length, 1);
    rig.request(0).ends({ status: 4 }); // its own word, then
    await rig.settle();
    for (const call of calls) call.expects(4);
    rig.expectsRequests(1);
  });
});

function timeout(value: string): Pairs {
  return [["grpc-timeout", value]];
}

function timeoutOf({ fields }: { fields: Pairs }): string | undefined {
  return valueOf(fields, "grpc-timeout");
}
