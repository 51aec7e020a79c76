/** Whose account what waits of requests stands in, whatever becomes of their calls. */

import { assertEquals } from "@std/assert";
import { healthRequest } from "../../lib/grpc/mod.ts";
import { ERROR_CODE, SETTING } from "../../lib/wire/mod.ts";
import { goAway } from "../support/frames.ts";
import type { SettingPairs } from "../support/peer_end.ts";
import { GET, type ProxyRig, PUT, withRig } from "../support/proxy_rig.ts";

const QUESTION = "?".repeat(5_000);

/** The question as it waits: a message's prefix, and a frame's header until that was sent. */
const BEGUN_BYTES = 5_000 + 5;
const QUESTION_BYTES = BEGUN_BYTES + 9;

/** Settings of an end that takes no DATA. */
const NARROW: SettingPairs = [[SETTING.initialWindowSize, 0]];

/** What each connection of a caller accounts for. */
function held({ proxy }: ProxyRig): number[] {
  return [...proxy.sessions].map(({ heldBytes }) => heldBytes);
}

Deno.test("FlightCall whose leader leaves has another who waits account for its request", async () => {
  await withRig({ dialling: "hangs" }, async (rig) => {
    const callers = [await rig.caller(), await rig.caller(), await rig.caller()];
    const calls = callers.map((caller) => caller.call(GET, QUESTION));
    await rig.settle();
    assertEquals(held(rig), [QUESTION_BYTES, 0, 0]);
    calls[0]!.cancels();
    await rig.settle();
    assertEquals(held(rig), [0, 0, QUESTION_BYTES]);
    callers[2]!.leaves();
    await rig.settle();
    assertEquals(held(rig), [0, QUESTION_BYTES]);
    rig.dialling = "accepts";
    rig.answerDials();
    await rig.settle();
    assertEquals([rig.request(0).messages, held(rig)], [[QUESTION], [0, 0]]);
    rig.request(0).replies(["one"]);
    await rig.settle();
    calls[1]!.expects(0, "one");
  });
});

for (const [symbol, path] of [["FlightCall", GET], ["Passthrough", PUT]] as const) {
  Deno.test(`${symbol} holds nothing once it is answered, though the backend has not taken its request`, async () => {
    await withRig({ backendSettings: NARROW }, async (rig) => {
      const caller = await rig.caller(NARROW);
      const call = caller.call(path, QUESTION);
      await rig.settle();
      assertEquals(held(rig), [BEGUN_BYTES]);
      rig.request(0).replies(["one"]);
      await rig.settle();
      assertEquals([call.status, held(rig)], [undefined, [0]]);
      call.grants(1_000);
      await rig.settle();
      call.expects(0, "one");
    });
  });
}

Deno.test("Call that the sidecar answers by itself holds nothing while its caller reads", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller(NARROW);
    const call = caller.call("/grpc.health.v1.Health/Check", undefined, { ends: false });
    await rig.settle();
    call.sends(healthRequest("collapser"));
    await rig.settle();
    assertEquals(held(rig), [healthRequest("collapser").length + 5 + 9]);
    call.ends();
    await rig.settle();
    assertEquals([call.status, held(rig)], [undefined, [0]]);
    call.grants(1_000);
    await rig.settle();
    assertEquals(call.status, 0);
  });
});

Deno.test("Endpoint lets a call be accounted for again when it waits to be sent once more", async () => {
  await withRig(async (rig) => {
    const callers = [await rig.caller(), await rig.caller()];
    const calls = [callers[0]!.call(GET, QUESTION), callers[1]!.call(PUT, QUESTION)];
    await rig.settle();
    assertEquals(held(rig), [0, 0]);
    rig.dialling = "hangs";
    rig.backend.sends(goAway(0, ERROR_CODE.noError));
    await rig.settle();
    assertEquals(held(rig), [QUESTION_BYTES, QUESTION_BYTES]);
    rig.dialling = "accepts";
    rig.answerDials();
    await rig.settle();
    assertEquals(held(rig), [0, 0]);
    for (const request of rig.backend.requests) request.replies(["one"]);
    await rig.settle();
    for (const call of calls) call.expects(0, "one");
  });
});
