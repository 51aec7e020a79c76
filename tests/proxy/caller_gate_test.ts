/**
 * What callers are told when the only backend is gone: that they go elsewhere, where all they had not begun is made again
 * without anybody's noticing. On a clock of its own; with processes and signals it is tests/sidecar/rollout_test.ts.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { ERROR_CODE } from "../../lib/wire/mod.ts";
import type { CallerEnd } from "../support/caller_end.ts";
import { goAway } from "../support/frames.ts";
import { GET, type ProxyRig, PUT, type RigOptions, withRig } from "../support/proxy_rig.ts";

const GOING = goAway(2 ** 31 - 1, ERROR_CODE.noError);

/** Longer than a backend has to be there to be missed at once. */
const STEADY_MS = 1_100;

/** Longer than a second or two of doubt and pauses. */
const AFTER_DOUBT_MS = 3_000;

/** A rig whose backend has been there for a while, with a caller. */
async function withSteady(
  options: RigOptions,
  body: (rig: ProxyRig, caller: CallerEnd) => Promise<void>,
): Promise<void> {
  await withRig(options, async (rig) => {
    const caller = await rig.caller();
    await rig.advance(STEADY_MS);
    await body(rig, caller);
  });
}

/** The last streams that the caller was told of. */
function farewells({ frames }: CallerEnd): number[] {
  return frames.flatMap((frame) => frame.type === "GOAWAY" ? [frame.lastStreamId] : []);
}

/** The backend says GOAWAY, finishes what it has, and takes nobody new. */
async function leaves(rig: ProxyRig): Promise<void> {
  rig.dialling = "refuses";
  rig.backend.sends(GOING);
  await rig.settle();
}

Deno.test("Proxy sends callers elsewhere when the only backend says GOAWAY and takes no connection", async () => {
  await withSteady({}, async (rig, caller) => {
    const [read, write] = [caller.call(GET, "1"), caller.call(PUT, "2")];
    await rig.settle();
    await leaves(rig);
    assertEquals(farewells(caller), [3], "the last one that may be answered, at once");
    rig.uncounted++;
    const late = caller.call(GET, "3"); // it was sent before its sender heard
    await rig.settle();
    assertEquals(late.reply.reset, "REFUSED_STREAM");
    assertEquals(caller.socket.isClosed, false, "while calls are under way");
    rig.request(0).replies(["one"]);
    rig.request(1).replies(["two"]);
    await rig.settle();
    read.expects(0, "one");
    write.expects(0, "two");
    assertEquals(caller.socket.isClosed, true);
    rig.expectsRequests(2);
  });
});

Deno.test("Proxy refuses calls that wait for a backend that does not come as calls that were not begun", async () => {
  await withSteady({}, async (rig, caller) => {
    rig.dialling = "hangs";
    rig.backend.sends(GOING);
    await rig.settle();
    const calls = [caller.call(GET, "1"), caller.call(GET, "1"), caller.call(PUT, "2")];
    await rig.settle();
    rig.dialling = "refuses";
    rig.answerDials();
    await rig.settle();
    assertEquals(calls.map(({ reply }) => reply.reset), calls.map(() => "REFUSED_STREAM"));
    assertEquals(farewells(caller), [5]);
    assertEquals(caller.socket.isClosed, true);
    rig.expectsRequests(0);
  });
});

Deno.test("Proxy refuses calls that the leaving backend has not seen, and ends those that it may have with 14", async () => {
  await withSteady({}, async (rig, caller) => {
    const [seen, unseen] = [caller.call(PUT, "1"), caller.call(PUT, "2")];
    await rig.settle();
    rig.dialling = "refuses";
    rig.backend.sends(goAway(1, ERROR_CODE.noError));
    rig.backend.socket.ends();
    await rig.settle();
    assertEquals([seen.status, unseen.reply.reset], [14, "REFUSED_STREAM"]);
  });
});

Deno.test("Proxy lets no caller notice a GOAWAY alone, or a connection that is made anew", async () => {
  await withSteady({}, async (rig, caller) => {
    rig.backend.sends(GOING);
    await rig.settle();
    rig.backend.socket.ends(); // without a word, and only once the sidecar has called somebody
    await rig.advance(AFTER_DOUBT_MS);
    rig.onRequest = (request) => request.echoes();
    const call = caller.call(GET, "1");
    await rig.settle();
    call.expects(0, "re:1");
    assertEquals(farewells(caller), []);
  });
});

