import { assertEquals } from "@std/assert";
import { explainMethod } from "../../lib/proxy/explanation.ts";
import { settingsOf } from "../support/local_sidecar.ts";

const POLICIES = [
  { service: "", method: "", entry: 0, line: 1, collapser: { cacheDurationMs: 1 }, timeoutMs: 5 },
  { service: "a.B", method: "", entry: 1, line: 2, collapser: { mode: "shadow" } },
  {
    ...{ service: "a.B", method: "SayIt", entry: 2, line: 3 },
    collapser: { collapse: true, ignoreHeaders: ["x-noise"] },
  },
] as const;

function explained(path: string, variables: Record<string, string> = {}, names: string[] = []) {
  const options = settingsOf({ BACKEND_ADDRESS: "db:1", ...variables });
  return explainMethod(path, names, { options, policies: POLICIES });
}

Deno.test("explainMethod judges as the sidecar does, and tells which entries hold and which lost", () => {
  const found = explained("/a.B/SayIt");
  assertEquals(found.verdict, { eligible: true, why: "the policy file says so" });
  assertEquals(found.matching.map(({ entry }) => entry), [2, 1, 0]);
  assertEquals([found.holding.collapser?.entry, found.holding.timeout], [2, undefined]);
  assertEquals(found.settings.mode, "collapse");
  const other = explained("/a.B/CreateIt");
  assertEquals(other.verdict.eligible, false);
  assertEquals([other.settings.mode, other.matching.length], ["shadow", 2]);
  const third = explained("/c.D/GetIt");
  assertEquals([third.settings.cacheDurationMs, third.holding.timeout?.entry], [1, 0]);
});

Deno.test("explainMethod takes descriptors, and what is known by calls, before the name", () => {
  const options = settingsOf({ BACKEND_ADDRESS: "db:1" });
  const described = explainMethod("/a.B/CreateIt", [], {
    ...{ options, policies: [] },
    descriptorOf: () => ({ level: "no_side_effects", streams: false, takesStream: false }) as never,
  });
  assertEquals(described.verdict.why, "its descriptor says NO_SIDE_EFFECTS");
  const verdict = { eligible: false, why: "it streams, and its name holds logs" };
  const off = ["x-tenant"];
  const known = explainMethod("/a.B/GetLogs", [], { options, policies: [], verdict, off });
  assertEquals([known.verdict, known.off], [verdict, off]);
});

Deno.test("explainMethod tells of metadata whether it is in the key, and by what", () => {
  const names = ["x-noise", "x-tenant", "x-request-id", "content-type", "cache-control", "x-shard"];
  const variables = { BACKEND_ROUTING: "header:x-shard", COLLAPSER_IGNORE_HEADERS: "x-tenant" };
  const of = (path: string, more: Record<string, string> = {}) =>
    explained(path, { ...variables, ...more }, names).names.map(({ inKey, why }) =>
      `${inKey ? "in" : "out"}: ${why}`
    );
  const rest = ["out: usual", "in: position", "out: control", "in: routing"];
  assertEquals(of("/a.B/SayIt"), ["out: named", "in: own", ...rest]);
  assertEquals(of("/a.B/GetIt"), ["in: own", "out: named", ...rest]);
  assertEquals(of("/a.B/GetIt", { COLLAPSER_KEY_HEADERS: "x-request-id" }), [
    ...["out: not named", "out: named", "in: own", "in: position", "out: control", "in: routing"],
  ]);
});
