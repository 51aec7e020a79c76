/**
 * How calls are counted that end otherwise than was meant: turned away, or given up.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { GET, type ProxyRig, PUT, type RigOptions, withRig } from "../support/proxy_rig.ts";

/** Answers that callers were counted to have got, by status. */
function codesOf(rig: ProxyRig): Record<string, number> {
  const counted: Record<string, number> = {};
  for (const { responses: { counts } } of rig.proxy.counters.all()) {
    counts.forEach((count, status) => {
      if (count > 0) counted[status] = (counted[status] ?? 0) + count;
    });
  }
  return counted;
}

const FULL: RigOptions = { backendMaxConcurrent: 1, backendMaxPending: 1 };

Deno.test("Call that finds neither a place nor room to wait is rejected, whatever it would have been", async () => {
  for (const path of [GET, PUT]) {
    await withRig(FULL, async (rig) => {
      const caller = await rig.caller();
      const [, , third] = ["1", "2", "3"].map((message) => caller.call(path, message));
      await rig.settle();
      third!.expectsFailure(8, "too many calls wait for backend main");
      assertEquals(rig.outcomes, { [path === GET ? "led" : "passed"]: 1, rejected: 1 });
      assertEquals(rig.proxy.counters.undecided, 1);
      assertEquals(rig.proxy.counters.passed.method, path === PUT ? 1 : 0);
      for (let i = 0; i < 2; i++) {
        rig.request(i).echoes();
        await rig.settle();
      }
      assertEquals(rig.outcomes, { [path === GET ? "led" : "passed"]: 2, rejected: 1 });
      assertEquals(rig.proxy.counters.undecided, 0);
    });
  }
});

Deno.test("Callers of a flight that waits in vain for a place are rejected, one and all", async () => {
  await withRig({ ...FULL, backendTimeoutMs: 1_000 }, async (rig) => {
    const caller = await rig.caller();
    caller.call(PUT, "in the place");
    await rig.settle();
    for (let i = 0; i < 3; i++) caller.call(GET, "k");
    await rig.advance(1_100);
    rig.request(0).echoes();
    await rig.settle();
    assertEquals(rig.outcomes, { passed: 1, rejected: 3 });
    rig.expectsRequests(1);
  });
});

Deno.test("Cancel that comes when the deadline has all but passed counts as the deadline", async () => {
  const cases = [
    { timeout: "1S", afterMs: 960, status: 4 },
    { timeout: "1S", afterMs: 900, status: 1 },
    { timeout: "100m", afterMs: 92, status: 4 },
    { timeout: "100m", afterMs: 80, status: 1 },
    { timeout: undefined, afterMs: 5_000, status: 1 },
  ];
  for (const path of [GET, PUT]) {
    for (const { timeout, afterMs, status } of cases) {
      await withRig(async (rig) => {
        const caller = await rig.caller();
        const metadata: [string, string][] = timeout === undefined
          ? []
          : [["grpc-timeout", timeout]];
        const call = caller.call(path, "k", { metadata });
        await rig.settle();
        await rig.advance(afterMs);
        call.cancels();
        await rig.settle();
        assertEquals(codesOf(rig), { [status]: 1 }, `${path} ${timeout} after ${afterMs} ms`);
      });
    }
  }
});

Deno.test("Good answers are counted by how they were come by, and failures are none", async () => {
  await withRig({ cacheDurationMs: 60_000 }, async (rig) => {
    const caller = await rig.caller();
    caller.call("/other.Service/PutItem", "3");
    caller.call(GET, "1");
    caller.call(GET, "1");
    caller.call(GET, "2");
    await rig.settle();
    rig.request(0).echoes();
    rig.request(1).echoes();
    rig.request(2).fails(5);
    await rig.settle();
    caller.call(GET, "1");
    await rig.settle();
    const { hit, joined, led, passed, rejected, stale } = rig.proxy.counters.good;
    assertEquals([hit, joined, led, passed, rejected, stale], [1, 1, 1, 1, 0, 0]);
  });
});
