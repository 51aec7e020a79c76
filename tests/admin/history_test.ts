import { assert, assertEquals } from "@std/assert";
import { History, type Sample } from "../../lib/admin/history.ts";
import { BackendCounters, ProxyCounters } from "../../lib/observe/mod.ts";

const GAUGES = { waiters: 3, flights: 2, lagMs: 1 };

class Fixture {
  readonly counters = new ProxyCounters();
  readonly backend = new BackendCounters("main");
  readonly history: History;
  nowMs = 1_000;

  constructor() {
    this.counters.backends.push(this.backend);
    this.history = new History(this.counters, this.nowMs);
  }

  second(): Sample {
    this.nowMs += 1_000;
    return this.history.take(this.nowMs, 5e12 + this.nowMs, GAUGES);
  }

  calls(count: number): void {
    const method = this.counters.method("/a.S/Get");
    method.outcomes.hit += count;
    for (let i = 0; i < count; i++) method.responses.add(i % 2 === 0 ? 0 : 14);
    this.backend.calls += count / 2;
    for (let i = 0; i < count / 2; i++) this.backend.latency.observe(3);
  }
}

Deno.test("History gives rates a second over the last seconds, and the gauges as they are", () => {
  const fixture = new Fixture();
  fixture.calls(100);
  const sample = fixture.second();
  assertEquals({ ...GAUGES, ...sample }, sample);
  assertEquals([sample.atMs, sample.calls.hit, sample.calls.led], [5e12 + 2_000, 100, 0]);
  assertEquals([sample.failed, sample.backendCalls], [50, 50]);
  const [{ name, calls, p50Ms, p99Ms }] = sample.backends as [Sample["backends"][number]];
  assertEquals([name, calls], ["main", 50]);
  assert(p50Ms! > 1.6 && p50Ms! <= p99Ms! && p99Ms! <= 3.2);
  assertEquals(fixture.second().calls.hit, 50); // the same, over two seconds
  for (let i = 0; i < 5; i++) fixture.second();
  assertEquals(fixture.history.last!.calls.hit, 0);
  assertEquals(fixture.history.last!.backends[0]!.p99Ms, null);
});

Deno.test("History keeps five minutes", () => {
  const fixture = new Fixture();
  for (let i = 0; i < 400; i++) fixture.second();
  const { samples } = fixture.history;
  assertEquals(samples.length, 300);
  assertEquals(samples.at(-1), fixture.history.last);
  assertEquals(samples.at(-1)!.atMs - samples[0]!.atMs, 299_000);
});

Deno.test("History says nothing below zero when a backend goes and takes its counts along", () => {
  const fixture = new Fixture();
  fixture.calls(100);
  fixture.second();
  fixture.counters.backends.length = 0;
  const sample = fixture.second();
  assertEquals([sample.backendCalls, sample.backends], [0, []]);
});

Deno.test("History looks at a bounded number of backends", () => {
  const fixture = new Fixture();
  for (let i = 0; i < 100; i++) fixture.counters.backends.push(new BackendCounters(`b${i}`));
  assertEquals(fixture.second().backends.length, 16);
});
