import { assert, assertEquals, assertNotEquals, assertStrictEquals } from "@std/assert";
import { Waiter } from "../../lib/collapse/mod.ts";
import { rng } from "../support/cuts.ts";
import {
  type FakeFlight,
  type FakeReply,
  type FakeWaiter,
  MapFixture,
  waitersOf,
} from "./map_fixture.ts";

/** More idle heads than there is room for. */
const MANY_HEADS = 30_000;

// ---- leading and joining

Deno.test("CollapseMap.lookUp finds the flight that was led for the same head and message alone", () => {
  const fixture = new MapFixture();
  const other = fixture.map.head("other", fixture.service);
  assertEquals(fixture.find("a"), undefined);
  const flight = fixture.lead("a");
  assertStrictEquals(fixture.find("a"), flight);
  assertEquals(fixture.find("b"), undefined);
  assertEquals(fixture.find(""), undefined);
  assertEquals(fixture.map.lookUp(other, "a", 0), undefined);
  assertEquals(fixture.gauges, { flying: 1, waiting: 1, entries: 0 });
});

Deno.test("CollapseMap.lookUp takes an empty message for a key like any other", () => {
  const fixture = new MapFixture();
  const flight = fixture.lead("");
  assertStrictEquals(fixture.find(""), flight);
});

Deno.test("CollapseMap.join lines waiters up in the order they came", () => {
  const fixture = new MapFixture();
  const flight = fixture.lead("a");
  const more = [fixture.join(flight), fixture.join(flight), fixture.join(flight)];
  assertEquals(waitersOf(flight).slice(1).every((waiter, i) => waiter === more[i]), true);
  assertEquals(flight.waiterCount, 4);
  assertEquals(fixture.map.waiting, 4);
  assert(more.every((waiter) => waiter.flight === flight));
});

Deno.test("CollapseMap.leave keeps the others in order, whoever leaves", () => {
  for (let seed = 1; seed <= 50; seed++) {
    const random = rng(seed);
    const fixture = new MapFixture();
    const flight = fixture.lead("a");
    for (let i = 0; i < 9; i++) fixture.join(flight);
    const left = waitersOf(flight);
    while (left.length > 0) {
      const [waiter] = left.splice(Math.floor(random() * left.length), 1);
      assertEquals(fixture.map.leave(waiter!), left.length === 0, `seed ${seed}`);
      const still = waitersOf(flight);
      assert(still.length === left.length && still.every((w, i) => w === left[i]), `seed ${seed}`);
      assertEquals([flight.waiterCount, fixture.map.waiting], [left.length, left.length]);
      assertEquals([waiter!.flight, waiter!.nextWaiter, waiter!.previousWaiter], [
        undefined,
        undefined,
        undefined,
      ]);
    }
    assertEquals(fixture.gauges, { flying: 0, waiting: 0, entries: 0 });
  }
});

Deno.test("CollapseMap.passOver leaves the one next in line who came first of the others, whoever leaves", () => {
  for (let seed = 1; seed <= 50; seed++) {
    const random = rng(seed);
    const fixture = new MapFixture();
    const flight = fixture.lead("a");
    const line = waitersOf(flight);
    const passed: FakeWaiter[] = [];
    for (let i = 0; i < 60 && flight.waiterCount > 0; i++) {
      assertStrictEquals(flight.nextInLine, line[0], `seed ${seed}`);
      const chance = random();
      if (chance < 0.5) line.push(fixture.join(flight));
      else if (chance < 0.7) {
        fixture.map.passOver(flight);
        passed.push(...line.splice(0, 1));
      } else {
        const from = chance < 0.9 ? line : passed;
        const [waiter] = from.splice(Math.floor(random() * from.length), 1);
        if (waiter !== undefined) fixture.map.leave(waiter);
      }
    }
  }
});

