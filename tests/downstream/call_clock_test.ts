/**
 * How long a call that might collapse is waited for: the wire does not say whether its one message will stay the only
 * one until it half-closes.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { FRAME_HEADER_BYTES } from "../../lib/wire/mod.ts";
import { concat, data, headers, raw } from "../support/frames.ts";
import { type CallerCall, type CallerEnd, requestHead } from "../support/caller_end.ts";
import { framed } from "../support/peer_end.ts";
import { GET, type ProxyRig, PUT, withRig } from "../support/proxy_rig.ts";

/** An alarm may come this much late, as `Timers` has slots. */
const SLOT_MS = 4;

/** What a connection reads at first, and once it has filled that. */
const FIRST_READ_BYTES = 4_096;
const SECOND_READ_BYTES = 65_536;

/** A frame type nobody knows, and so everybody ignores. */
const UNKNOWN_TYPE = 0xfa;

Deno.test("Call passes when nothing has come for 10 ms after a message of a method not known yet", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const call = caller.call(GET, "1", { ends: false });
    await rig.advance(9);
    rig.expectsRequests(0);
    await rig.advance(1 + SLOT_MS);
    rig.expectsRequests(1);
    assertEquals(rig.request(0).messages, ["1"]);
    assertEquals(rig.request(0).ended, false);
    rig.request(0).begins(["a"]);
    await rig.settle();
    assertEquals(call.messages, ["a"]); // before its half-close, scenario 41
    call.ends();
    await rig.settle();
    assertEquals(rig.request(0).ended, true);
    rig.request(0).ends();
    await rig.settle();
    call.expects(0, "a");
    assertEquals(rig.passed, { streaming: 1 });
  });
});

Deno.test("Call waits 10 ms from its last byte, not from its first", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const call = caller.call(GET, undefined, { ends: false });
    const bytes = framed("12");
    for (const byte of bytes.subarray(0, 6)) {
      await rig.advance(9);
      caller.sends(data(call.id, Uint8Array.of(byte)));
    }
    await rig.advance(9);
    rig.expectsRequests(0);
    caller.sends(data(call.id, bytes.subarray(6), { endStream: true }));
    await rig.settle();
    assertEquals(rig.request(0).messages, ["12"]);
    rig.request(0).replies(["x"]);
    await rig.settle();
    call.expects(0, "x");
    assertEquals(rig.outcomes, { led: 1 });
  });
});

Deno.test("Call whose message is under way over a slow link is awaited, and collapses; for 1 s of silence", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const calls = [1, 2].map(() => caller.call(GET, undefined, { ends: false }));
    const bytes = framed("123456789");
    for (let at = 0; at < bytes.length; at += 3) {
      const endStream = at + 3 >= bytes.length;
      for (const { id } of calls) {
        caller.sends(data(id, bytes.subarray(at, at + 3), { endStream }));
      }
      await rig.advance(900);
    }
    rig.expectsRequests(1);
    rig.request(0).replies(["x"]);
    await rig.settle();
    for (const call of calls) call.expects(0, "x");
    const stuck = caller.call(GET, undefined, { ends: false });
    caller.sends(data(stuck.id, bytes.subarray(0, 7)));
    await rig.advance(900);
    rig.expectsRequests(1);
    await rig.advance(100 + SLOT_MS);
    rig.expectsRequests(2);
    stuck.cancels();
    await rig.settle();
  });
});

Deno.test("Call without any message passes after 10 ms too, and pairs of them stay apart (scenario 41)", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const calls = [
      caller.call(GET, undefined, { ends: false }),
      caller.call(GET, undefined, { ends: false }),
    ];
    await rig.advance(10 + SLOT_MS);
    rig.expectsRequests(2);
    for (const call of calls) call.sends("1", { ends: true });
    await rig.settle();
    for (const request of rig.requests) assertEquals(request.messages, ["1"]);
    rig.request(0).replies(["a"]);
    rig.request(1).replies(["b"]);
    await rig.settle();
    assertEquals(calls.flatMap(({ messages }) => messages).sort(), ["a", "b"]);
  });
});

Deno.test("Call of an empty stream passes with its half-close at once (scenario 41)", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const call = caller.call(GET, undefined, { ends: false });
    call.ends();
    await rig.settle();
    assertEquals(rig.request(0).ended, true);
    rig.request(0).replies([]);
    await rig.settle();
    call.expects(0);
    assertEquals(rig.passed, { streaming: 1 });
  });
});

Deno.test("Call of a method seen to half-close after one message waits up to 1 s", async () => {
  await withRig(async (rig) => {
    rig.onRequest = (request) => request.echoes();
    const caller = await rig.caller();
    caller.call(GET, "seen");
    await rig.settle();
    const late = caller.call(GET, "2", { ends: false });
    await rig.advance(990);
    rig.expectsRequests(1);
    late.ends();
    await rig.settle();
    late.expects(0, "re:2");
    const never = caller.call(GET, "3", { ends: false });
    await rig.advance(999);
    rig.expectsRequests(2);
    await rig.advance(1 + SLOT_MS);
    rig.expectsRequests(3);
    never.ends();
    await rig.settle();
    never.expects(0, "re:3");
    assertEquals(rig.outcomes, { led: 2, passed: 1 });
  });
});

