import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { BackendCounters } from "../../lib/observe/mod.ts";
import { Bulkhead, type BulkheadOptions } from "../../lib/upstream/bulkhead.ts";
import type { Exchange } from "../../lib/upstream/exchange.ts";
import { rng } from "../support/cuts.ts";
import { type Asked, exchangeOf, METHOD, RecordingOwner } from "./exchange_fixture.ts";

const OTHER_METHOD = "/test.Service/PutItem";

function bulkhead(options: Partial<BulkheadOptions> = {}): {
  walls: Bulkhead;
  counters: BackendCounters;
  gauges: () => [inflight: number, pending: number];
} {
  const counters = new BackendCounters("b");
  const walls = new Bulkhead({ maxConcurrent: 2, maxPending: 3, ...options }, counters);
  return { walls, counters, gauges: () => [counters.inflight, counters.pending] };
}

function exchange(asked: Asked = {}): Exchange {
  return exchangeOf(new RecordingOwner(), asked);
}

Deno.test("Bulkhead has as many places as it may, each free again once", () => {
  const { walls, counters, gauges } = bulkhead();
  const [a, b, c] = [exchange(), exchange(), exchange()];
  assertEquals([counters.limit, walls.hasPlace, walls.admits(a)], [2, true, true]);
  walls.enter(a);
  walls.enter(b);
  assertEquals([gauges(), walls.hasPlace, walls.admits(c)], [[2, 0], false, false]);
  assertEquals([a.place.state, c.place.state], ["held", "none"]);
  assertEquals(walls.leave(a), true);
  assertEquals([gauges(), walls.admits(c), a.place.state], [[1, 0], true, "none"]);
  assertEquals([walls.leave(a), walls.leave(c)], [false, false]); // they have none
  assertEquals(gauges(), [1, 0]);
});

Deno.test("Bulkhead gives no place to a call that streams, or that the sidecar makes by itself", () => {
  const { walls, gauges } = bulkhead({ maxConcurrent: 0 });
  const streaming = exchange();
  streaming.isStreaming = true;
  for (const free of [streaming, exchange({ isProbe: true })]) {
    assertEquals(walls.admits(free), true);
    walls.enter(free);
    assertEquals([gauges(), free.place.state], [[0, 0], "none"]);
    assertEquals(walls.leave(free), false);
  }
  assertEquals(walls.admits(exchange()), false);
});

Deno.test("Bulkhead takes the place back from a call that has begun to stream, and nothing more at its end", () => {
  const { walls, gauges } = bulkhead({ maxConcurrent: 1 });
  const call = exchange({ maxConcurrent: 1 });
  walls.enter(call);
  call.isStreaming = true;
  assertEquals([walls.leave(call), gauges(), call.place.countsForMethod], [true, [0, 0], false]);
  walls.enter(exchange());
  assertEquals([walls.leave(call), gauges()], [false, [1, 0]]);
});

Deno.test("Bulkhead lets calls wait in the order they came, also when one leaves from the middle", () => {
  const { walls, gauges } = bulkhead();
  const calls = [exchange(), exchange(), exchange()];
  const [a, b, c] = calls as [Exchange, Exchange, Exchange];
  assertStrictEquals(walls.first, undefined);
  for (const call of calls) {
    assertEquals(walls.isQueueFull, false);
    walls.wait(call, 0);
    assertEquals(call.place.state, "queued");
  }
  assertEquals([gauges(), walls.isQueueFull], [[0, 3], true]);
  const waiting = walls.waiting();
  assertEquals(walls.leave(b), false); // there was no place to give back
  assertEquals([gauges(), walls.isQueueFull, b.place.state], [[0, 2], false, "none"]);
  assertEquals(waiting.map((call) => calls.indexOf(call)), [0, 1, 2]); // as it was then
  assertStrictEquals(walls.first, a);
  walls.enter(a);
  assertEquals([gauges(), a.place.state], [[1, 1], "held"]);
  assertStrictEquals(walls.first, c);
  walls.wait(b, 0);
  walls.enter(c);
  assertStrictEquals(walls.first, b);
});