Deno.test("CollapseMap.leave of the last one forgets the flight and says that its call should be cancelled", () => {
  const fixture = new MapFixture();
  const flight = fixture.lead("a");
  const [leader] = waitersOf(flight);
  const follower = fixture.join(flight);
  assertEquals(fixture.map.leave(leader!), false);
  assertStrictEquals(fixture.find("a"), flight, "the leader's leaving ends nothing");
  assertEquals(fixture.map.leave(follower), true);
  assertEquals(fixture.find("a"), undefined);
  assert(flight.landed);
  assertEquals(fixture.gauges, { flying: 0, waiting: 0, entries: 0 });
});

Deno.test("CollapseMap.leave a second time, or by one who never joined, changes nothing", () => {
  const fixture = new MapFixture();
  const flight = fixture.lead("a");
  const follower = fixture.join(flight);
  fixture.map.leave(follower);
  assertEquals(fixture.map.leave(follower), false);
  assertEquals(fixture.map.leave(new Waiter<FakeReply>()), false);
  assertEquals(fixture.gauges, { flying: 1, waiting: 1, entries: 0 });
});

Deno.test("CollapseMap.leave of the last one after the answer came cancels nothing", () => {
  const fixture = new MapFixture();
  const landed = fixture.lead("a");
  fixture.map.land(landed);
  assertEquals(fixture.map.leave(waitersOf(landed)[0]!), false);
  const kept = fixture.lead("b");
  fixture.map.keep(kept, 0, 100);
  assertEquals(fixture.map.leave(waitersOf(kept)[0]!), false);
  assertStrictEquals(fixture.find("b"), kept);
  assertEquals(fixture.gauges, { flying: 0, waiting: 0, entries: 1 });
});

Deno.test("CollapseMap.join takes a waiter that has waited before", () => {
  const fixture = new MapFixture();
  const [first, second] = [fixture.lead("a"), fixture.lead("b")];
  const waiter: FakeWaiter = fixture.join(first);
  fixture.join(first);
  fixture.map.leave(waiter);
  fixture.map.join(second, waiter);
  assertEquals([first.waiterCount, second.waiterCount], [2, 2]);
  assertStrictEquals(waitersOf(second)[1], waiter);
});

Deno.test("CollapseMap.lookUp offers a flight up to the age that it may have, and no older one", () => {
  const fixture = new MapFixture({ joinMaxAgeMs: 50 });
  const flight = fixture.lead("a", { nowMs: 1_000 });
  assertStrictEquals(fixture.find("a", 1_000), flight);
  assertStrictEquals(fixture.find("a", 1_050), flight);
  assertEquals(fixture.find("a", 1_050.5), undefined);
  const next = fixture.lead("a", { nowMs: 1_051 });
  assertStrictEquals(fixture.find("a", 1_051), next);
  assertEquals(fixture.gauges, { flying: 2, waiting: 2, entries: 0 });
});

Deno.test("CollapseMap.lookUp offers no flight that is sealed", () => {
  const fixture = new MapFixture();
  const flight = fixture.lead("a");
  flight.sealed = true;
  assertEquals(fixture.find("a"), undefined);
  fixture.map.keep(flight, 0, 100);
  assertEquals([fixture.find("a"), flight.stored, fixture.gauges.flying], [undefined, false, 0]);
});

Deno.test("CollapseMap.isFull counts followers and not the leader", () => {
  for (const maxFollowers of [0, 1, 5]) {
    const fixture = new MapFixture({ maxFollowers });
    const flight = fixture.lead("a");
    for (let i = 0; i < maxFollowers; i++) {
      assertEquals(fixture.map.isFull(flight), false, `${i} of ${maxFollowers}`);
      fixture.join(flight);
    }
    assertEquals(fixture.map.isFull(flight), true, `${maxFollowers}`);
    if (maxFollowers > 0) {
      fixture.map.leave(waitersOf(flight).at(-1)!);
      assertEquals(fixture.map.isFull(flight), false);
    }
  }
});

// ---- landing