/** A caller sends two messages before it half-closes: the method is taken for streaming. */
async function showsStream(rig: ProxyRig, caller: CallerEnd): Promise<CallerCall> {
  const call = caller.call(GET, "1", { ends: false });
  call.sends("2");
  await rig.settle();
  assertEquals(rig.request(-1).messages, ["1", "2"]);
  return call;
}

Deno.test("Call of a method seen to send a second message does not wait, for a minute", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const calls = [await showsStream(rig, caller), caller.call(GET, undefined, { ends: false })];
    await rig.settle();
    rig.expectsRequests(2);
    await rig.advance(59_000);
    calls.push(caller.call(GET, "before", { ends: false }));
    await rig.settle();
    rig.expectsRequests(3);
    await rig.advance(1_000);
    calls.push(caller.call(GET, "after", { ends: false }));
    await rig.settle();
    rig.expectsRequests(3);
    await rig.advance(10 + SLOT_MS);
    rig.expectsRequests(4);
    assertEquals(rig.passed, { streaming: 4 });
    await finishAll(rig, calls);
  });
});

Deno.test("Call that comes whole in one read collapses, whatever others of its method were seen to do", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const odd = await showsStream(rig, caller);
    const calls = Array.from({ length: 20 }, () => caller.call(GET, "same"));
    await rig.settle();
    rig.expectsRequests(2);
    rig.request(1).replies(["one"]);
    await finishAll(rig, [odd]);
    for (const call of calls) call.expects(0, "one");
  });
});

Deno.test("Call of a method seen to be answered before it half-closes does not wait", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    for (let round = 0; round < 3; round++) {
      const whole = caller.call(GET, `whole ${round}`); // and others of it half-close at once
      await rig.settle();
      rig.request(-1).replies(["x"]);
      const talk = caller.call(GET, "ping", { ends: false });
      // The first waits as long as a method does that was seen to half-close, and no later one.
      await rig.advance(round === 0 ? 1_000 + SLOT_MS : 0);
      assertEquals(rig.request(-1).messages, ["ping"], `round ${round}`);
      rig.request(-1).begins(["pong"]);
      await rig.settle();
      assertEquals(talk.messages, ["pong"]);
      talk.ends();
      rig.request(-1).ends();
      await rig.settle();
      whole.expects(0, "x");
      talk.expects(0, "pong");
    }
  });
});

Deno.test("Call that cannot collapse never waits", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const call = caller.call(PUT, undefined, { ends: false });
    await rig.settle();
    rig.expectsRequests(1);
    call.sends("1");
    await rig.settle();
    assertEquals(rig.request(0).messages, ["1"]);
    call.cancels();
    await rig.settle();
    assertEquals(rig.request(0).seen.reset, "CANCEL");
  });
});

Deno.test("Call that is woken late, by a busy loop, is waited for once more", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const lucky = caller.call(GET, "1", { ends: false });
    const stream = caller.call("/test.Service/ListItems", "1", { ends: false });
    await rig.settle();
    await rig.stall(300);
    rig.expectsRequests(0);
    lucky.ends();
    await rig.advance(10 + SLOT_MS); // woken in time now
    rig.expectsRequests(2);
    await finishAll(rig, [stream]);
    assertEquals(rig.outcomes, { led: 1, passed: 1 });
  });
});

Deno.test("Call that has been silent for 1 s passes even when it is woken late", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const call = caller.call(GET, "1", { ends: false });
    await rig.settle();
    await rig.stall(1_200);
    rig.expectsRequests(1);
    await finishAll(rig, [call]);
  });
});

Deno.test("Call does not pass while what its caller sent lies unread", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const call = fillRead(caller, FIRST_READ_BYTES);
    await rig.settle();
    rig.clock.step(rig.clock.now() + 10 + SLOT_MS); // the alarm; the call now gives the loop one more turn
    const quarter = raw(
      UNKNOWN_TYPE,
      {},
      new Uint8Array(SECOND_READ_BYTES / 4 - FRAME_HEADER_BYTES),
    );
    caller.sends(quarter, quarter, quarter, quarter);
    await rig.settle();
    rig.expectsRequests(0); // the turn brought a full read, so there may be more behind it
    call.ends();
    await rig.settle();
    rig.expectsRequests(1);
    await finishAll(rig, []);
    assertEquals(rig.outcomes, { led: 1 });
  });
});

Deno.test("Call passes also when its caller's last bytes filled what was read exactly", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const call = fillRead(caller, FIRST_READ_BYTES);
    await rig.advance(10 + SLOT_MS);
    rig.expectsRequests(1);
    await finishAll(rig, [call]);
  });
});

/** A call with one message and no end, in exactly so many bytes. */
function fillRead(caller: CallerEnd, bytes: number): CallerCall {
  const call = caller.call(GET, undefined, { ends: false });
  const head = headers(call.id, requestHead(GET)).length;
  const message = data(call.id, framed("1"));
  const filler = bytes - head - message.length - FRAME_HEADER_BYTES;
  caller.sends(concat(raw(UNKNOWN_TYPE, {}, new Uint8Array(filler)), message));
  return call;
}

async function finishAll(rig: ProxyRig, open: CallerCall[]): Promise<void> {
  for (const call of open) call.ends();
  await rig.settle();
  for (const request of rig.requests) if (!request.isOver) request.replies(["x"]);
  await rig.settle();
}
