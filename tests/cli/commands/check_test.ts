import { assert, assertEquals, assertFalse, assertMatch, assertStringIncludes } from "@std/assert";
import { OPTIONS } from "../../../lib/config/options.ts";
import { collapser } from "../support.ts";

const variables = { BACKEND_ADDRESS: "db:50051" };

Deno.test("check prints each setting with its value and origin, and starts nothing", async () => {
  const { code, out, err, ran } = await collapser("check --drain-delay 90s", { variables });
  assertEquals([code, err, ran], [0, "", undefined]);
  for (const { env } of OPTIONS) assertStringIncludes(out, `\n  ${env} `);
  assertMatch(out, /\n {2}BACKEND_ADDRESS +environment +db:50051\n/);
  assertMatch(out, /\n {2}DRAIN_DELAY +flag +1m30s\n/);
  assertMatch(out, /\n {2}DRAIN_TIMEOUT +default +10s\n/);
  assertMatch(out, /\n {2}COLLAPSER_KEY_HEADERS +default +\(unset\)\n/);
});

Deno.test("check says how methods are judged, and has no warnings when there are none", async () => {
  const { out } = await collapser("check", { variables });
  assertStringIncludes(out, "\nMethods\n  A method collapses when its descriptor");
  assertFalse(out.includes("Warnings"));
  assert(out.split("\n").every((line) => line.length <= 80));
});

Deno.test("check warns of misspelt names and of settings that can hurt", async () => {
  const { code, out } = await collapser("check", {
    variables: { ...variables, COLLAPSER_METHODS: "*", COLLAPSER_CACHE_DURATON: "1s" },
  });
  assertEquals(code, 0);
  assertStringIncludes(out, "\nWarnings\n  Cannot use COLLAPSER_CACHE_DURATON: no such variable;");
  assertStringIncludes(out, "\n  COLLAPSER_METHODS * collapses writes too");
});

Deno.test("check refuses what serve would refuse, with 64", async () => {
  const { code, out, err } = await collapser("check", { variables: { COLLAPSER_MODE: "odd" } });
  assertEquals([code, out], [64, ""]);
  assertEquals(err.split("\n").length, 3);
});

Deno.test("check reads the files that are named, and refuses those that serve would refuse", async () => {
  const policy = `${import.meta.dirname}/no-such-policy.json`;
  const { code, err } = await collapser("check", {
    variables: { ...variables, COLLAPSER_CONFIG: policy },
    runners: { fileProblems: ({ policyPath }) => Promise.resolve([`Cannot read ${policyPath}`]) },
  });
  assertEquals(code, 64);
  assertStringIncludes(err, `Cannot read ${policy}`);
});

Deno.test("check says what may surprise in the files that are named", async () => {
  const what = "Policy file has settings that this version does not heed yet: shared";
  const { code, out } = await collapser("check", {
    variables,
    runners: { fileWarnings: () => Promise.resolve([what]) },
  });
  assertEquals(code, 0);
  assertStringIncludes(out, `\nWarnings\n  ${what}`);
});