Deno.test("Bulkhead bounds the calls of a method, those that wait included and those that stream left out", () => {
  const { walls } = bulkhead({ maxConcurrent: 10 });
  const bounded: Asked = { maxConcurrent: 2 };
  const [held, waiting, third] = [exchange(bounded), exchange(bounded), exchange(bounded)];
  assertEquals(walls.admitsMethod(held), true);
  walls.enter(held);
  walls.wait(waiting, 0);
  assertEquals(walls.admitsMethod(third), false);
  walls.enter(waiting); // still one call
  assertEquals(walls.admitsMethod(third), false);
  const others = [exchange(), exchange({ ...bounded, path: OTHER_METHOD })];
  for (const other of others) assertEquals(walls.admitsMethod(other), true);
  third.isStreaming = true;
  assertEquals(walls.admitsMethod(third), true);
  walls.enter(third);
  walls.leave(held);
  walls.leave(held); // counts once
  assertEquals(walls.admitsMethod(exchange(bounded)), true);
  walls.enter(exchange(bounded));
  assertEquals(walls.admitsMethod(exchange(bounded)), false);
  waiting.isStreaming = true;
  walls.leave(waiting);
  assertEquals(walls.admitsMethod(exchange(bounded)), true);
});

Deno.test("Bulkhead counts a call no longer against its method when it streams by the time it is sent", () => {
  const { walls } = bulkhead();
  const call = exchange({ maxConcurrent: 1 });
  walls.wait(call, 0);
  call.isStreaming = true;
  walls.enter(call);
  assertEquals([call.place.state, call.place.countsForMethod], ["none", false]);
  assertEquals(walls.admitsMethod(exchange({ maxConcurrent: 1 })), true);
});

Deno.test("Bulkhead moves its limit by the answers of calls that have a place, where it may", () => {
  const { walls, counters } = bulkhead({ maxConcurrent: 20, adapts: true });
  assertEquals(counters.limit, 8);
  const [held, streaming] = [exchange(), exchange()];
  walls.enter(held);
  for (let i = 0; i < 100; i++) walls.observe(streaming, 1, 0);
  assertEquals(counters.limit, 8);
  for (let i = 0; i < 32; i++) walls.observe(held, 1, 0);
  assertEquals(counters.limit, 20);
  const fixed = bulkhead({ maxConcurrent: 20 });
  const call = exchange();
  fixed.walls.enter(call);
  for (let i = 0; i < 100; i++) fixed.walls.observe(call, 1, 0);
  assertEquals(fixed.counters.limit, 20);
});

Deno.test("Bulkhead does what plain lists would, whatever the order of things", () => {
  for (let seed = 1; seed <= 50; seed++) {
    const random = rng(seed);
    const draw = (below: number) => Math.floor(random() * below);
    const { walls, gauges } = bulkhead();
    const idle: Exchange[] = [];
    let held: Exchange[] = [];
    let queued: Exchange[] = [];
    for (let step = 0; step < 300; step++) {
      const call = idle.pop() ?? exchange({
        path: [METHOD, OTHER_METHOD][draw(2)]!,
        ...(draw(2) === 0 && { maxConcurrent: 2 }),
      });
      const { method } = call.target;
      const alike = [...held, ...queued].filter(({ target }) =>
        target.method.path === method.path && target.method.policy.maxConcurrent !== undefined
      );
      const { maxConcurrent = Infinity } = method.policy;
      assertEquals(walls.admitsMethod(call), alike.length < maxConcurrent, `seed ${seed}`);
      assertEquals(walls.admits(call), held.length < 2, `seed ${seed}`);
      if (walls.admitsMethod(call) && walls.admits(call)) {
        walls.enter(call);
        held.push(call);
      } else if (!walls.isQueueFull) {
        walls.wait(call, 0);
        queued.push(call);
      } else idle.push(call);
      if (draw(3) === 0 && queued.length > 0 && held.length < 2) {
        const first = queued.shift()!;
        assertStrictEquals(walls.first, first);
        walls.enter(first);
        held.push(first);
      }
      const gone = [...held, ...queued][draw(5)];
      if (gone !== undefined) {
        assertEquals(walls.leave(gone), held.includes(gone));
        held = held.filter((other) => other !== gone);
        queued = queued.filter((other) => other !== gone);
      }
      assertEquals(gauges(), [held.length, queued.length], `seed ${seed}, step ${step}`);
      assertEquals(walls.isQueueFull, queued.length >= 3);
      assert(walls.waiting().every((waiting, i) => waiting === queued[i]));
    }
  }
});