Deno.test("CollapseMap.land ends a flight once, and its key is free", () => {
  const fixture = new MapFixture();
  const flight = fixture.lead("a");
  fixture.map.land(flight);
  assertEquals([fixture.find("a"), flight.landed], [undefined, true]);
  fixture.map.land(flight);
  fixture.map.keep(flight, 0, 100);
  assertEquals(fixture.gauges, { flying: 0, waiting: 1, entries: 0 });
});

Deno.test("CollapseMap.land, keep and the last leaving remove a flight and never a newer one of its key", () => {
  const endings: ((fixture: MapFixture, old: ReturnType<MapFixture["lead"]>) => void)[] = [
    ({ map }, old) => map.land(old),
    ({ map }, old) => map.keep(old, 60, 100),
    ({ map }, old) => assertEquals(map.leave(waitersOf(old)[0]!), true),
  ];
  for (const end of endings) {
    const fixture = new MapFixture({ joinMaxAgeMs: 50 });
    const old = fixture.lead("a");
    const newer = fixture.lead("a", { nowMs: 51 });
    end(fixture, old);
    assertStrictEquals(fixture.find("a", 60), newer);
    assertEquals([old.stored, old.landed, newer.landed], [false, true, false]);
    assertEquals(fixture.map.flying, 1);
    fixture.map.keep(newer, 70, 100);
    assertStrictEquals(fixture.find("a", 70), newer);
  }
});

Deno.test("CollapseMap.land of an old flight leaves the stored result of a newer one", () => {
  const fixture = new MapFixture({ joinMaxAgeMs: 50 });
  const old = fixture.lead("a");
  const newer = fixture.store("a", { nowMs: 51 });
  fixture.map.keep(old, 52, 100);
  assertStrictEquals(fixture.find("a", 60), newer);
  assertEquals(fixture.gauges, { flying: 0, waiting: 1, entries: 1 });
});

// ---- keeping

Deno.test("CollapseMap.keep answers repeats until the time is over", () => {
  const fixture = new MapFixture();
  const flight = fixture.store("a", { nowMs: 1_000, ttlMs: 100 });
  assert(flight.stored);
  for (const nowMs of [1_000, 1_050, 1_099.9]) assertStrictEquals(fixture.find("a", nowMs), flight);
  for (const nowMs of [1_100, 1_101, 5_000]) assertEquals(fixture.find("a", nowMs), undefined);
});

Deno.test("CollapseMap.keep counts from the end of the call and not from its beginning", () => {
  const fixture = new MapFixture({ joinMaxAgeMs: 50 });
  const flight = fixture.lead("a");
  fixture.map.keep(flight, 500, 100);
  assertStrictEquals(fixture.find("a", 599), flight, "nor does the age to join apply");
  assertEquals(fixture.find("a", 600), undefined);
});

Deno.test("CollapseMap.keep for no time at all lands", () => {
  for (const ttlMs of [0, -1]) {
    const fixture = new MapFixture();
    const flight = fixture.lead("a");
    fixture.map.keep(flight, 0, ttlMs);
    assertEquals([fixture.find("a"), flight.stored, flight.landed], [undefined, false, true]);
    assertEquals(fixture.gauges, { flying: 0, waiting: 1, entries: 0 });
    assertEquals(flight.reply.forgotten, 0, "who waits still reads it");
  }
});

Deno.test("CollapseMap.keep twice keeps once", () => {
  const fixture = new MapFixture();
  const flight = fixture.lead("a");
  fixture.map.keep(flight, 0, 100);
  fixture.map.keep(flight, 50, 100);
  fixture.map.land(flight);
  assertEquals(fixture.find("a", 120), undefined);
  assertEquals([fixture.map.flying, fixture.map.stored.entries], [0, 1]);
});

Deno.test("CollapseMap.lead in the place of an expired result lets go of it", () => {
  const fixture = new MapFixture();
  const expired = fixture.store("a", { ttlMs: 100 });
  const next = fixture.lead("a", { nowMs: 150 });
  assertEquals([expired.reply.forgotten, expired.stored], [1, false]);
  assertEquals(fixture.gauges, { flying: 1, waiting: 1, entries: 0 });
  assertStrictEquals(fixture.find("a", 150), next);
  fixture.map.sweep(1_000);
  assertStrictEquals(fixture.find("a", 150), next, "the old one is gone for good");
});

