import { assertEquals, assertThrows } from "@std/assert";
import type { Connection, Stream } from "../../lib/connection/mod.ts";
import type { CallContext } from "../../lib/downstream/call_context.ts";
import type { CallerLink } from "../../lib/downstream/caller_link.ts";
import type { Method } from "../../lib/downstream/method_table.ts";
import { ReadingCall } from "../../lib/downstream/reading_call.ts";
import type { RequestRoute } from "../../lib/downstream/request_route.ts";
import { MethodCounters, type Outcome, ProxyCounters } from "../../lib/observe/mod.ts";
import { Timers } from "../../lib/transport/mod.ts";
import type { ReplySource } from "../../lib/upstream/mod.ts";
import { MAX_WINDOW_BYTES, SETTING } from "../../lib/wire/mod.ts";
import { FakeClock } from "../support/fake_clock.ts";
import {
  data,
  headers,
  type Pairs,
  REQUEST,
  RESPONSE,
  settings,
  windowUpdate,
} from "../support/frames.ts";
import { framed, type SettingPairs, valueOf } from "../support/peer_end.ts";
import { GET, PUT, withRig } from "../support/proxy_rig.ts";
import { logOf, ScriptedPeer } from "../support/scripted_peer.ts";

/** An alarm may come this much late, as `Timers` has slots. */
const SLOT_MS = 4;

/** DATA of the largest frame. */
const PIECE = new Uint8Array(16_384);

/** A call that reads what a test gives it. */
class Reader extends ReadingCall<Reader> {
  readonly isWithinMessage = false;

  passQuietly(): void {}

  /** Reads a reply, for this reason. */
  reads(source: ReplySource, outcome: Outcome = "hit"): void {
    this.decide(outcome);
    this.read(source);
  }
}

/** A caller's connection with one call on it, and all that the call touches. */
function reading(options: { settings?: SettingPairs; timeoutMs?: number } = {}) {
  const peer = new ScriptedPeer("server", { settings: options.settings ?? [] });
  peer.sends(headers(1, REQUEST, { endStream: true }));
  peer.output();
  const clock = new FakeClock();
  const timers = new Timers(clock);
  const counters = new ProxyCounters();
  const faults: unknown[] = [];
  const ended: Reader[] = [];
  const connection = peer.connection as Connection<Reader>;
  const context = { timers, counters, limits: { invalidates: true } } as unknown as CallContext;
  const session: CallerLink<Reader> = {
    ...{ connection, context, reads: 0, isDrained: true, isFull: false },
    ...{ flushSoon() {}, awaitMessage() {}, held() {}, unread: { watch() {} } },
    fault: (_stream, error) => faults.push(error),
    callEnded: () => ended.push(call),
  };
  const method = {
    ...{
      path: GET,
      verdict: { eligible: true },
      counters: new MethodCounters(GET),
      isConfirmed: true,
    },
  } as unknown as Method;
  const stream = peer.stream(1) as Stream<Reader>;
  const route = { method } as unknown as RequestRoute;
  const call: Reader = new Reader(session, stream, route, [], timers.nowMs);
  stream.owner = call;
  if (options.timeoutMs !== undefined) call.deadlineMs = timers.nowMs + options.timeoutMs;
  /** The outcomes, statuses and durations that were counted. */
  const counted = () => ({
    outcomes: Object.entries(method.counters.outcomes).filter(([, count]) => count > 0),
    statuses: [...method.counters.responses.counts.entries()].filter(([, count]) => count > 0),
    durations: Object.entries(counters.durations).filter(([, { count }]) => count > 0)
      .map(([name, { count, sumSeconds }]) => [name, count, sumSeconds]),
  });
  return { peer, clock, timers, session, call, stream, faults, ended, counted };
}

/** A whole reply. */
function replyOf(...messages: string[]): ReplySource {
  const log = logOf([
    { headers: RESPONSE },
    ...messages.map((said) => ({ data: said })),
    { headers: [["grpc-status", "5"]] },
  ]);
  return { log, ended: true, status: 5, largestListBytes: 0, knowsMethod: false };
}

