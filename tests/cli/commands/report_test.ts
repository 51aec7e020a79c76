import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { Report, ReportedMethod } from "../../../lib/cli/report_text.ts";
import { collapser } from "../support.ts";

const ROW: ReportedMethod = {
  method: "/bar.Things/GetThing",
  mode: "shadow",
  calls: 12_345,
  wouldHit: 6_000,
  wouldJoin: 1_000,
  share: 0.567,
  savedCallsPerS: 1.9444,
  savedSecondsPerS: 0.05,
  waitNowMs: 50.4,
  waitThenMs: 3.21,
  keys: 17,
  largestGroup: 40,
  compared: { match: 6_990, reordered: 10, raced: 0, unstable: 0, mismatch: 0 },
  keptApartBy: ["x-page-view"],
  ttl: { "0": 0.1, configured: 0.567, "1s": 0.6, "10s": 0.7 },
  recommendation: "collapse",
  policy: {
    methodConfig: [{
      name: [{ service: "bar.Things", method: "GetThing" }],
      collapser: { mode: "verify" },
    }],
  },
};

const SHARING: ReportedMethod = {
  ...ROW,
  method: "/bar.Things/ListThings",
  mode: "collapse",
  keys: null,
  largestGroup: null,
  compared: {},
  keptApartBy: [],
  ttl: { "0": null, configured: 0.5, "1s": null, "10s": null },
  recommendation: "too early",
  policy: undefined,
};

function reportOf(methods: readonly ReportedMethod[]): Report {
  return { version: "1", uptimeS: 3_720, methods };
}

async function report(args: string, methods: readonly ReportedMethod[] = [ROW, SHARING]) {
  const readAdmin = () => Promise.resolve({ value: reportOf(methods) });
  return await collapser(`report ${args}`, { runners: { readAdmin } });
}

Deno.test("report asks the sidecar of the same environment, or the one that is named", async () => {
  const asked = async (args: string, variables: Record<string, string> = {}) => {
    const { ran } = await collapser(`report ${args}`, { variables });
    return ran?.[1];
  };
  assertEquals(await asked(""), "http://127.0.0.1:2112/api/report");
  assertEquals(await asked("", { METRICS_PORT: "9" }), "http://127.0.0.1:9/api/report");
  const both = { METRICS_PORT: "9", ADMIN_PORT: "10" };
  assertEquals(await asked("", both), "http://127.0.0.1:10/api/report");
  assertEquals(await asked("--url http://10.0.0.7:2112/"), "http://10.0.0.7:2112/api/report");
});

Deno.test("report tells each method in lines of words, and the policy to paste", async () => {
  const { code, out } = await report("");
  assertEquals(code, 0);
  for (
    const said of [
      ...["in 1 h 2 min", "/bar.Things/GetThing  (shadow)", "12,345", "56.7 %", "50 ms", "3.2 ms"],
      ...["17; the largest group", "0: 10.0 %, as now: 56.7 %, 1s: 60.0 %, 10s: 70.0 %"],
      ...["6,990 match, 10 reordered", "x-page-view", "advice     collapse"],
      ...["/bar.Things/ListThings  (collapse)", "nothing yet"],
      "too early (fewer than 1,000 calls, or less than an hour)",
    ]
  ) assertStringIncludes(out, said);
  const pasted = out.slice(out.indexOf("{\n"));
  assertEquals(JSON.parse(pasted), ROW.policy);
});

Deno.test("report says so where there is nothing to report", async () => {
  assertMatch((await report("", [])).out, /^No calls of methods that share/);
});

Deno.test("report prints JSON as it came, and Markdown with what is not known as a dash", async () => {
  assertEquals(
    (await report("--json")).out,
    JSON.stringify(reportOf([ROW, SHARING]), undefined, 2),
  );
  const { out } = await report("--md");
  const [head, rule, first, second] = out.split("\n").map((line) => line.split("|").length);
  assertEquals([rule, first, second], [head, head, head]);
  assertStringIncludes(out, "| – | – | nothing yet | – | too early |");
  assertEquals((await report("--json --md")).code, 64);
});

Deno.test("report exits with 1 and the reason where no sidecar answers", async () => {
  const readAdmin = () => Promise.resolve({ why: "connection refused" });
  const { code, err } = await collapser("report", { runners: { readAdmin } });
  assertEquals(code, 1);
  assertEquals(
    err,
    "Cannot get a report from http://127.0.0.1:2112/api/report: connection refused",
  );
});
