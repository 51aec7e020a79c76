import { assertEquals } from "@std/assert";
import { healthReply, healthRequest } from "../../lib/grpc/mod.ts";
import { latin1 } from "../../lib/wire/mod.ts";
import type { Pairs } from "../support/frames.ts";
import { withRig } from "../support/proxy_rig.ts";

const CHECK = "/grpc.health.v1.Health/Check";

Deno.test("CallerSession answers for the health of the sidecar itself, under its own name", async () => {
  await withRig({ dialling: "refuses" }, async (rig) => {
    const caller = await rig.caller();
    const debug: Pairs = [["x-collapser-debug", "1"]];
    const down = caller.call(CHECK, healthRequest("collapser"), { metadata: debug });
    await rig.settle();
    down.expects(0, textOf(healthReply(false)));
    assertEquals(down.outcome, "passed");
    rig.dialling = "accepts";
    await rig.advance(700);
    const up = caller.call(CHECK, healthRequest("collapser"));
    await rig.settle();
    up.expects(0, textOf(healthReply(true)));
    rig.proxy.announceEnd();
    const ending = caller.call(CHECK, healthRequest("collapser"));
    await rig.settle();
    ending.expects(0, textOf(healthReply(false)));
    rig.expectsRequests(0);
    assertEquals(rig.passed, { method: 3 });
  });
});

Deno.test("CallerSession gives its own health to a caller whose window is small, too", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller([[4, 3]]);
    const call = caller.call(CHECK, healthRequest("collapser"));
    await rig.settle();
    assertEquals(call.reply.text.length, 3);
    call.grants(100);
    await rig.settle();
    call.expects(0, textOf(healthReply(true)));
    const gone = caller.call(CHECK, healthRequest("collapser"), {
      metadata: [["grpc-timeout", "100m"]],
    });
    await rig.advance(104);
    assertEquals(gone.status, 4);
  });
});

Deno.test("CallerSession passes questions about the backend's health on, each on its own (scenario 42)", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const names = ["", "test.Service", "collapser2"];
    const checks = names.flatMap((name) => [
      caller.call(CHECK, healthRequest(name)),
      caller.call(CHECK, healthRequest(name)),
    ]);
    const watch = caller.call("/grpc.health.v1.Health/Watch", healthRequest("collapser"));
    await rig.settle();
    rig.expectsRequests(7);
    for (const request of rig.requests.slice(0, 6)) request.replies([healthReply(true)]);
    rig.request(6).fails(12);
    await rig.settle();
    for (const call of checks) call.expects(0, textOf(healthReply(true)));
    watch.expects(12);
    const flipped = caller.call(CHECK, healthRequest(""));
    await rig.settle();
    rig.request(7).replies([healthReply(false)]);
    await rig.settle();
    flipped.expects(0, textOf(healthReply(false)));
  });
});

function textOf(bytes: Uint8Array): string {
  return latin1(bytes, 0, bytes.length);
}
