import { assertEquals } from "@std/assert";
import { hiddenSettings } from "../../../lib/config/policy/hidden_settings.ts";
import type { NamedPolicy } from "../../../lib/downstream/mod.ts";

/** An entry on the line of its number, for methods written as `a.B/Get`, `a.B` or "". */
function entry(
  number: number,
  names: readonly string[],
  says: Partial<NamedPolicy>,
): NamedPolicy[] {
  return names.map((name) => {
    const [service = "", method = ""] = name.split("/");
    return { service, method, entry: number, line: number, ...says };
  });
}

const WHY = ": the closest entry holds whole; what is to hold must be said there too";

Deno.test("hiddenSettings names what a closer entry keeps from its methods, and of whom", () => {
  const policies = [
    ...entry(0, [""], { collapser: { cacheDurationMs: 1, ignoreHeaders: ["x"] }, timeoutMs: 1 }),
    ...entry(1, ["a.B", "c.D"], { collapser: { cacheDurationMs: 2 }, timeoutMs: 2 }),
    ...entry(2, ["a.B/Get", "a.B/List", "e.F/Get"], { collapser: { maxFollowers: 5 } }),
  ];
  assertEquals(hiddenSettings(policies), [
    `methodConfig[1] (line 1) of a.B hides ignoreHeaders of methodConfig[0] (line 0)${WHY}`,
    `methodConfig[2] (line 2) of a.B/Get hides ttl, timeout of methodConfig[1] (line 1)${WHY}`,
    `methodConfig[2] (line 2) of e.F/Get hides ttl, ignoreHeaders, timeout of methodConfig[0] (line 0)${WHY}`,
  ]);
});

Deno.test("hiddenSettings is silent where nothing is hidden: no collapser object, or all of it said anew", () => {
  const broad = entry(0, ["a.B"], { collapser: { cacheDurationMs: 1 } });
  assertEquals(hiddenSettings([...broad, ...entry(1, ["a.B/Get"], { timeoutMs: 1 })]), []);
  const anew = entry(1, ["a.B/Get"], { collapser: { cacheDurationMs: 2, maxFollowers: 1 } });
  assertEquals(hiddenSettings([...broad, ...anew]), []);
  const self = entry(0, ["a.B/Get"], { collapser: { cacheDurationMs: 1 } });
  assertEquals(hiddenSettings([...broad, ...self]), []);
  assertEquals(hiddenSettings(entry(0, ["c.D"], { collapser: { cacheDurationMs: 1 } })), []);
});