Deno.test("CollapseMap.lead in the place of a result that still answers takes over", () => {
  const fixture = new MapFixture(); // cache-control: no-cache does that
  const before = fixture.store("a");
  const next = fixture.lead("a", { nowMs: 10 });
  assertStrictEquals(fixture.find("a", 10), next);
  assertEquals([before.reply.forgotten, fixture.map.stored.entries], [1, 0]);
  fixture.map.keep(next, 20, 100);
  assertStrictEquals(fixture.find("a", 119), next);
});

// ---- writes

Deno.test("CollapseMap.lookUp offers nothing that began before the last write of its service", () => {
  const fixture = new MapFixture();
  const stored = fixture.store("stored");
  const flying = fixture.lead("flying");
  const other = { name: "b.T", generation: 0 };
  const otherHead = fixture.map.head("other", other);
  const elsewhere = fixture.store("stored", { head: otherHead });
  fixture.service.generation++;
  assertEquals([fixture.find("stored"), fixture.find("flying")], [undefined, undefined]);
  assertStrictEquals(fixture.map.lookUp(otherHead, "stored", 0), elsewhere);
  const next = fixture.lead("flying");
  assertStrictEquals(fixture.find("flying"), next);
  fixture.map.keep(flying, 0, 100);
  assertEquals([flying.stored, flying.landed], [false, true]);
  assertStrictEquals(fixture.find("flying"), next);
  fixture.lead("stored");
  assertEquals(stored.reply.forgotten, 1);
});

Deno.test("CollapseMap.keep keeps nothing that a write has overtaken", () => {
  const fixture = new MapFixture();
  const flight = fixture.lead("a");
  fixture.service.generation++;
  fixture.map.keep(flight, 0, 100);
  assertEquals([flight.stored, flight.landed, fixture.map.stored.entries], [false, true, 0]);
});

// ---- answers for one caller alone

Deno.test("CollapseMap.makePrivate takes the flight from its key and remembers the key for a while", () => {
  const fixture = new MapFixture();
  const flight = fixture.lead("a");
  assertEquals(fixture.map.isPrivate(fixture.head, "a", 0), false);
  fixture.map.makePrivate(flight, 500);
  assertEquals(fixture.find("a"), undefined);
  for (const [nowMs, expected] of [[0, true], [499, true], [500, false]] as const) {
    assertEquals(fixture.map.isPrivate(fixture.head, "a", nowMs), expected, `${nowMs}`);
  }
  assertEquals(fixture.map.isPrivate(fixture.head, "b", 0), false);
  fixture.map.keep(flight, 0, 100);
  assertEquals([flight.stored, fixture.map.flying], [false, 0]);
});

Deno.test("CollapseMap.makePrivate without a time takes the flight from its key, and that is all", () => {
  const fixture = new MapFixture();
  fixture.map.makePrivate(fixture.lead("a"));
  assertEquals(fixture.find("a"), undefined);
  assertEquals(fixture.map.isPrivate(fixture.head, "a", 0), false);
  assertEquals(fixture.lead("a").isTrial, false);
});

/** A map whose key "a" was private until now, 500, and is tried. */
function tried(): { fixture: MapFixture; trial: FakeFlight } {
  const fixture = new MapFixture();
  fixture.map.makePrivate(fixture.lead("a"), 500);
  return { fixture, trial: fixture.lead("a", { nowMs: 500 }) };
}

Deno.test("CollapseMap.lead tries a private key whose time is over, and nobody waits for it", () => {
  const { fixture, trial } = tried();
  const { map, head } = fixture;
  assertEquals([trial.isTrial, fixture.lead("b").isTrial], [true, false]);
  assertEquals(fixture.find("a", 500), undefined);
  assertEquals(map.isPrivate(head, "a", 10_000), true);
  map.land(trial);
  assertEquals(map.isPrivate(head, "a", 500), false); // it has found nothing: the next one tries
  assertEquals(fixture.lead("a", { nowMs: 500 }).isTrial, true);
});

