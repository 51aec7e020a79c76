import { assert, assertEquals, assertLess } from "@std/assert";
import { HotKeys } from "../../lib/collapse/hot_keys.ts";
import { type FakeReply, MapFixture } from "./map_fixture.ts";

const WINDOW_MS = 60_000;

/** What is hot, as keys and calls. */
function hottest(fixture: MapFixture, nowMs: number, limit = 10): (readonly [string, number])[] {
  const { keys } = fixture.map.hottest(nowMs, limit);
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
  fixture.join(fixture.lead("a"));
  fixture.join(fixture.lead("a", { head: other }));
  const { keys } = fixture.map.hottest(0, 10);
  assertEquals(keys.map(({ headText }) => headText).sort(), ["head", "other"]);
});

Deno.test("HotKeys gives the hottest first, and no more than it is asked for", () => {
  const fixture = new MapFixture();
  for (let callers = 2; callers < 8; callers++) ask(fixture, `of ${callers}`, callers);
  assertEquals(hottest(fixture, 0, 2), [["of 7", 7], ["of 6", 6]]);
});

Deno.test("HotKeys finds a key whose calls come one by one, and then counts each", () => {
  const fixture = new MapFixture();
  for (let i = 0; i < 1_000; i++) ask(fixture, "a", 1);
  const [[found, counted]] = hottest(fixture, 0) as [[string, number]];
  assert(found === "a" && counted > 900, `${found} ${counted}`);
  // Whatever else comes before it: it is found in time.
  const busy = new MapFixture();
  for (let i = 0; i < 1_000; i++) {
    ask(busy, `once ${i}`, 1);
    if (i % 7 === 0) ask(busy, "often", 1); // in turn with the others
  }
  const [[key, calls]] = hottest(busy, 0) as [[string, number]];
  assert(key === "often" && calls > 50, `${key} ${calls}`);
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

Deno.test("HotKeys forgets what was hot a window ago, and says since when it counts", () => {
  const fixture = new MapFixture();
  const sinceMs = (nowMs: number) => fixture.map.hottest(nowMs, 1).sinceMs;
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
