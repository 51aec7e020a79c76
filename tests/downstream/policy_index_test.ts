import { assertEquals, assertStrictEquals } from "@std/assert";
import { NO_POLICY, PolicyIndex } from "../../lib/downstream/policy_index.ts";

const FILE = new PolicyIndex([
  { service: "", method: "", collapser: { cacheDurationMs: 1 }, maxConcurrent: 9, timeoutMs: 90 },
  { service: "a.B", method: "", collapser: { maxFollowers: 2 } },
  { service: "a.B", method: "Get", timeoutMs: 7 },
  { service: "a.B", method: "Put", collapser: {} },
  { service: "a.B", method: "Put", maxConcurrent: 3 },
]);

Deno.test("PolicyIndex takes the closest entry that has settings, whole", () => {
  assertEquals(FILE.policyOf("c.D", "Get"), {
    cacheDurationMs: 1,
    maxConcurrent: 9,
    timeoutMs: 90,
  });
  assertEquals(FILE.policyOf("a.B", "List"), { maxFollowers: 2, maxConcurrent: 9 });
  assertEquals(FILE.policyOf("a.B", "Get"), { maxFollowers: 2, maxConcurrent: 9, timeoutMs: 7 });
  assertEquals(FILE.policyOf("a.B", "Put"), { maxConcurrent: 3 });
});

Deno.test("PolicyIndex lists the entries that name a method, the closest first, each once", () => {
  const named = (service: string, method: string) =>
    FILE.matching(service, method).map(({ service, method }) => `${service}/${method}`);
  assertEquals(named("a.B", "Put"), ["a.B/Put", "a.B/Put", "a.B/", "/"]);
  assertEquals(named("c.D", "Put"), ["/"]);
  assertEquals(named("", ""), ["/"]); // what is no path has neither
});

Deno.test("PolicyIndex of an empty file says nothing", () => {
  assertStrictEquals(new PolicyIndex([]).policyOf("a.B", "Get"), NO_POLICY);
});

Deno.test("PolicyIndex tells which entries hold, for the collapser object and for each other key", () => {
  const linesOf = (service: string, method: string) => {
    const { collapser, timeout, maxConcurrent } = FILE.holding(service, method);
    return [collapser, timeout, maxConcurrent].map((entry) =>
      entry && `${entry.service}/${entry.method}`
    );
  };
  assertEquals(linesOf("c.D", "Get"), ["/", "/", "/"]);
  assertEquals(linesOf("a.B", "Get"), ["a.B/", "a.B/Get", "/"]);
  assertEquals(linesOf("a.B", "Put"), ["a.B/Put", undefined, "a.B/Put"]);
  assertEquals(new PolicyIndex([]).holding("a.B", "Get"), {
    ...{ collapser: undefined, timeout: undefined, maxConcurrent: undefined },
  });
});
