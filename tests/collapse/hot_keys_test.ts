import { assert, assertEquals, assertLess } from "@std/assert";
import { HotKeys } from "../../lib/collapse/hot_keys.ts";
import { type FakeReply, MapFixture } from "./map_fixture.ts";

const WINDOW_MS = 60_000;

/** What its keys may come to, and what one costs besides its text. */
const MAX_BYTES = 2 ** 19;
const OVERHEAD_BYTES = 256;

/** What is hot, as keys and calls. */
function hottest(fixture: MapFixture, nowMs: number, limit = 10): (readonly [string, number])[] {
  const { keys } = fixture.map.hottest(nowMs, { limit, underWay: fixture.head.flights.values() });
  return keys.map(({ bodyKey, total }) => [bodyKey, total] as const);
}

/** A flight that so many callers have joined, its leader among them, and that is over. */
function ask(fixture: MapFixture, key: string, callers: number): void {
  const flight = fixture.lead(key);
  for (let i = 1; i < callers; i++) fixture.join(flight);
  fixture.map.land(flight);
}

Deno.test("HotKeys counts who led, who joined and who was answered from what is stored", () => {
  const fixture = new MapFixture();
  fixture.join(fixture.lead("joined"));
  fixture.store("stored");
  for (let i = 0; i < 4; i++) fixture.find("stored", 50);
  assertEquals(hottest(fixture, 50), [["stored", 5], ["joined", 2]]);
});

Deno.test("HotKeys counts a call once, however often it is asked and however its flight ends", () => {
  const fixture = new MapFixture();
  const flight = fixture.lead("a");
  fixture.join(flight);
  assertEquals([hottest(fixture, 0), hottest(fixture, 0)], [[["a", 2]], [["a", 2]]]);
  fixture.join(flight);
  fixture.map.keep(flight, 0, 100);
  fixture.find("a", 50);
  fixture.map.sweep(100); // it has expired, and counts as it goes
  assertEquals(fixture.map.stored.entries, 0);
  assertEquals(hottest(fixture, 100), [["a", 4]]);
});

Deno.test("HotKeys tells the same message under two heads apart", () => {
  const fixture = new MapFixture();
  const other = fixture.map.head("other", fixture.service);
  const flights = [fixture.lead("a"), fixture.lead("a", { head: other })];
  for (const flight of flights) fixture.join(flight);
  const { keys } = fixture.map.hottest(0, { limit: 10, underWay: flights });
  assertEquals(keys.map(({ headText }) => headText).sort(), ["head", "other"]);
});

Deno.test("HotKeys gives the hottest first, and no more than it is asked for", () => {
  const fixture = new MapFixture();
  for (let callers = 2; callers < 8; callers++) ask(fixture, `of ${callers}`, callers);
  assertEquals(hottest(fixture, 0, 2), [["of 7", 7], ["of 6", 6]]);
});

Deno.test("HotKeys estimates a key whose calls come one by one, whatever comes in turn with it", () => {
  const fixture = new MapFixture();
  for (let i = 0; i < 70_000; i++) {
    ask(fixture, `once ${i}`, 1);
    if (i % 7 === 0) ask(fixture, "often", 1);
  }
  const [[key, calls], ...others] = hottest(fixture, 0) as [[string, number], [string, number]];
  assertEquals(key, "often");
  assert(calls > 8_000 && calls < 12_000, `${calls} of 10,000`);
  assertEquals(others[0]![1], 1); // what came once is not made more of
});

Deno.test("HotKeys keeps the hot ones among any number of keys, and is bounded", () => {
  const fixture = new MapFixture();
  for (let i = 0; i < 20_000; i++) {
    ask(fixture, `cold ${i}`, 2);
    if (i % 100 === 0) ask(fixture, "hot", 50);
  }
  assertEquals(hottest(fixture, 0, 1), [["hot", 10_000]]);
  assertLess(hottest(fixture, 0, 1e6).length, 513);
});

Deno.test("HotKeys keeps the hot ones among keys of any length, and is bounded in bytes", () => {
  for (const length of [2_000, 40_000, 300_000]) {
    const fixture = new MapFixture();
    for (let i = 0; i < 2_000; i++) {
      ask(fixture, `${i}`.padEnd(length), 2);
      if (i % 100 === 0) ask(fixture, "hot", 50);
    }
    const known = hottest(fixture, 0, 1e6);
    assertEquals(known[0], ["hot", 1_000]);
    assertLess(known.reduce((sum, [key]) => sum + key.length, 0), MAX_BYTES);
  }
});

Deno.test("HotKeys is bounded in bytes at any moment, also when the hottest keys are the longest", () => {
  const fixture = new MapFixture();
  for (let i = 0; i < 250; i++) ask(fixture, `${i}`, 2);
  for (let i = 0; i < 250; i++) {
    ask(fixture, `${i}`.padEnd(2_500), 3);
    const known = hottest(fixture, 0, 1e6);
    const bytes = known.reduce((sum, [key]) => sum + key.length + OVERHEAD_BYTES, 0);
    assertLess(bytes, MAX_BYTES, `${i}`);
  }
});

Deno.test("HotKeys counts a head's text among its bytes", () => {
  const fixture = new MapFixture();
  const flights = Array.from({ length: 2_000 }, (_, i) => {
    const head = fixture.map.head(`${i}`.padEnd(2_000), fixture.service);
    return fixture.join(fixture.lead("a", { head })).flight!;
  });
  const { keys } = fixture.map.hottest(0, { limit: 1e6, underWay: flights });
  assertLess(keys.reduce((sum, { headText }) => sum + headText.length, 0), MAX_BYTES);
  assertLess(80, keys.length);
});

Deno.test("HotKeys forgets what was hot a window ago, and says since when it counts", () => {
  const fixture = new MapFixture();
  const sinceMs = (nowMs: number) => fixture.map.hottest(nowMs, { limit: 1, underWay: [] }).sinceMs;
  assertEquals(sinceMs(1_000), 0);
  ask(fixture, "early", 5);
  assertEquals([sinceMs(31_000), hottest(fixture, 31_000)], [30_000, [["early", 5]]]);
  assertEquals(sinceMs(1_000 + WINDOW_MS), WINDOW_MS);
  ask(fixture, "late", 3);
  assertEquals(hottest(fixture, 10_000 + WINDOW_MS), [["early", 5], ["late", 3]]);
  assertEquals(hottest(fixture, 1_000 + 2 * WINDOW_MS), [["late", 3]]);
  assertEquals(sinceMs(1_000 + 2 * WINDOW_MS), WINDOW_MS);
  assertEquals(hottest(fixture, 1e7), []); // nobody looked for long
  assertEquals(sinceMs(1e7 + 500), 500);
});

Deno.test("HotKeys turns with the sweep, so that what is old goes without anybody asking", () => {
  const fixture = new MapFixture();
  fixture.map.sweep(0);
  ask(fixture, "a", 2);
  fixture.map.sweep(WINDOW_MS);
  fixture.map.sweep(2 * WINDOW_MS);
  assertEquals(hottest(fixture, 2 * WINDOW_MS), []);
});

Deno.test("HotKeys has nothing to show before anybody called", () => {
  assertEquals(new HotKeys<FakeReply>().hottest(5, 3), { sinceMs: 0, keys: [] });
});