Deno.test("ReadingCall relays a whole reply and is over, counted once by outcome, status and time", () => {
  const { peer, clock, timers, call, stream, ended, counted } = reading();
  clock.jump(clock.now() + 250);
  timers.refresh();
  call.reads(replyOf("abc"));
  peer.expects(
    headers(1, RESPONSE),
    data(1, "abc"),
    headers(1, [["grpc-status", "5"]], { endStream: true }),
  );
  const once = { outcomes: [["hit", 1]], statuses: [[5, 1]], durations: [["hit", 1, 0.25]] };
  assertEquals(counted(), once as ReturnType<typeof counted>);
  assertEquals([call.isOver, stream.owner, ended], [true, undefined, [call]]);
  assertEquals(timers.pending, 0);
  // Whatever comes now comes too late.
  call.gone();
  call.failOwn({ kind: "draining" });
  call.readMore();
  assertEquals([counted(), ended.length], [once as ReturnType<typeof counted>, 1]);
  peer.expects();
});

Deno.test("ReadingCall reads on as its windows allow, within its deadline", () => {
  const settings: SettingPairs = [[SETTING.initialWindowSize, 2]];
  const { peer, timers, call, ended, counted } = reading({ settings, timeoutMs: 100 });
  call.reads(replyOf("abc"));
  peer.expects(headers(1, RESPONSE), data(1, "ab"));
  assertEquals([call.isOver, timers.pending], [false, 1]);
  peer.sends(windowUpdate(1, 100));
  call.readMoreOrFail();
  peer.expects(data(1, "c"), headers(1, [["grpc-status", "5"]], { endStream: true }));
  assertEquals([call.isOver, timers.pending, ended.length], [true, 0, 1]);
  assertEquals(counted().statuses, [[5, 1]]);
  timers.stop();
});

Deno.test("ReadingCall.failOwn ends it with a whole reply, or with trailers once something has gone out", () => {
  const settings: SettingPairs = [[SETTING.initialWindowSize, 2]];
  const message = ["grpc-message", "collapser: shutting down"] as const;
  const untouched = reading();
  untouched.call.failOwn({ kind: "draining" });
  const whole: Pairs = [...RESPONSE, ["grpc-status", "14"], message];
  assertEquals(untouched.peer.output().slice(0, 1), [
    { type: "HEADERS", streamId: 1, fields: whole, endStream: true },
  ]);
  assertEquals(untouched.counted().outcomes, [["rejected", 1]]); // nothing else had been decided
  const begun = reading({ settings });
  begun.call.reads(replyOf("abc"));
  begun.peer.output();
  begun.call.failOwn({ kind: "draining" });
  assertEquals(begun.peer.output().slice(0, 1), [
    { type: "HEADERS", streamId: 1, fields: [["grpc-status", "14"], message], endStream: true },
  ]);
  assertEquals(begun.counted().outcomes, [["hit", 1]]);
  for (const { call, counted, ended, timers } of [untouched, begun]) {
    assertEquals([call.isOver, counted().statuses, ended.length], [true, [[14, 1]], 1]);
    assertEquals(timers.pending, 0);
  }
});

Deno.test("ReadingCall that is gone says nothing to anybody, and counts as cancelled", () => {
  const { peer, call, counted, ended } = reading();
  call.gone();
  call.gone();
  peer.expects();
  assertEquals([counted().outcomes, counted().statuses], [[["rejected", 1]], [[1, 1]]]);
  assertEquals([call.isOver, ended.length], [true, 1]);
});

Deno.test("ReadingCall gives a reply with more metadata than its caller takes to nobody", () => {
  const settings: SettingPairs = [[SETTING.maxHeaderListSize, 500]];
  for (const [largestListBytes, status] of [[500, 5], [501, 8]] as const) {
    const { call, counted } = reading({ settings });
    call.reads({ ...replyOf("abc"), largestListBytes });
    assertEquals(counted().statuses, [[status, 1]]);
  }
});

Deno.test("ReadingCall has a fault of ours end itself, where it is read or guarded", () => {
  const { call, faults } = reading();
  call.guard(() => {
    throw "one";
  });
  call.session.flushSoon = () => {
    throw "two";
  };
  assertThrows(() => call.reads(replyOf("abc")));
  call.readMoreOrFail();
  assertEquals(faults, ["one", "two"]);
});

