import { assertEquals } from "@std/assert";
import type { CallerCall } from "../support/caller_end.ts";
import { GET, type ProxyRig, type RigOptions, withRig } from "../support/proxy_rig.ts";

/** Two shards that a header names, and one pool for both: two places, three that wait. */
const SHARED: RigOptions = {
  backends: ["a", "b"].map((name) => ({ name, address: { host: name, port: 1 } })),
  backendKind: "shards",
  backendRouting: { by: "header", name: "x-shard" },
  backendOutlierDetection: false,
  cacheDurationMs: 0,
  backendMaxConcurrent: 2,
  backendMaxPending: 3,
  sharedPool: true,
};

async function asks(rig: ProxyRig, shard: string, timeout?: string): Promise<CallerCall> {
  const caller = rig.callers[0] ?? await rig.caller();
  const deadline = timeout === undefined ? [] : [["grpc-timeout", timeout] as const];
  const call = caller.call(GET, `question ${caller.calls.length}`, {
    metadata: [["x-shard", shard], ...deadline],
  });
  await rig.settle();
  return call;
}

/** How many calls each backend has been sent. */
function sent(rig: ProxyRig): [a: number, b: number] {
  return [rig.requestsAt("a").length, rig.requestsAt("b").length];
}

Deno.test("SharedPool lets one backend take every place, and refuses calls to the other", async () => {
  await withRig(SHARED, async (rig) => {
    await asks(rig, "a", "1S");
    await asks(rig, "a", "1S");
    const waiting = [await asks(rig, "b"), await asks(rig, "b"), await asks(rig, "a", "1S")];
    const refused = await asks(rig, "b");
    assertEquals(sent(rig), [2, 0]);
    for (const call of waiting) call.expectsNothing();
    refused.expectsFailure(8, "too many calls wait for backend b");

    // The deadline of those that hold the places frees them, for those who wait.
    await rig.advance(1_010);
    assertEquals(sent(rig), [2, 2]);
    for (const request of rig.openAt("b")) request.replies(["there"]);
    await rig.settle();
    waiting[0]!.expects(0, "there");
    waiting[1]!.expects(0, "there");
  });
});

Deno.test("SharedPool sends those that wait in their order, whichever backend they are for", async () => {
  await withRig({ ...SHARED, backendMaxConcurrent: 1 }, async (rig) => {
    await asks(rig, "a");
    for (const shard of ["b", "a", "b"]) await asks(rig, shard);
    const order: [number, number][] = [];
    for (let open = rig.requests.find((one) => !one.isOver); open !== undefined;) {
      order.push(sent(rig));
      open.echoes();
      await rig.settle();
      open = rig.requests.find((one) => !one.isOver);
    }
    assertEquals(order, [[1, 0], [1, 1], [2, 1], [2, 2]]);
  });
});

Deno.test("SharedPool has as many places as it says, however calls end", async () => {
  await withRig(SHARED, async (rig) => {
    const first = await asks(rig, "a");
    await asks(rig, "b");
    await asks(rig, "a");
    assertEquals([sent(rig), rig.gauges.inflight, rig.gauges.pending], [[1, 1], 2, 1]);
    first.cancels();
    await rig.settle();
    assertEquals([sent(rig), rig.gauges.inflight, rig.gauges.pending], [[2, 1], 2, 0]);
    rig.openAt("b")[0]!.fails(3);
    await rig.settle();
    assertEquals(rig.gauges.inflight, 1);
    rig.openAt("a")[0]!.echoes();
    await rig.settle();
    assertEquals(rig.gauges.inflight, 0);
  });
});

Deno.test("SharedPool does not let a call whose backend is being connected to hold up the others", async () => {
  await withRig(SHARED, async (rig) => {
    rig.diallingAt.set("a", "hangs");
    rig.backendAt("a").socket.ends();
    await rig.settle();
    const early = await asks(rig, "a");
    const late = await asks(rig, "b");
    assertEquals(sent(rig), [0, 1]);
    rig.openAt("b")[0]!.replies(["there"]);
    await rig.settle();
    late.expects(0, "there");
    early.expectsNothing();
    rig.diallingAt.set("a", "accepts");
    rig.answerDials();
    await rig.settle();
    rig.openAt("a")[0]!.replies(["here"]);
    await rig.settle();
    early.expects(0, "here");
  });
});

Deno.test("BalancedCluster without a SharedPool keep the other backend's places", async () => {
  await withRig({ ...SHARED, sharedPool: false }, async (rig) => {
    for (let i = 0; i < 6; i++) await asks(rig, "a", "1S");
    const other = await asks(rig, "b");
    assertEquals(sent(rig), [2, 1]);
    rig.openAt("b")[0]!.replies(["there"]);
    await rig.settle();
    other.expects(0, "there");
    await rig.advance(2_000);
  });
});
