import { assert, assertEquals } from "@std/assert";
import { ERROR_CODE } from "../../lib/wire/mod.ts";
import { CallerEnd } from "../support/caller_end.ts";
import { MemorySocket } from "../support/memory_socket.ts";
import { GET, type ProxyRig, PUT, withRig } from "../support/proxy_rig.ts";

/** How long silent callers hold up a drain at most. */
const DRAIN_ANSWER_MS = 500;

const LIST = "/test.Service/ListItems";

Deno.test("Proxy is ready once its backend is, and says why it is not", async () => {
  await withRig({ opens: false, dialling: "hangs" }, async (rig) => {
    const reason = "the backend cannot be reached: not connected yet";
    assertEquals(rig.proxy.readiness, { ready: false, reason });
    rig.proxy.open();
    await rig.settle();
    assertEquals(rig.proxy.readiness, { ready: false, reason });
    rig.dialling = "accepts";
    rig.answerDials();
    await rig.settle();
    assertEquals(rig.proxy.readiness, { ready: true, reason: "" });
    rig.dialling = "refuses";
    rig.backend.socket.ends();
    await rig.settle();
    assertEquals(rig.proxy.readiness.ready, false);
  });
});

Deno.test("Proxy that announces its end is not ready, and serves everything all the same", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    rig.proxy.announceEnd();
    assertEquals(rig.proxy.readiness, { ready: false, reason: "shutting down" });
    const call = caller.call(GET, "1");
    await rig.settle();
    rig.request(0).replies(["one"]);
    await rig.settle();
    call.expects(0, "one");
    const late = await rig.caller();
    for (const each of [caller, late]) assertEquals(each.seen("GOAWAY"), []);
  });
});

Deno.test("Proxy drains at once when nobody is there", async () => {
  await withRig(async (rig) => {
    const drained = watch(rig.proxy.drain(10_000));
    await rig.settle();
    assertEquals(drained.left, 0);
    assertEquals(rig.backend.socket.isClosed, true);
  });
});

Deno.test("Proxy lets idle callers go, politely, when it drains (scenario 16)", async () => {
  await withRig(async (rig) => {
    const callers = [await rig.caller(), await rig.caller()];
    const drained = watch(rig.proxy.drain(10_000));
    await rig.settle();
    assertEquals(drained.left, 0);
    for (const caller of callers) {
      assertEquals(goAways(caller), [[2 ** 31 - 1, "NO_ERROR"], [0, "NO_ERROR"]]);
      assertEquals(caller.seen("PING").length, 1);
      assertEquals(caller.socket.isClosed, true);
    }
  });
});

Deno.test("Proxy finishes what is under way while it drains, and takes no more (scenario 16)", async () => {
  await withRig(async (rig) => {
    const [busy, other] = [await rig.caller(), await rig.caller()];
    const flight = [busy.call(GET, "1"), busy.call(GET, "1"), other.call(GET, "1")];
    const stream = busy.call(LIST, "1");
    await rig.settle();
    rig.request(1).begins(["a"]);
    await rig.advance(500);
    const drained = watch(rig.proxy.drain(5_000));
    assertEquals(rig.proxy.readiness.ready, false);
    await rig.advance(500);
    const refused = busy.call(GET, "2");
    await rig.settle();
    assertEquals(refused.reply.reset, "REFUSED_STREAM");
    rig.uncounted = 1;
    await rig.advance(1_000);
    rig.request(0).replies(["one"]);
    await rig.settle();
    for (const call of flight) call.expects(0, "one");
    assertEquals([busy.socket.isClosed, other.socket.isClosed], [false, true]);
    assertEquals(drained.left, undefined);
    await rig.advance(1_000);
    rig.request(1).sends("b");
    rig.request(1).ends();
    await rig.settle();
    stream.expects(0, "a", "b");
    assertEquals(drained.left, 0);
    assertEquals(busy.socket.isClosed, true);
    rig.expectsRequests(2);
  });
});

Deno.test("Proxy serves what a caller sent before it heard of the drain", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    caller.answersPings = false;
    const drained = watch(rig.proxy.drain(5_000));
    await rig.settle();
    const call = caller.call(GET, "1");
    await rig.settle();
    rig.request(0).replies(["one"]);
    await rig.settle();
    call.expects(0, "one");
    await rig.advance(DRAIN_ANSWER_MS + 4);
    assertEquals(goAways(caller).at(-1), [1, "NO_ERROR"]);
    assertEquals(drained.left, 0);
  });
});

Deno.test("Proxy ends what is left with 14, in trailers, when its time to drain is over (scenario 16)", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const endless = caller.call(LIST, "1");
    const unanswered = caller.call(GET, "1");
    const open = caller.call(PUT, "1", { ends: false });
    const quick = caller.call(PUT, "2");
    await rig.settle();
    rig.request(0).begins(["a"]);
    const drained = watch(rig.proxy.drain(3_000));
    await rig.advance(2_999);
    rig.request(3).replies(["in time"]);
    await rig.settle();
    quick.expects(0, "in time");
    assertEquals(drained.left, undefined);
    await rig.advance(5);
    endless.expects(14, "a");
    assertEquals(endless.grpcMessage, "collapser: shutting down");
    assertEquals(endless.reply.blocks.length, 2);
    unanswered.expectsFailure(14, "shutting down");
    open.expectsFailure(14, "shutting down");
    assertEquals(drained.left, 3);
    assertEquals(caller.socket.isClosed, true);
    for (const request of rig.requests.slice(0, 3)) assertEquals(request.seen.reset, "CANCEL");
    assertEquals(rig.backend.socket.isClosed, true);
  });
});

