import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { Stream } from "../../lib/connection/mod.ts";
import { StreamTable } from "../../lib/connection/stream_table.ts";
import { rng } from "../support/cuts.ts";
import { heapBytesOf } from "../support/heap_walk.ts";

Deno.test("StreamTable finds what was added until it is deleted, and nothing else", () => {
  const table = new StreamTable<unknown>();
  const stream = new Stream<unknown>(5, 0, 0);
  assertEquals(table.get(5), undefined);
  table.add(stream);
  assertStrictEquals(table.get(5), stream);
  // Ids that have the same place in a table of 16 slots, and that are even.
  for (const id of [4, 5 + 32, 5 + 64, 5 + 2 ** 30]) assertEquals(table.get(id), undefined);
  table.delete(5 + 32);
  assertEquals(table.size, 1);
  table.delete(5);
  table.delete(5);
  assertEquals([table.size, table.get(5)], [0, undefined]);
});

Deno.test("StreamTable keeps many streams, more than it has slots", () => {
  const table = new StreamTable<unknown>();
  const streams = Array.from({ length: 10_000 }, (_, i) => new Stream<unknown>(2 * i + 1, 0, 0));
  for (const stream of streams) table.add(stream);
  assertEquals(table.size, 10_000);
  for (const stream of streams) assertStrictEquals(table.get(stream.id), stream);
  assertEquals(new Set(table.values()).size, 10_000);
  for (const { id } of streams) table.delete(id);
  assertEquals([table.size, [...table.values()]], [0, []]);
});

Deno.test("StreamTable keeps no room for many streams once none is open", () => {
  const [table, fresh] = [new StreamTable<unknown>(), new StreamTable<unknown>()];
  for (let round = 0; round < 3; round++) {
    const streams = Array.from({ length: 10_000 }, (_, i) => new Stream<unknown>(2 * i + 1, 0, 0));
    for (const stream of streams) table.add(stream);
    for (const { id } of streams) table.delete(id);
  }
  const bytes = heapBytesOf(table, fresh);
  assert(bytes < 2_100, `${bytes}`); // 256 slots
});

Deno.test("StreamTable agrees with a Map on streams that come and go, a few of them long-lived", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = rng(seed);
    const table = new StreamTable<unknown>();
    const map = new Map<number, Stream<unknown>>();
    const most = 1 + Math.floor(random() ** 2 * 300);
    for (let id = 1; id < 6_000; id += 2) {
      const stream = new Stream<unknown>(id, 0, 0);
      table.add(stream);
      map.set(id, stream);
      // The young go first, so that old ones collide with those that come round.
      while (map.size > most) {
        const ids = [...map.keys()];
        const gone = ids[Math.floor(random() ** 0.2 * ids.length)]!;
        map.delete(gone);
        table.delete(gone);
      }
      const asked = 1 + 2 * Math.floor(random() * id / 2);
      assertStrictEquals(table.get(asked), map.get(asked), `seed ${seed}, stream ${asked}`);
      assertEquals(table.size, map.size, `seed ${seed}`);
    }
    const ids = [...table.values()].map((stream) => stream.id).sort((a, b) => a - b);
    assertEquals(ids, [...map.keys()], `seed ${seed}`);
  }
});
