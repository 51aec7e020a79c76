import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { Runners } from "../../../lib/cli/runners.ts";
import { collapser } from "../support.ts";

const EXPLANATION = {
  ...{ method: "/a.B/Get", collapses: true, why: "its name begins with get", takenOutFor: null },
  settings: [
    {
      ...{ key: "ttl", value: "17s", from: "policy", entry: 2, line: 61 },
      variable: "COLLAPSER_CACHE_DURATION",
    },
    {
      ...{ key: "joinMaxAge", value: "7s", from: "environment", entry: null, line: null },
      variable: "COLLAPSER_JOIN_MAX_AGE",
    },
    {
      ...{ key: "shared", value: "false", from: "default", entry: null, line: null },
      ...{ variable: null, isUnbuilt: true },
    },
  ],
  entries: [
    { entry: 2, line: 61, name: "a.B/Get", holds: ["ttl"], hidden: [] },
    { entry: 0, line: 4, name: "all services", holds: [], hidden: ["ttl", "mode"] },
  ],
  key: {
    parts: ["path"],
    metadata: [{ name: "x-a", inKey: false, why: "by methodConfig[2] (line 61)" }],
  },
} as const;

function explaining(asked: unknown[], answer: unknown = { explanation: EXPLANATION }) {
  const explain = (...given: unknown[]) => {
    asked.push(...given);
    return Promise.resolve(answer);
  };
  return { runners: { explain } as unknown as Partial<Runners> };
}

Deno.test("explain prints each setting with its source, the entries that lost, and what is in the key", async () => {
  const asked: unknown[] = [];
  const { code, out, err } = await collapser("explain a.B/Get -H x-a:1 -HX-B:2", explaining(asked));
  assertEquals([code, err, asked.slice(0, 2)], [0, "", ["/a.B/Get", ["x-a", "x-b"]]]);
  assertMatch(out, /^\/a\.B\/Get\n {2}may share answers: its name begins with get\n/);
  assertMatch(out, /\n {2}ttl +17s +methodConfig\[2\] \(line 61\)\n/);
  assertMatch(out, /\n {2}joinMaxAge +7s +COLLAPSER_JOIN_MAX_AGE \(environment\)\n/);
  assertMatch(out, /\n {2}shared +false +default; not in force in this version\n/);
  assertMatch(
    out,
    /\n {2}methodConfig\[0\] \(line 4\) +all services +lost to a closer entry: ttl, mode\n/,
  );
  assertMatch(out, /\n {2}x-a +ignored +by methodConfig\[2\] \(line 61\)$/);
  assertStringIncludes(out, "without the backend's descriptors");
});

Deno.test("explain says first what becomes of the calls, by the mode too", async () => {
  const first = async (value: string, collapses = true) => {
    const settings = [{ ...EXPLANATION.settings[1], key: "mode", value }];
    const explanation = { ...EXPLANATION, collapses, settings };
    const { out } = await collapser("explain a.B/Get", explaining([], { explanation }));
    return out.split("\n")[1]?.replace(/: its.*/, "").trim();
  };
  assertEquals(await first("collapse"), "may share answers");
  assertEquals(
    await first("verify"),
    "may share answers, of which a sample is asked for once more",
  );
  assertEquals(await first("shadow"), "eligible, and served apart while its mode is shadow");
  assertEquals(await first("off"), "passes, since its mode is off; otherwise eligible");
  assertEquals(await first("off", false), "passes");
});

Deno.test("explain takes a leading slash, the policy file, and the flags of serve", async () => {
  const asked: unknown[] = [];
  const args = "--config p.json --backend-use-tls /a.B/Get --collapser-mode shadow";
  const { code } = await collapser(`explain ${args}`, explaining(asked));
  const { settings, origins } = asked[2] as {
    settings: { policyPath: string; mode: string; backendUseTls: boolean };
    origins: Map<string, string>;
  };
  const { policyPath, mode, backendUseTls } = settings;
  assertEquals([code, asked[0]], [0, "/a.B/Get"]);
  assertEquals([policyPath, mode, backendUseTls], ["p.json", "shadow", true]);
  assertEquals(origins.get("COLLAPSER_MODE"), "flag");
});

Deno.test("explain --url asks a running sidecar, by names of metadata and never their values", async () => {
  const urls: string[] = [];
  const takenOutFor = ["x-tenant"];
  const readAdmin = (url: string) => {
    urls.push(url);
    return Promise.resolve({ value: { ...EXPLANATION, takenOutFor } });
  };
  const args = "explain a.B/Get --url http://h:1 -H authorization:secret";
  const { code, out } = await collapser(args, { runners: { readAdmin } });
  assertEquals([code, urls], [
    0,
    ["http://h:1/api/explain?method=%2Fa.B%2FGet&header=authorization"],
  ]);
  assertStringIncludes(out, "taken out by verify: answers differed by x-tenant");
  assert(!out.includes("descriptors"));
  const { code: failed, err } = await collapser("explain a.B/Get --url http://h:1", {
    runners: { readAdmin: () => Promise.resolve({ why: "nobody is there" }) },
  });
  assertEquals(failed, 1);
  assertMatch(err, /^Cannot get an explanation from http:\/\/h:1\/.*: nobody is there$/);
});

Deno.test("explain --json prints the explanation as it is", async () => {
  const { out } = await collapser("explain a.B/Get --json", explaining([]));
  assertEquals(JSON.parse(out), EXPLANATION);
});

Deno.test("explain refuses what it cannot read, all at once, with 64", async () => {
  const refused = async (args: string, answer?: unknown) => {
    const { code, out, err } = await collapser(`explain ${args}`, explaining([], answer));
    assertEquals([code, out], [64, ""], args);
    return err.split("\n").slice(0, -1);
  };
  assertEquals(await refused(""), [
    "Cannot explain: expected one method such as pkg.Service/Method",
  ]);
  assertEquals(await refused("a.B/Get c.D/Get"), await refused(""));
  assertEquals(await refused("nothing --jsn -H x --url ftp://h --config"), [
    'Cannot explain "nothing": expected one method such as pkg.Service/Method',
    "Cannot read --jsn: no such flag; the nearest is --json",
    'Cannot parse -H "x": expected metadata such as x-tenant:acme',
    'Cannot parse --url "ftp://h": expected a URL such as http://127.0.0.1:2112/ready',
    "Cannot read --config: expected a value",
  ]);
  assertEquals(await refused("a.B/Get --url http://h:1 --collapser-mode off"), [
    "Cannot use --collapser-mode beside --url: a running sidecar has its own",
  ]);
  assertEquals((await refused("a.B/Get --collapser-mode odd")).length, 1);
  assertEquals(await refused("a.B/Get", { problems: ["line 3: wrong"] }), ["line 3: wrong"]);
});
