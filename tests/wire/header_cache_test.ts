import {
  assert,
  assertEquals,
  assertFalse,
  assertNotEquals,
  assertStrictEquals,
} from "@std/assert";
import { HeaderCache } from "../../lib/wire/mod.ts";
import { STATIC_TABLE } from "../../lib/wire/static_table.ts";
import { rng } from "../support/cuts.ts";
import { ascii, type Pairs, pairsOf, REQUEST } from "../support/frames.ts";

Deno.test("HeaderCache gives equal lists one identity, and others another", () => {
  const cache = new HeaderCache();
  const list = cache.list(REQUEST);
  assertStrictEquals(cache.list(REQUEST), list);
  assertStrictEquals(cache.list([]), cache.root);
  assert(cache.list(REQUEST.slice(0, -1)) === list.parent);
  assertFalse(cache.list([...REQUEST, ["x", "1"]]) === list);
  assertFalse(cache.list([["a", "1"], ["b", "2"]]) === cache.list([["b", "2"], ["a", "1"]]));
  assertFalse(cache.list([["a", "bc"]]) === cache.list([["ab", "c"]]));
});

Deno.test("HeaderCache gives equal fields one identity, but none that is sensitive or per call", () => {
  const cache = new HeaderCache((name) => name === "grpc-timeout");
  const x = cache.name("x");
  assertStrictEquals(cache.field(x, "1", false), cache.field(x, "1", false));
  assertFalse(cache.field(x, "1", false) === cache.field(x, "1", true));
  assertFalse(cache.field(x, "1", true) === cache.field(x, "1", true));
  assert(cache.field(x, "1", true).sensitive);
  const timeout = cache.name("grpc-timeout");
  assertFalse(cache.field(timeout, "1S", false) === cache.field(timeout, "1S", false));
  assert(cache.field(timeout, "1S", false).perCall);
  assert(cache.field(cache.name("content-length"), "1", false).perCall);
});

Deno.test("HeaderCache finds a name by how it was spelled, until it forgets", () => {
  const cache = new HeaderCache();
  const bytes = ascii("x-spelled");
  const known = cache.name("x-spelled");
  assertEquals(cache.nameSpelled(bytes, 0, bytes.length, false), undefined);
  cache.spells(bytes, 0, bytes.length, { coded: false, known });
  assertStrictEquals(cache.nameSpelled(bytes, 0, bytes.length, false), known);
  flood(cache, 5_000);
  assertEquals(cache.nameSpelled(bytes, 0, bytes.length, false), undefined);
  cache.spells(bytes, 0, bytes.length, { coded: false, known });
  assertEquals(cache.nameSpelled(bytes, 0, bytes.length, false), undefined, "it was forgotten");
});

Deno.test("HeaderCache keeps no list with a sensitive field in it", () => {
  const cache = new HeaderCache();
  const secret = cache.field(cache.name("authorization"), "s", true);
  const list = cache.extend(cache.root, secret);
  assertEquals(list.fields, [secret]);
  assertFalse(cache.extend(cache.root, secret) === list);
});

Deno.test("HeaderCache.staticFields are the fields that equal literals become", () => {
  const cache = new HeaderCache();
  assertEquals(cache.staticFields.length, STATIC_TABLE.length);
  for (const [i, [name, value]] of STATIC_TABLE.entries()) {
    const field = cache.staticFields[i]!;
    assertEquals([field.name, field.value, field.staticIndex], [name, value, i + 1]);
    if (!field.perCall) assertStrictEquals(cache.field(cache.name(name), value, false), field);
  }
});

Deno.test("HeaderCache gives static fields and equal literals one identity also after forgetting", () => {
  const cache = new HeaderCache();
  flood(cache, 5_000);
  const post = cache.staticFields[2]!;
  assertStrictEquals(cache.field(cache.name(":method"), "POST", false), post);
  assertStrictEquals(cache.list(REQUEST), cache.list(REQUEST));
});

