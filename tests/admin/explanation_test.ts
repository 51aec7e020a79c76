import { assert, assertEquals } from "@std/assert";
import type { Explanation } from "../../lib/admin/mod.ts";
import { explainOffline } from "../../lib/sidecar/mod.ts";
import { LocalSidecar, settingsOf } from "../support/local_sidecar.ts";

const POLICY = `{ "methodConfig": [
 { "name": [{}], "timeout": "9s", "collapser": { "ttl": "11s" } },
 { "name": [{ "service": "a.B", "method": "GetIt" }], "maxConcurrent": 4, "collapser": { "ignoreHeaders": ["x-noise"] } }
] }`;

const PATH = "/a.B/GetIt";

/** A policy file for as long as `use` takes. */
async function withPolicy(use: (path: string) => Promise<void>): Promise<void> {
  const path = await Deno.makeTempFile({ suffix: ".json" });
  await Deno.writeTextFile(path, POLICY);
  try {
    await use(path);
  } finally {
    await Deno.remove(path);
  }
}

Deno.test("/api/explain says the same as explainOffline: verdict, settings, entries, key", async () => {
  await withPolicy(async (path) => {
    const variables = { BACKEND_ADDRESS: "127.0.0.1:1", COLLAPSER_CONFIG: path };
    await using local = new LocalSidecar(variables);
    const { status, text } = await local.ask(
      `/api/explain?method=${PATH}&header=X-Noise&header=x-tenant&header=x-noise`,
    );
    assertEquals(status, 200);
    const found: Explanation = JSON.parse(text);
    const names = ["x-noise", "x-tenant"];
    const settings = settingsOf(variables);
    const offline = explainOffline(PATH, names, { settings, origins: new Map() });
    assert("explanation" in offline);
    const { settings: values, ...rest } = offline.explanation;
    assertEquals({ ...found, settings: [] }, { ...rest, settings: [] });
    const shown = (explanation: Explanation) =>
      explanation.settings.map(({ key, value, line }) => [key, value, line]);
    // The ports are this test's own; all else is from the same places.
    assertEquals(shown(found), shown({ ...rest, settings: values }));
    assertEquals([found.collapses, found.why], [true, "its name begins with get"]);
    assertEquals(found.entries, [
      ...[{
        entry: 1,
        line: 3,
        name: "a.B/GetIt",
        holds: ["ignoreHeaders", "maxConcurrent"],
        hidden: [],
      }],
      ...[{ entry: 0, line: 2, name: "all services", holds: [], hidden: ["ttl", "timeout"] }],
    ]);
    assertEquals(found.key.metadata, [
      { name: "x-noise", inKey: false, why: "by methodConfig[1] (line 3)" },
      { name: "x-tenant", inKey: true, why: "it tells callers apart" },
    ]);
    const [bound, timeout] = found.settings.slice(-2);
    assertEquals([bound?.value, bound?.line, timeout?.value, timeout?.from], [
      "4",
      3,
      "none",
      "default",
    ]);
  });
});

Deno.test("/api/explain asks for one method, and judges it without making it known", async () => {
  await using local = new LocalSidecar({ BACKEND_ADDRESS: "127.0.0.1:1" });
  for (
    const query of ["", "?method=a.B/Get", "?method=/a.B/Get&method=/a.B/Put", "?method=/a/b/c"]
  ) {
    assertEquals((await local.ask(`/api/explain${query}`)).status, 400, query);
  }
  assertEquals((await local.ask("/api/explain?method=/a.B/Get")).status, 200);
  assertEquals(local.log.filter((line) => line.includes("/a.B/Get")), []);
});

Deno.test("explainOffline says what is wrong with the policy file", () => {
  const settings = settingsOf({ BACKEND_ADDRESS: "db:1", COLLAPSER_CONFIG: "no-such-policy.json" });
  assertEquals(explainOffline(PATH, [], { settings, origins: new Map() }), {
    problems: [
      'Cannot use COLLAPSER_CONFIG "no-such-policy.json": cannot be read: there is no such file',
    ],
  });
});
