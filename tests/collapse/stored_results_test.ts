import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { ENTRY_OVERHEAD_BYTES, type FakeFlight, HEAD_BYTES, MapFixture } from "./map_fixture.ts";

/** How many of these keys are found at the time. */
function found(fixture: MapFixture, keys: string, nowMs = 0): string {
  return [...keys].filter((key) => peek(fixture, key, nowMs)).join("");
}

/** Whether it is there, without using it. */
function peek(fixture: MapFixture, key: string, nowMs: number): boolean {
  const flight = fixture.head.flights.get(key);
  return flight !== undefined && flight.stored && nowMs < flight.expiresAtMs;
}

Deno.test("StoredResults lets the least recently used leave first when there are too many", () => {
  const fixture = new MapFixture({ maxCacheEntries: 3 });
  for (const key of "abc") fixture.store(key);
  assertEquals(found(fixture, "abcdef"), "abc");
  fixture.store("d");
  assertEquals(found(fixture, "abcdef"), "bcd");
  fixture.find("b"); // used, so it outlives c
  fixture.store("e");
  assertEquals(found(fixture, "abcdef"), "bde");
  fixture.find("b");
  fixture.find("d");
  fixture.find("b");
  fixture.store("f");
  assertEquals(found(fixture, "abcdef"), "bdf");
  assertEquals(fixture.map.stored.entries, 3);
});

Deno.test("StoredResults does not take a look that found nothing for use", () => {
  const fixture = new MapFixture({ maxCacheEntries: 2 });
  fixture.store("a", { ttlMs: 10 });
  fixture.store("b", { ttlMs: 1_000 });
  assertEquals(fixture.find("a", 10), undefined);
  fixture.store("c", { nowMs: 5 });
  assertEquals(found(fixture, "abc", 5), "bc");
});

Deno.test("StoredResults counts bytes of reply and key, and lets go of as many as it takes", () => {
  const each = ENTRY_OVERHEAD_BYTES + 1 + 100;
  const fixture = new MapFixture({ maxCacheBytes: HEAD_BYTES + 4 * each });
  for (const key of "abcd") fixture.store(key, { heldBytes: 100 });
  assertEquals([fixture.map.stored.bytes, found(fixture, "abcd")], [HEAD_BYTES + 4 * each, "abcd"]);
  fixture.find("a");
  fixture.store("e", { heldBytes: 101 }); // a byte too many
  assertEquals([fixture.map.stored.bytes, found(fixture, "abcde")], [
    HEAD_BYTES + 3 * each + 1,
    "ade",
  ]);
  fixture.store("f", { heldBytes: 100 + 2 * each });
  assertEquals([fixture.map.stored.bytes, found(fixture, "abcdef")], [HEAD_BYTES + 3 * each, "f"]);
});

Deno.test("StoredResults counts the key, and its head once, as long as anything stands under it", () => {
  const fixture = new MapFixture();
  const { map, service } = fixture;
  const result = ENTRY_OVERHEAD_BYTES + 1_050;
  fixture.store("k".repeat(1_000), { heldBytes: 50 });
  assertEquals(map.stored.bytes, HEAD_BYTES + result);
  fixture.store("l".repeat(1_000), { heldBytes: 50, ttlMs: 200 });
  assertEquals(map.stored.bytes, HEAD_BYTES + 2 * result);
  const long = map.head("h".repeat(5_000), service);
  fixture.store("m".repeat(1_000), { head: long, heldBytes: 50, ttlMs: 300 });
  assertEquals(map.stored.bytes, HEAD_BYTES + 3 * result + long.heldBytes);
  map.sweep(100);
  assertEquals(map.stored.bytes, HEAD_BYTES + 2 * result + long.heldBytes);
  map.sweep(200);
  assertEquals(map.stored.bytes, result + long.heldBytes);
  map.sweep(300);
  assertEquals(map.stored.bytes, 0);
});