Deno.test("HeaderCache forgets what it can no longer hold and stays correct", () => {
  const cache = new HeaderCache();
  const before = cache.list(REQUEST);
  const { root } = cache;
  flood(cache, 5_000);
  assertFalse(cache.root === root, "nothing was forgotten");
  const after = cache.list(REQUEST);
  assertFalse(after === before);
  assertEquals<Pairs>(pairsOf(after.fields), REQUEST);
  assertEquals<Pairs>(pairsOf(before.fields), REQUEST);
  assertStrictEquals(cache.list(REQUEST), after, "and remembers again");
});

Deno.test("HeaderCache forgets in the middle of a list and the list is still right", () => {
  for (let length = 4_000; length < 4_200; length += 7) {
    const cache = new HeaderCache();
    flood(cache, length / 2);
    const long: Pairs = Array.from({ length: 60 }, (_, i) => [`x-${i}`, `value-${length}-${i}`]);
    for (let repeat = 0; repeat < 3; repeat++) {
      const list = cache.list(long);
      assertEquals<Pairs>(pairsOf(list.fields), long);
    }
  }
});

Deno.test("HeaderCache forgets by bytes too", () => {
  const cache = new HeaderCache();
  const { root } = cache;
  for (let i = 0; i < 800; i++) cache.list([["x", `${i}`.padStart(4_000, "v")]]);
  assertFalse(cache.root === root, "6 MB of fields and lists are remembered");
});

Deno.test("HeaderCache remembers no field of more than 4 KiB", () => {
  const cache = new HeaderCache();
  const short = "v".repeat(4_096 - 32 - 1);
  assertStrictEquals(cache.list([["x", short]]), cache.list([["x", short]]));
  assertFalse(cache.list([["x", short + "v"]]) === cache.list([["x", short + "v"]]));
});

Deno.test("HeaderCache takes any number of names, and is right about those beyond its bound", () => {
  const cache = new HeaderCache((name) => name.endsWith("7"));
  for (let i = 0; i < 3_000; i++) {
    const known = cache.name(`x-${i}`);
    assertEquals([known.name, known.perCall], [`x-${i}`, i % 10 === 7]);
    assertEquals(cache.list([[`x-${i}`, "v"]]).fields.length, 1);
  }
});

Deno.test("HeaderCache agrees with plain arrays on random lists, whatever it forgets", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = rng(seed);
    const cache = new HeaderCache();
    for (let round = 0; round < 400; round++) {
      const pairs: Pairs = Array.from({ length: Math.floor(random() * 8) }, () => [
        `x-${Math.floor(random() * 5)}`,
        // Half of the values come once, so that the cache fills up.
        `${Math.floor(random() * (random() < 0.5 ? 4 : 1e6))}`,
      ]);
      const list = cache.list(pairs);
      assertEquals<Pairs>(pairsOf(list.fields), pairs, `seed ${seed}`);
      const size = pairs.reduce((sum, [name, value]) => sum + name.length + value.length + 32, 0);
      assertEquals(list.size, size, `seed ${seed}`);
    }
  }
});

Deno.test("HeaderList.get finds the first value of a name", () => {
  const list = new HeaderCache().list([["a", "1"], ["b", "2"], ["a", "3"]]);
  assertEquals([list.get("a"), list.get("b"), list.get("c")], ["1", "2", undefined]);
});

Deno.test("HeaderList.find tells apart its children, met in any order", () => {
  const cache = new HeaderCache();
  const lists = Array.from({ length: 20 }, (_, i) => cache.list([["a", `${i}`]]));
  for (const i of [3, 3, 17, 0, 17, 3]) assertStrictEquals(cache.list([["a", `${i}`]]), lists[i]);
  assertEquals(cache.root.find(cache.field(cache.name("a"), "new", false)), undefined);
  assertNotEquals(lists[0]?.fields, lists[1]?.fields);
});

/** Makes the cache remember `count` lists that never come again, and as many fields. */
function flood(cache: HeaderCache, count: number): void {
  for (let i = 0; i < count; i++) cache.list([["x-flood", `${i}`]]);
}
