import { assertEquals } from "@std/assert";
import { keysOf, settingSources } from "../../../lib/config/policy/setting_sources.ts";
import type { NamedPolicy } from "../../../lib/downstream/mod.ts";
import { MINIMUM, read } from "../support.ts";

function sourcesOf(held: NamedPolicy | undefined, variables: Record<string, string> = {}) {
  const reading = read({ ...MINIMUM, ...variables }, ["--collapser-max-followers", "7"]);
  if ("problems" in reading) throw new Error(reading.problems.join());
  const rows = settingSources(held, reading);
  return new Map(rows.map(({ key, ...rest }) => [key, rest]));
}

Deno.test("settingSources tells of each key its value and whether entry, variable, flag or default gave it", () => {
  const collapser = { cacheDurationMs: 17_000, ignoreHeaders: ["x-a", "x-b"], shared: false };
  const held = { service: "a.B", method: "Get", entry: 2, line: 61, collapser };
  const found = sourcesOf(held, { COLLAPSER_JOIN_MAX_AGE: "7777ms" });
  const ofPolicy = { from: "policy", entry: 2, line: 61 };
  const ofOthers = { entry: null, line: null };
  assertEquals(found.size, 20);
  assertEquals(found.get("ttl") as unknown, {
    ...{ value: "17s", variable: "COLLAPSER_CACHE_DURATION", ...ofPolicy },
  });
  assertEquals(found.get("ignoreHeaders")?.value, "x-a,x-b");
  assertEquals(found.get("shared") as unknown, {
    ...{ value: "false", variable: null, isUnbuilt: true, ...ofPolicy },
  });
  assertEquals(found.get("joinMaxAge") as unknown, {
    ...{ value: "7.777s", variable: "COLLAPSER_JOIN_MAX_AGE", from: "environment", ...ofOthers },
  });
  assertEquals(found.get("maxFollowers") as unknown, {
    ...{ value: "7", variable: "COLLAPSER_MAX_FOLLOWERS", from: "flag", ...ofOthers },
  });
  assertEquals(found.get("keyHeaders")?.value, "all but those left out");
  assertEquals(found.get("ignoreFields") as unknown, {
    ...{ value: "none", variable: null, from: "default", ...ofOthers },
  });
});

Deno.test("settingSources knows that a key of its own is not emptied by what holds elsewhere", () => {
  const variables = { COLLAPSER_IGNORE_HEADERS: "x-a" };
  assertEquals(sourcesOf(undefined, variables).get("ignoreHeaders")?.value, "x-a");
  const held = { service: "", method: "", entry: 0, line: 1, collapser: { keyHeaders: ["x-a"] } };
  const { value, from } = sourcesOf(held, variables).get("ignoreHeaders")!;
  assertEquals([value, from], ["none", "policy"]);
});

Deno.test("keysOf names what an entry says to the sidecar", () => {
  const collapser = { mode: "off", cacheDurationMs: 0 } as const;
  const entry = { service: "", method: "", collapser, timeoutMs: 1, maxConcurrent: 2 };
  assertEquals(keysOf(entry), ["mode", "ttl", "maxConcurrent", "timeout"]);
  assertEquals(keysOf({ service: "", method: "" }), []);
});