Deno.test("CollapseMap.endTrial makes a key one that is shared again, and the trial's result is kept", () => {
  const { fixture, trial } = tried();
  const { map, head } = fixture;
  map.endTrial(fixture.lead("b")); // no trial: nothing comes of it
  assertEquals(map.isPrivate(head, "a", 500), true);
  map.endTrial(trial);
  map.keep(trial, 500, 100);
  assertStrictEquals(fixture.find("a", 599), trial);
  assertEquals(fixture.find("a", 600), undefined);
  assertEquals(map.isPrivate(head, "a", 600), false);
  const next = fixture.lead("a", { nowMs: 600 });
  assertStrictEquals(fixture.find("a", 600), next);
});

Deno.test("CollapseMap.makePrivate after a trial makes the key private for as long again", () => {
  const { fixture, trial } = tried();
  fixture.map.makePrivate(trial, 900);
  fixture.map.land(trial);
  assertEquals(fixture.map.isPrivate(fixture.head, "a", 899), true);
  assertEquals(fixture.map.isPrivate(fixture.head, "a", 900), false);
});

// ---- heads

Deno.test("CollapseMap.head is the same for the same text and service", () => {
  const { map, service, head } = new MapFixture();
  assertStrictEquals(map.head("head", service), head);
  assertNotEquals(map.head("head ", service), head);
  assertEquals([head.text, head.retired], ["head", false]);
  assertStrictEquals(head.service, service);
});

Deno.test("CollapseMap.head of a service that was made anew retires the one before", () => {
  const fixture = new MapFixture();
  fixture.store("a");
  const again = fixture.map.head("head", { name: "a.S", generation: 0 });
  assert(again !== fixture.head);
  assertEquals([fixture.head.retired, again.retired], [true, false]);
  assertEquals(fixture.map.lookUp(again, "a", 0), undefined);
});

Deno.test("CollapseMap.forgetAll retires every head, and drops what is stored and not what flies", () => {
  const fixture = new MapFixture();
  const stored = fixture.store("stored");
  const flying = fixture.lead("flying");
  fixture.map.forgetAll();
  const again = fixture.map.head("head", fixture.service);
  assert(again !== fixture.head && fixture.head.retired && !again.retired);
  assertEquals(fixture.map.lookUp(again, "flying", 0), undefined);
  assertEquals([stored.reply.forgotten, stored.stored], [1, false]);
  assertEquals(fixture.gauges, { flying: 1, waiting: 1, entries: 0 });
  assertEquals(fixture.map.stored.bytes, 0);
  const next = fixture.lead("flying", { head: again });
  fixture.map.keep(flying, 0, 100); // ends without touching the new one's place
  assertStrictEquals(fixture.map.lookUp(again, "flying", 0), next);
  assertEquals(fixture.map.flying, 1);
  fixture.map.sweep(1_000);
  assertEquals(fixture.map.stored.entries, 0);
});

Deno.test("CollapseMap keeps a head with flights or results however many idle ones come", () => {
  const fixture = new MapFixture();
  const { map, service } = fixture;
  const busy = map.head("busy", service);
  const cached = map.head("cached", service);
  const done = map.head("done", service);
  const flight = fixture.lead("a", { head: busy });
  const stored = fixture.store("a", { head: cached, ttlMs: 1_000 });
  map.land(fixture.lead("a", { head: done }));
  for (let i = 0; i < MANY_HEADS; i++) map.head(`${i}`, service);
  assertEquals([busy.retired, cached.retired, done.retired], [false, false, true]);
  assertStrictEquals(map.head("busy", service), busy);
  assertStrictEquals(map.lookUp(busy, "a", 0), flight);
  assertStrictEquals(map.lookUp(cached, "a", 999), stored);
});
