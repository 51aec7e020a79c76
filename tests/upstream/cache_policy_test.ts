import { assertEquals } from "@std/assert";
import { cachePolicy } from "../../lib/upstream/cache_policy.ts";
import { HeaderCache } from "../../lib/wire/mod.ts";

Deno.test("cachePolicy reads no-store, private and max-age from all values, and nothing from other ones", () => {
  const cases: readonly (readonly [values: string[], isPrivate: boolean, maxAgeMs: number])[] = [
    [["no-store"], true, Infinity],
    [["NO-STORE"], true, Infinity],
    [["private"], true, Infinity],
    [['private="x"'], true, Infinity],
    [["privately"], false, Infinity],
    [["public, max-age=5"], false, 5_000],
    [["max-age=5", "max-age=3"], false, 3_000],
    [['max-age="7"', "no-store"], true, 7_000],
    [["max-age=0"], false, 0],
    [["max-age=-1"], false, Infinity],
    [["max-age=x", ""], false, Infinity],
    [["max-age=9999999999"], false, Infinity],
  ];
  for (const [values, isPrivate, maxAgeMs] of cases) {
    const list = new HeaderCache().list(values.map((value) => ["cache-control", value] as const));
    assertEquals(cachePolicy(list), { isPrivate, maxAgeMs }, values.join(" | "));
  }
  assertEquals(cachePolicy(new HeaderCache().list([["pragma", "no-cache"]])), undefined);
});
