import { assertEquals } from "@std/assert";
import { MAX_WINDOW_BYTES, SETTING } from "../../lib/wire/mod.ts";
import { data, type Pairs, settings } from "../support/frames.ts";
import { framed, valueOf } from "../support/peer_end.ts";
import { GET, PUT, withRig } from "../support/proxy_rig.ts";

/** An alarm may come this much late, as `Timers` has slots. */
const SLOT_MS = 4;

/** DATA of the largest frame. */
const PIECE = new Uint8Array(16_384);

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
