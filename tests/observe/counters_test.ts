import { assert, assertEquals } from "@std/assert";
import {
  LATENCY_BUCKETS,
  LatencyHistogram,
  MAX_LABELS,
  MethodCounters,
  OTHER_LABEL,
  OTHER_STATUS,
  ProxyCounters,
  StatusCounts,
} from "../../lib/observe/mod.ts";
import { rng } from "../support/cuts.ts";
import { GET, withRig } from "../support/proxy_rig.ts";

Deno.test("LatencyHistogram puts a time into the first bucket that is not below it", () => {
  assertEquals(LATENCY_BUCKETS.length, 18);
  assertEquals(LATENCY_BUCKETS.slice(0, 3), [0.0001, 0.0002, 0.0004]);
  const random = rng(7);
  for (let i = 0; i < 1_000; i++) {
    const ms = i < 18 ? LATENCY_BUCKETS[i]! * 1_000 : random() * 10 ** (random() * 6 - 1);
    const histogram = new LatencyHistogram();
    histogram.observe(ms);
    const bound = LATENCY_BUCKETS.findIndex((seconds) => ms / 1_000 <= seconds * (1 + 1e-12));
    const bucket = bound < 0 ? LATENCY_BUCKETS.length : bound;
    assertEquals(histogram.counts[bucket], 1, `${ms} ms`);
    assertEquals([histogram.count, histogram.sumSeconds], [1, ms / 1_000]);
  }
});

Deno.test("LatencyHistogram takes no time at all, and any amount of it", () => {
  const histogram = new LatencyHistogram();
  histogram.observe(0);
  histogram.observe(1e9);
  assertEquals([histogram.counts[0], histogram.counts[18], histogram.count], [1, 1, 2]);
});

Deno.test("StatusCounts counts what gRPC does not define as one", () => {
  const counts = new StatusCounts();
  for (const status of [0, 16, 17, 99, 99_999]) counts.add(status);
  assertEquals([counts.counts[0], counts.counts[16], counts.counts[OTHER_STATUS]], [1, 1, 3]);
});

Deno.test("ProxyCounters gives 200 methods a label of their own and the rest one together", () => {
  const counters = new ProxyCounters();
  for (let i = 0; i < 1_000; i++) counters.method(`/s/m${i}`).outcomes.led++;
  assertEquals(counters.methods.size, MAX_LABELS + 1);
  assertEquals(counters.method("/s/m0").label, "/s/m0");
  assertEquals(counters.method("/s/m999").label, OTHER_LABEL);
  assertEquals(counters.methods.get(OTHER_LABEL)?.outcomes.led, 1_000 - MAX_LABELS);
  assert(counters.method("/s/m5") instanceof MethodCounters);
});

Deno.test("ProxyCounters bounds services and error codes too", () => {
  const counters = new ProxyCounters();
  for (let i = 0; i < 1_000; i++) {
    counters.countInvalidation(`s${i}`);
    counters.countConnectionError("caller", i);
  }
  assertEquals(counters.invalidated.size, MAX_LABELS + 1);
  assertEquals(counters.invalidated.get(OTHER_LABEL), 1_000 - MAX_LABELS);
  assertEquals(counters.connectionErrors.caller.size, MAX_LABELS + 1);
  assertEquals(counters.connectionErrors.caller.get(-1), 1_000 - MAX_LABELS);
  assertEquals(counters.connectionErrors.backend.size, 0);
});

Deno.test("ProxyCounters does not grow with the names that callers think of (scenario 43)", async () => {
  await withRig(async (rig) => {
    rig.onRequest = (request) => request.fails(12);
    const caller = await rig.caller();
    const random = rng(43);
    for (let i = 0; i < 1_000; i++) {
      const name = Math.floor(random() * 2 ** 32).toString(36);
      const call = caller.call(`/x${name}.Y/Get${name}`, "1", {
        metadata: [["user-agent", name], ["x-forwarded-host", name]],
      });
      if (i % 50 === 49) {
        await rig.settle();
        call.expects(12);
      }
    }
    // The backend knows none of them, so they are all the same.
    assertEquals([...rig.proxy.counters.methods.keys()], [OTHER_LABEL]);
    const other = rig.proxy.counters.methods.get(OTHER_LABEL)!;
    assertEquals(other.outcomes.led + other.outcomes.passed, 1_000);
    assertEquals(other.responses.counts[12], 1_000);
    rig.onRequest = (request) => request.echoes();
    caller.call(GET, "1");
    await rig.settle();
    assertEquals(rig.proxy.counters.method(GET).outcomes.led, 1);
  });
});

Deno.test("ProxyCounters counts each call of a flight once, by what it was (scenario 44)", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const calls = Array.from({ length: 10 }, () => caller.call(GET, "1"));
    await rig.settle();
    assertEquals(rig.gauges, { flights: 1, waiters: 10, connections: 1, inflight: 1, pending: 0 });
    rig.request(0).replies(["one"]);
    await rig.settle();
    for (const call of calls) call.expects(0, "one");
    await rig.advance(50);
    caller.call(GET, "1");
    await rig.settle();
    assertEquals(rig.outcomes, { led: 1, joined: 9, hit: 1 });
    const counters = rig.proxy.counters.method(GET);
    assertEquals(counters.responses.counts[0], 11);
    assertEquals([rig.proxy.map.stored.entries, rig.gauges.flights], [1, 0]);
  });
});

Deno.test("ProxyCounters shows a stream as under way until it has ended (scenario 44)", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    caller.call("/test.Service/ListItems", "1");
    await rig.settle();
    rig.request(0).begins(["a", "b"]);
    await rig.advance(5_000);
    const { flights, waiters } = rig.gauges;
    assertEquals([flights, waiters], [1, 1]);
    assertEquals(rig.proxy.counters.durations.led.count, 0);
    rig.request(0).ends();
    await rig.settle();
    assertEquals([rig.gauges.flights, rig.gauges.waiters], [0, 0]);
    assertEquals(rig.proxy.counters.durations.led.sumSeconds, 5);
  });
});

Deno.test("CollapseMap lets go of results that have expired by itself", async () => {
  await withRig(async (rig) => {
    rig.onRequest = (request) => request.echoes();
    const caller = await rig.caller();
    for (let i = 0; i < 5; i++) caller.call(GET, `${i}`);
    await rig.settle();
    assertEquals(rig.proxy.map.stored.entries, 5);
    await rig.advance(1_104);
    assertEquals([rig.proxy.map.stored.entries, rig.proxy.map.stored.bytes], [0, 0]);
  });
});

Deno.test("CollapseMap keeps no more results than it may, and answers calls whose result just left", async () => {
  await withRig({ maxCacheEntries: 2 }, async (rig) => {
    rig.onRequest = (request) => request.echoes();
    const caller = await rig.caller();
    const stuck = await rig.caller([[4, 3]]);
    for (const message of ["1", "2"]) caller.call(GET, message);
    await rig.settle();
    const hit = stuck.call(GET, "1"); // and stays in the middle of it
    await rig.settle();
    for (const message of ["3", "4", "5"]) caller.call(GET, message);
    await rig.settle();
    assertEquals(rig.proxy.map.stored.entries, 2);
    hit.grants(100);
    await rig.settle();
    hit.expects(0, "re:1");
    assertEquals(rig.outcomes, { led: 5, hit: 1 });
  });
});