Deno.test("Call says so when a reply has more metadata than its caller accepts, and to it alone", async () => {
  await withRig(async (rig) => {
    const [wide, small] = [
      await rig.caller(),
      await rig.caller([[SETTING.maxHeaderListSize, 500]]),
    ];
    const trailers: Pairs = [["x-large", "v".repeat(500)]];
    for (const [i, path] of [GET, PUT].entries()) {
      const led = small.call(path, "asked");
      await rig.settle();
      const joined = wide.call(path, "asked");
      await rig.settle();
      for (const request of rig.requests.slice(i)) {
        if (!request.isOver) request.replies(["answer"], { trailers });
      }
      await rig.settle();
      led.expectsFailure(8, "the reply's metadata is too large");
      joined.expects(0, "answer");
      if (path !== GET) continue;
      const stored = small.call(path, "asked");
      await rig.settle();
      stored.expectsFailure(8, "the reply's metadata is too large");
      rig.expectsRequests(1);
    }
    const streamed = small.call(PUT, "more");
    await rig.settle();
    rig.request(-1).begins(["first"]);
    await rig.settle();
    assertEquals(streamed.messages, ["first"]);
    rig.request(-1).ends({ trailers });
    await rig.settle();
    assertEquals([streamed.status, streamed.messages], [8, ["first"]]);
    const fine = small.call(GET, "other");
    await rig.settle();
    rig.request(-1).replies(["small"]);
    await rig.settle();
    fine.expects(0, "small");
  });
});

Deno.test("Call is held back by its connection's window too, and goes on in turn", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller([[SETTING.initialWindowSize, MAX_WINDOW_BYTES]], {
      connectionBytes: 0,
    });
    const calls = [caller.call(PUT, "1"), caller.call(PUT, "2"), caller.call(GET, "3")];
    await rig.settle();
    const message = new Uint8Array(50_000);
    for (const request of rig.requests) {
      request.begins();
      const bytes = framed(message);
      for (let at = 0; at < bytes.length; at += 16_384) {
        request.backend.sends(data(request.id, bytes.subarray(at, at + 16_384)));
      }
      request.ends();
    }
    await rig.settle();
    const before = calls.reduce((sum, { reply }) => sum + reply.text.length, 0);
    assertEquals(before, 65_535);
    caller.grants(100_000);
    await rig.settle();
    for (const call of calls) {
      assertEquals(call.status, 0);
      assertEquals(call.messages[0]?.length, 50_000);
    }
  });
});

Deno.test("Call goes on when SETTINGS alone widens its window, and not while that is below zero (scenario 21)", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller([[SETTING.initialWindowSize, 60_000]]);
    const call = caller.call(PUT, "1");
    await rig.settle();
    const request = rig.request(0);
    request.begins();
    for (let i = 0; i < 8; i++) request.backend.sends(data(request.id, PIECE));
    await rig.settle();
    assertEquals(call.reply.text.length, 60_000);
    caller.sends(settings([SETTING.initialWindowSize, 16_384]));
    await rig.settle();
    call.grants(40_000); // still 3,616 below zero
    await rig.settle();
    assertEquals(call.reply.text.length, 60_000);
    caller.sends(settings([SETTING.initialWindowSize, 1_000_000]));
    request.ends();
    await rig.settle();
    assertEquals([call.reply.text.length, call.status], [8 * PIECE.length, 0]);
  });
});

Deno.test("Call counts how long it took by the clock, not by when its caller spoke last", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    caller.call(GET, "1");
    caller.call(PUT, "1");
    await rig.advance(400);
    for (const request of rig.requests) request.replies(["x"]);
    await rig.settle();
    const { led, passed } = rig.proxy.counters.durations;
    assertEquals([led.sumSeconds, passed.sumSeconds], [0.4, 0.4]);
  });
});

Deno.test("Call that has been given part of its reply ends with trailers at its deadline", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const calls = [GET, PUT].map((path) => caller.call(path, "1", { metadata: timeout("200m") }));
    await rig.settle();
    for (const request of rig.requests) request.begins(["a"]);
    await rig.advance(200 + SLOT_MS);
    for (const call of calls) {
      call.expects(4, "a");
      assertEquals(valueOf(call.trailers, ":status"), undefined);
      assertEquals(call.reply.blocks.length, 2);
    }
    for (const request of rig.requests) assertEquals(request.seen.reset, "CANCEL");
  });
});

Deno.test("Call that is not read by its caller ends at its deadline, stored result or not", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    caller.call(GET, "1");
    await rig.settle();
    rig.request(0).replies(["0123456789"]);
    await rig.settle();
    const slow = await rig.caller([[4, 7]]);
    const hit = slow.call(GET, "1", { metadata: timeout("50m") });
    await rig.settle();
    assertEquals(hit.reply.text.length, 7);
    await rig.advance(50 + SLOT_MS);
    assertEquals(hit.status, 4);
    assertEquals(rig.outcomes, { led: 1, hit: 1 });
  });
});

function timeout(value: string): Pairs {
  return [["grpc-timeout", value]];
}