Deno.test("StoredResults does not keep what is larger than its whole bound", () => {
  const fixture = new MapFixture({ maxCacheBytes: 2_000 + HEAD_BYTES });
  fixture.store("a", { heldBytes: 100 });
  const large = fixture.lead("b", { heldBytes: 2_600 });
  fixture.map.keep(large, 0, 100);
  assertEquals([fixture.find("b"), large.stored, large.landed], [undefined, false, true]);
  assertEquals([large.sealed, large.reply.forgotten], [true, 1]);
  assertEquals(found(fixture, "ab"), "a"); // nothing leaves for what never fits
  assertEquals(fixture.map.stored.bytes, HEAD_BYTES + ENTRY_OVERHEAD_BYTES + 1 + 100);
  assertEquals(fixture.gauges, { flying: 0, waiting: 1, entries: 1 });
  const next = fixture.lead("b");
  assertStrictEquals(fixture.find("b"), next);
});

Deno.test("StoredResults keeps what is exactly as large as its whole bound, and that alone", () => {
  const fixture = new MapFixture({ maxCacheBytes: HEAD_BYTES + ENTRY_OVERHEAD_BYTES + 1_000 });
  fixture.store("a", { heldBytes: 100 });
  fixture.store("b", { heldBytes: 999 }); // and its key
  assertEquals(found(fixture, "ab"), "b");
  assertEquals(fixture.map.stored.bytes, HEAD_BYTES + ENTRY_OVERHEAD_BYTES + 1_000);
});

Deno.test("StoredResults of no entries or no bytes keeps nothing", () => {
  for (const limits of [{ maxCacheEntries: 0 }, { maxCacheBytes: 0 }]) {
    const fixture = new MapFixture(limits);
    const flight = fixture.store("a");
    assertEquals([fixture.find("a"), flight.reply.forgotten], [undefined, 1]);
    assertEquals(fixture.gauges, { flying: 0, waiting: 0, entries: 0 });
  }
});

Deno.test("StoredResults forgets a reply once, when it leaves, and none before", () => {
  const fixture = new MapFixture({ maxCacheEntries: 2 });
  const flights: FakeFlight[] = [..."abcd"].map((key) => fixture.store(key));
  assertEquals(flights.map(({ reply }) => reply.forgotten), [1, 1, 0, 0]);
  fixture.map.sweep(100);
  fixture.map.sweep(200);
  fixture.map.forgetAll();
  assertEquals(flights.map(({ reply }) => reply.forgotten), [1, 1, 1, 1]);
  assert(flights.every(({ sealed, stored }) => sealed && !stored));
});

Deno.test("StoredResults lets go of two that have expired in passing, for each one that comes", () => {
  const fixture = new MapFixture();
  for (const key of "abcdef") fixture.store(key, { ttlMs: 100 });
  fixture.store("g", { nowMs: 99 });
  assertEquals(fixture.map.stored.entries, 7);
  fixture.store("h", { nowMs: 100 });
  assertEquals(fixture.map.stored.entries, 6);
  fixture.store("i", { nowMs: 100 });
  fixture.store("j", { nowMs: 100 });
  assertEquals(fixture.map.stored.entries, 4);
  fixture.store("k", { nowMs: 100 });
  assertEquals(fixture.map.stored.entries, 5);
  assertEquals(found(fixture, "abcdefghijk", 100), "ghijk");
});

Deno.test("StoredResults is not larger than two lifetimes of what comes, without any sweep", () => {
  const fixture = new MapFixture();
  for (let nowMs = 0; nowMs < 20_000; nowMs++) {
    fixture.store(`${nowMs}`, { nowMs, ttlMs: 100 });
    assert(fixture.map.stored.entries <= 101, `${nowMs}`);
  }
});

Deno.test("CollapseMap.sweep removes what has expired wherever it stands, and nothing else", () => {
  const fixture = new MapFixture();
  fixture.store("a", { ttlMs: 300 });
  fixture.store("b", { ttlMs: 100 });
  fixture.store("c", { ttlMs: 200 });
  fixture.store("d", { ttlMs: 100 });
  const flying = fixture.lead("f");
  fixture.find("b"); // to the end of the order, before it expires
  fixture.map.sweep(99);
  assertEquals(fixture.map.stored.entries, 4);
  fixture.map.sweep(100);
  assertEquals([found(fixture, "abcd", 100), fixture.map.stored.entries], ["ac", 2]);
  fixture.map.sweep(300);
  assertEquals([fixture.map.stored.entries, fixture.map.stored.bytes], [0, 0]);
  assertStrictEquals(fixture.find("f"), flying);
  fixture.map.sweep(400);
  assertEquals(fixture.gauges, { flying: 1, waiting: 1, entries: 0 });
  assertEquals(fixture.head.flights.size, 1);
});