Deno.test("Proxy is not held up by callers that say nothing, or do not read, when it drains", async () => {
  await withRig(async (rig) => {
    const [silent, stuck] = [await rig.caller(), await rig.caller()];
    silent.answersPings = false;
    const call = stuck.call(PUT, "1");
    await rig.settle();
    stuck.socket.hold();
    const drained = watch(rig.proxy.drain(2_000));
    await rig.advance(DRAIN_ANSWER_MS + 4);
    assertEquals(silent.socket.isClosed, true);
    await rig.advance(2_000 - 8); // it may read until the drain's time is over, and for as long again as the silent one
    assertEquals([stuck.socket.isClosed, drained.left], [false, undefined]);
    await rig.advance(12);
    assertEquals(drained.left, 1);
    assertEquals(stuck.socket.wasCut, true);
    stuck.socket.release();
    await rig.settle();
    call.expectsNothing(); // its 14 was in what nobody took
  });
});

Deno.test("Proxy drains within its time also when that is shorter than silence is waited for", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    caller.answersPings = false;
    const drained = watch(rig.proxy.drain(100));
    await rig.advance(104);
    assertEquals(drained.left, 0);
    assertEquals(goAways(caller).length, 2);
  });
});

Deno.test("Proxy tells a caller that comes while it drains to go, and serves what it sent", async () => {
  await withRig(async (rig) => {
    const first = await rig.caller();
    const call = first.call(PUT, "1");
    await rig.settle();
    const drained = watch(rig.proxy.drain(5_000));
    await rig.settle();
    const late = await rig.caller();
    assertEquals(goAways(late)[0], [2 ** 31 - 1, "NO_ERROR"]);
    rig.request(0).replies(["x"]);
    await rig.settle();
    call.expects(0, "x");
    assertEquals(drained.left, 0);
  });
});

Deno.test("Proxy gives each of its connections credit for all that was ever sent to it", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    // Far more than the connection's window, on streams that are refused, reset and left unread.
    for (let round = 0; round < 40; round++) {
      const call = caller.call(PUT, new Uint8Array(16_000), { ends: false });
      for (let i = 0; i < 3; i++) call.sends(new Uint8Array(16_000));
      call.cancels(ERROR_CODE.internalError);
      await rig.settle();
    }
    const call = caller.call(PUT, "1");
    await rig.settle();
    rig.request(-1).echoes();
    await rig.settle();
    call.expects(0, "re:1");
    const credit = caller.seen("WINDOW_UPDATE").filter(({ streamId }) => streamId === 0);
    const granted = credit.reduce((sum, { increment }) => sum + increment, 0);
    const sent = 40 * 4 * 16_005;
    assertEquals(granted > sent && granted < sent + 2 ** 20, true, `${granted} for ${sent}`);
  });
});

function goAways(caller: CallerEnd): [number, string][] {
  return caller.seen("GOAWAY").map(({ lastStreamId, code }) => [lastStreamId, code]);
}

/** What a drain comes to, once it does. */
function watch(drain: ReturnType<ProxyRig["proxy"]["drain"]>): { left: number | undefined } {
  const result: { left: number | undefined } = { left: undefined };
  drain.then((left) => result.left = left);
  return result;
}

Deno.test("Proxy closes connections beyond ten thousand as they come", async () => {
  await withRig(async (rig) => {
    const sockets = Array.from({ length: 10_002 }, () => {
      const socket = new MemorySocket({ written: () => {}, closed: () => {} });
      rig.proxy.serve(socket, "one of many");
      return socket;
    });
    await rig.settle();
    assertEquals(sockets.map(({ isClosed }) => isClosed).lastIndexOf(false), 9_999);
    assertEquals(rig.gauges.connections, 10_000);
    assertEquals(Object.fromEntries(rig.proxy.counters.connectionErrors.caller), {
      [ERROR_CODE.enhanceYourCalm]: 2,
    });
    assertEquals(rig.heard.at(-1), "caller failed: more than 10000 connections of callers");
    sockets[0]!.ends();
    await rig.settle();
    assert(await rig.caller() instanceof CallerEnd);
    assertEquals(rig.gauges.connections, 10_000);
    for (const socket of sockets) socket.ends();
    await rig.settle();
  });
});

Deno.test("Proxy counts and tells of callers whose handshake failed", async () => {
  await withRig(async (rig) => {
    rig.proxy.refused("TLS: no certificate", "1.2.3.4:5");
    await rig.settle();
    assertEquals(rig.heard.at(-1), "caller failed: TLS: no certificate");
    assertEquals([...rig.proxy.counters.connectionErrors.caller.values()], [1]);
  });
});