Deno.test("Proxy takes nobody new while the only backend is gone, and everybody once it is back", async () => {
  const moves: boolean[] = [];
  await withSteady({ onGate: (isOpen) => moves.push(isOpen) }, async (rig) => {
    await leaves(rig);
    const refused = await rig.caller();
    assertEquals([refused.socket.isClosed, moves], [true, [false]]);
    assertEquals(rig.proxy.readiness.ready, false);
    await rig.advance(60_000);
    assertEquals(moves, [false], "told once");
    rig.dialling = "accepts";
    await rig.advance(1_000);
    assertEquals([rig.proxy.readiness.ready, moves], [true, [false, true]]);
    const caller = await rig.caller();
    rig.onRequest = (request) => request.echoes();
    const call = caller.call(GET, "1");
    await rig.settle();
    call.expects(0, "re:1");
  });
});

Deno.test("Proxy answers callers while its backend has never been there: it is only not ready", async () => {
  await withRig({ dialling: "refuses" }, async (rig) => {
    const caller = await rig.caller();
    await rig.advance(AFTER_DOUBT_MS);
    const call = caller.call(GET, "1");
    await rig.settle();
    assertEquals([call.status, farewells(caller), rig.proxy.readiness.ready], [14, [], false]);
    rig.dialling = "accepts";
    await rig.advance(1_000);
    rig.onRequest = (request) => request.echoes();
    const next = caller.call(GET, "1");
    await rig.settle();
    next.expects(0, "re:1");
  });
});

Deno.test("Proxy doubts for a second before it sends callers away from a backend that had just come", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    await leaves(rig);
    assertEquals(farewells(caller), []);
    await rig.advance(900);
    assertEquals(farewells(caller), []);
    await rig.advance(400);
    assertEquals(farewells(caller), [0]);
  });
});

Deno.test("Proxy lets callers in later each time when the backend is lost again soon after its return", async () => {
  const opened: number[] = [];
  const onGate = (isOpen: boolean) => {
    if (isOpen) opened.push(at());
  };
  let at = () => 0;
  await withSteady({ onGate }, async (rig) => {
    const held: number[] = [];
    for (let loss = 0; loss < 7; loss++) {
      await leaves(rig);
      await rig.advance(2_000);
      rig.dialling = "accepts";
      let backMs = 0;
      at = () => rig.clock.now() - backMs;
      while (rig.proxy.counters.backends[0]!.up === false) await rig.advance(10);
      backMs = rig.clock.now();
      opened.length = 0;
      if (!rig.proxy.readiness.ready) {
        assertEquals(
          rig.proxy.readiness.reason,
          "the backend cannot be reached: it was lost again soon after its return, and must stay a while",
        );
        while (opened.length === 0) await rig.advance(10);
      }
      held.push(Math.round((opened[0] ?? 0) / 100) * 100);
      await rig.advance(STEADY_MS);
    }
    assertEquals(held, [0, 500, 1_000, 2_000, 4_000, 8_000, 10_000]);
    await rig.advance(31_000);
    await leaves(rig);
    rig.dialling = "accepts";
    await rig.advance(1_000);
    assertEquals(
      rig.proxy.readiness.ready,
      true,
      "after a calm time it is taken at its word again",
    );
  });
});

Deno.test("Proxy keeps its callers where a stale result may stand in for the backend, or there are others", async () => {
  const two = [
    { name: "a", address: { host: "a.test", port: 1 } },
    { name: "b", address: { host: "b.test", port: 1 } },
  ];
  const policies = [{ service: "", method: "", collapser: { staleIfErrorMs: 1_000 } }];
  for (const options of [{ staleIfErrorMs: 1_000 }, { policies }, { backends: two }]) {
    await withSteady(options, async (rig, caller) => {
      rig.dialling = "refuses";
      for (const backend of [...rig.backends]) backend.sends(GOING);
      await rig.advance(AFTER_DOUBT_MS);
      assertEquals([farewells(caller), rig.proxy.readiness.ready], [[], false]);
      const call = caller.call(GET, "1");
      await rig.settle();
      assertEquals(call.status, 14);
    });
  }
});
