import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { hash } from "node:crypto";
import { headKey } from "../../lib/collapse/mod.ts";
import { IdleHeads } from "../../lib/collapse/idle_heads.ts";
import { HEAD_OVERHEAD_BYTES, MapFixture } from "./map_fixture.ts";

const MAX_IDLE_BYTES = 4 * 2 ** 20;
const MAX_IDLE_MS = 60_000;

Deno.test("CollapseMap keeps idle heads up to 4 MiB, the newest", () => {
  for (const length of [1, 2_000, 60_000]) {
    const { map, service } = new MapFixture();
    const room = Math.floor(MAX_IDLE_BYTES / (length + 5 + HEAD_OVERHEAD_BYTES));
    const heads = Array.from(
      { length: 2 * room },
      (_, i) => map.head("x".repeat(length) + String(i).padStart(5, "0"), service),
    );
    const alive = heads.filter(({ retired }) => !retired);
    assertEquals(alive, heads.slice(-room), `${length}`);
    assertStrictEquals(map.head(alive[0]!.text, service), alive[0]);
  }
});

Deno.test("CollapseMap lets go of a head that was idle for a minute, and not of one in use", () => {
  const fixture = new MapFixture();
  const { map, service } = fixture;
  map.sweep(1_000);
  const idle = map.head("idle", service);
  const used = map.head("used", service);
  map.sweep(30_000);
  const flight = fixture.lead("a", { head: used });
  map.sweep(1_000 + MAX_IDLE_MS - 1);
  assertEquals([idle.retired, used.retired], [false, false]);
  map.sweep(1_000 + MAX_IDLE_MS);
  assertEquals([idle.retired, used.retired], [true, false]);
  map.land(flight); // idle from here on
  map.sweep(1_000 + 2 * MAX_IDLE_MS - 1);
  assertEquals(used.retired, false);
  map.sweep(1_000 + 2 * MAX_IDLE_MS);
  assertEquals(used.retired, true);
  assert(map.head("used", service) !== used);
});

Deno.test("IdleHeads counts what is in it, whoever leaves from wherever", () => {
  const { map, service } = new MapFixture();
  const heads = Array.from({ length: 5 }, (_, i) => map.head(`h${i}`, service));
  map.forgetAll();
  const gone: string[] = [];
  const idle = new IdleHeads((head) => gone.push(head.text));
  for (const [i, head] of heads.entries()) idle.add(head, i);
  const each = 2 + HEAD_OVERHEAD_BYTES;
  assertEquals(idle.bytes, 5 * each);
  for (const i of [2, 4, 0]) idle.remove(heads[i]!);
  idle.remove(heads[2]!); // out of it already
  assertEquals(idle.bytes, 2 * each);
  idle.sweep(1 + MAX_IDLE_MS);
  assertEquals(gone, ["h1"]);
  idle.sweep(3 + MAX_IDLE_MS);
  assertEquals([gone, idle.bytes], [["h1", "h3"], 0]);
});

Deno.test("CollapseMap keeps two kilobytes of a head at most, whatever its metadata", () => {
  const { map, service } = new MapFixture();
  const codec = { digestText: (text: string) => hash("sha256", text, "base64") };
  for (let i = 0; i < 50; i++) {
    const fields = [
      { name: ":path", value: "/a.S/Get" },
      { name: "x", value: String(i).padEnd(60_000, "x") },
    ];
    const head = map.head(headKey(fields, { inKey: () => true, identity: "", codec }), service);
    assert(head.text.length < 100, `${head.text.length}`);
  }
});
