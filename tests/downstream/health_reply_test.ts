import { ownHealthReply } from "../../lib/downstream/health_reply.ts";
import { RESPONSE, TRAILERS } from "../support/frames.ts";
import { framesOf } from "../support/log_frames.ts";
import { framed } from "../support/peer_end.ts";
import { assertEquals } from "@std/assert";
import { frameMessage, healthReply, healthRequest } from "../../lib/grpc/mod.ts";
import { latin1 } from "../../lib/wire/mod.ts";
import type { Pairs } from "../support/frames.ts";
import { withRig } from "../support/proxy_rig.ts";

const CHECK = "/grpc.health.v1.Health/Check";

Deno.test("ownHealthReply is a whole reply to who asks for the sidecar's own health", () => {
  for (const isServing of [true, false]) {
    const log = ownHealthReply(framed(healthRequest("collapser")), isServing);
    assertEquals(framesOf(log!), [
      { type: "HEADERS", streamId: 1, fields: RESPONSE, endStream: false },
      ...[
        {
          type: "DATA",
          streamId: 1,
          text: `\0\0\0\0\x02\x08${isServing ? "\x01" : "\x02"}`,
          endStream: false,
        } as const,
      ],
      { type: "HEADERS", streamId: 1, fields: TRAILERS, endStream: true },
    ]);
  }
});

Deno.test("ownHealthReply leaves every other question to the backend", () => {
  const own = healthRequest("collapser");
  const questions = [
    ...["", "collapser2", "Collapser", "test.Service"].map((name) => framed(healthRequest(name))),
    frameMessage(own, true), // compressed, which we do not look into
    framed(own.subarray(0, own.length - 1)), // cut
    framed(Uint8Array.of(255)),
    framed(Uint8Array.of(0x0a, 1, 0xff)), // a name that is no UTF-8
  ];
  for (const question of questions) {
    assertEquals(ownHealthReply(question, true), undefined, Deno.inspect(question));
  }
});

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
