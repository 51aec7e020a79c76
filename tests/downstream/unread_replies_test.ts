/** Callers that do not read what they are answered (GRPC_STALL_TIMEOUT). */

import { assert, assertEquals } from "@std/assert";
import { SETTING } from "../../lib/wire/mod.ts";
import type { CallerCall } from "../support/caller_end.ts";
import type { SettingPairs } from "../support/peer_end.ts";
import { GET, type ProxyRig, PUT, withRig } from "../support/proxy_rig.ts";

/** Settings of an end that takes no DATA. */
const SHUT: SettingPairs = [[SETTING.initialWindowSize, 0]];

const STALLED = "the caller read nothing of its reply for 8000 ms (GRPC_STALL_TIMEOUT)";

/** A timeout for which a reply is looked at once a second. */
const OPTIONS = { stallTimeoutMs: 8_000, cacheDurationMs: 0, backendTimeoutMs: 600_000 };

for (const path of [GET, PUT]) {
  Deno.test(`UnreadReplies end a call of ${path} alone whose caller takes nothing for the timeout`, async () => {
    await withRig(OPTIONS, async (rig) => {
      const stuck = (await rig.caller(SHUT)).call(path, "1");
      const reader = (await rig.caller()).call(path, "1");
      await rig.settle();
      for (const request of rig.requests) request.begins();
      for (const request of rig.requests) request.sends("some");
      await rig.advance(7_900);
      assertEquals(stuck.status, undefined);
      await rig.advance(2_200);
      stuck.expectsFailure(8, STALLED);
      assertEquals([reader.status, reader.messages], [undefined, ["some"]]);
      assertEquals(rig.proxy.counters.stalled, 1);
      assertEquals(open(rig), 1, "backend calls that go on");
      for (const request of rig.requests.filter(({ isOver }) => !isOver)) request.ends();
      await rig.settle();
      reader.expects(0, "some");
    });
  });
}

Deno.test("UnreadReplies let a caller read as slowly as it likes, and start again when it has read on", async () => {
  await withRig(OPTIONS, async (rig) => {
    const slow = (await rig.caller(SHUT)).call(PUT, "1");
    await rig.settle();
    rig.request(0).replies(["0123456789"]);
    await rig.settle();
    for (let byte = 0; byte < 14; byte++) {
      slow.grants(1);
      await rig.advance(7_000);
    }
    assertEquals([slow.status, rig.proxy.counters.stalled], [undefined, 0]);
    slow.grants(1);
    await rig.settle();
    slow.expects(0, "0123456789");
  });
});

Deno.test("UnreadReplies do not count the time for which there is nothing to read", async () => {
  await withRig(OPTIONS, async (rig) => {
    const call = (await rig.caller(SHUT)).call(PUT, "1");
    call.grants(6);
    await rig.settle();
    rig.request(0).begins();
    rig.request(0).sends("1");
    await rig.advance(60_000);
    rig.request(0).sends("2");
    await rig.advance(7_000);
    assertEquals(call.status, undefined);
    await rig.advance(4_000);
    call.expectsFailure(8, STALLED);
  });
});

Deno.test("UnreadReplies end nobody when the timeout is 0", async () => {
  await withRig({ ...OPTIONS, stallTimeoutMs: 0 }, async (rig) => {
    const call = (await rig.caller(SHUT)).call(PUT, "1");
    await rig.settle();
    rig.request(0).replies(["one"]);
    await rig.advance(600_000);
    assertEquals(call.status, undefined);
    call.grants(100);
    await rig.settle();
    call.expects(0, "one");
  });
});

Deno.test("UnreadReplies take a process that was held up for no caller's fault", async () => {
  await withRig(OPTIONS, async (rig) => {
    const call = (await rig.caller(SHUT)).call(PUT, "1");
    await rig.settle();
    rig.request(0).replies(["one"]);
    await rig.advance(2_000);
    await rig.stall(60_000);
    await rig.advance(100);
    call.grants(100);
    await rig.settle();
    call.expects(0, "one");
  });
});

Deno.test("UnreadReplies set no alarm for a reply that is taken at once", async () => {
  await withRig({ ...OPTIONS, cacheDurationMs: 60_000 }, async (rig) => {
    const caller = await rig.caller();
    const led = caller.call(GET, "1");
    await rig.settle();
    rig.request(0).replies(["one"]);
    await rig.settle();
    const before = rig.timers.pending;
    const hits: CallerCall[] = [caller.call(GET, "1"), caller.call(GET, "1")];
    await rig.settle();
    for (const call of [led, ...hits]) call.expects(0, "one");
    assertEquals(rig.timers.pending, before);
    const stuck = (await rig.caller(SHUT)).call(GET, "1");
    await rig.settle();
    assert(rig.timers.pending > before, "a stored reply is looked after as well");
    await rig.advance(10_000);
    stuck.expectsFailure(8, STALLED);
  });
});

function open({ requests }: ProxyRig): number {
  return requests.filter(({ isOver }) => !isOver).length;
}
