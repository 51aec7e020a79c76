import { assertEquals, assertNotEquals, assertStrictEquals } from "@std/assert";
import { hash } from "node:crypto";
import { headKey, pathInKey } from "../../lib/collapse/mod.ts";
import { type FakeHead, MapFixture } from "./map_fixture.ts";

const KEYING = {
  inKey: () => true,
  codec: { digestText: (text: string) => hash("sha256", text, "base64") },
};
const ITEMS = "/shop.Items/GetItem";
const PRICES = "/shop.Prices/GetPrice";

function headOf(fixture: MapFixture, path: string): FakeHead {
  const fields = [{ name: ":path", value: path }];
  return fixture.map.head(headKey(fields, { ...KEYING, identity: "" }), fixture.service);
}

Deno.test("pathInKey gives the path that headKey was given", () => {
  for (const path of ["/a.S/Get", "", "/", "12:/x", "/a:b/c"]) {
    const fields = [{ name: ":path", value: path }, { name: "x", value: "/other/One" }];
    assertEquals(pathInKey(headKey(fields, { ...KEYING, identity: "me" })), path);
  }
  assertEquals(pathInKey(headKey([], { ...KEYING, identity: "" })), "");
});

Deno.test("CollapseMap.purge drops the stored results of one method, or all, and says how many", () => {
  const fixture = new MapFixture();
  const items = headOf(fixture, ITEMS);
  const prices = headOf(fixture, PRICES);
  const kept = fixture.store("1", { head: prices });
  const gone = [fixture.store("1", { head: items }), fixture.store("2", { head: items })];
  assertEquals(fixture.map.purge(ITEMS), 2);
  assertEquals(gone.map(({ stored, reply }) => [stored, reply.forgotten]), [[false, 1], [
    false,
    1,
  ]]);
  assertEquals(fixture.map.lookUp(items, "1", 0), undefined);
  assertStrictEquals(fixture.map.lookUp(prices, "1", 0), kept);
  assertEquals([fixture.map.purge(ITEMS), fixture.map.purge("/none/Such")], [0, 0]);
  assertEquals([fixture.map.purge(), fixture.map.stored.entries], [1, 0]);
});

Deno.test("CollapseMap.purge lets flights under way go on, without joiners, and keeps none", () => {
  const fixture = new MapFixture();
  const items = headOf(fixture, ITEMS);
  const prices = headOf(fixture, PRICES);
  const before = fixture.lead("1", { head: items });
  const other = fixture.lead("1", { head: prices });
  assertEquals(fixture.map.purge(ITEMS), 0);
  assertEquals([before.landed, before.waiterCount], [false, 1]);
  assertEquals(fixture.map.lookUp(items, "1", 0), undefined);
  assertStrictEquals(fixture.map.lookUp(prices, "1", 0), other);
  const after = fixture.lead("1", { head: items });
  fixture.map.keep(before, 0, 100); // it was asked before the purge
  assertEquals([before.stored, fixture.map.lookUp(items, "1", 0) === after], [false, true]);
  fixture.map.keep(after, 0, 100);
  assertEquals(after.stored, true);
  assertNotEquals(before, after);
});
