import { assertEquals } from "@std/assert";
import { GET, PUT, withRig } from "../support/proxy_rig.ts";

Deno.test("Keepalive gives a backend up that owes an answer and gives no sign of life", async () => {
  await withRig({ backendTimeoutMs: 600_000 }, async (rig) => {
    const caller = await rig.caller();
    rig.backend.answersPings = false;
    const [shared, passed] = [caller.call(GET, "1"), caller.call(PUT, "2")];
    await rig.advance(19_900);
    assertEquals(rig.backend.seen("PING").length, 0);
    await rig.advance(200);
    assertEquals(rig.backend.seen("PING").length, 1);
    await rig.advance(9_800);
    assertEquals([shared.status, rig.backends.length], [undefined, 1]);
    await rig.advance(200);
    const text = "the connection to the backend was lost: no sign of life for 30 s";
    for (const call of [shared, passed]) call.expectsFailure(14, text);
    assertEquals([rig.backends.length, rig.backends[0]!.socket.isClosed], [2, true]);
    rig.onRequest = (request) => request.echoes();
    const next = caller.call(GET, "3");
    await rig.settle();
    next.expects(0, "re:3");
  });
});

Deno.test("Keepalive asks an idle backend nothing, and a patient one rarely", async () => {
  await withRig({ backendTimeoutMs: 10_000_000 }, async (rig) => {
    const caller = await rig.caller();
    const first = caller.call(PUT, "1");
    await rig.settle();
    rig.request(0).echoes();
    await rig.advance(3_600_000);
    first.expects(0, "re:1");
    assertEquals(rig.backend.seen("PING").length, 0, "no call is open");
    const watch = caller.call(PUT, "2");
    await rig.advance(310_000);
    assertEquals(rig.backend.seen("PING").length, 1);
    await rig.advance(20_000);
    assertEquals(rig.backend.seen("PING").length, 2);
    await rig.advance(3_000_000);
    assertEquals(rig.backend.seen("PING").length, 11, "one in five minutes");
    rig.request(1).begins(["news"]); // by which a server forgives what came before
    await rig.advance(30_000);
    assertEquals(rig.backend.seen("PING").length, 12);
    rig.request(1).ends();
    await rig.advance(600_000);
    assertEquals(rig.backend.seen("PING").length, 12);
    watch.expects(0, "news");
  });
});

Deno.test("Keepalive does not take slow data for silence", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const call = caller.call(PUT, "1");
    await rig.settle();
    rig.request(0).begins();
    for (let i = 0; i < 20; i++) {
      await rig.advance(15_000);
      rig.request(0).sends("tick");
    }
    rig.request(0).ends();
    await rig.settle();
    assertEquals([call.messages.length, rig.backend.seen("PING").length], [20, 0]);
  });
});

Deno.test("Keepalive notices a silent backend although no call waits for long", async () => {
  await withRig(async (rig) => {
    rig.onRequest = (request) => request.backend === rig.backends[0] || request.echoes();
    const caller = await rig.caller();
    rig.backend.answersPings = false;
    let call = caller.call(PUT, "0");
    for (let second = 1; second <= 35; second++) {
      await rig.advance(500);
      call.cancels();
      await rig.advance(500);
      call = caller.call(PUT, String(second));
    }
    await rig.settle();
    assertEquals(rig.backends.length, 2);
    call.expects(0, "re:35");
  });
});
