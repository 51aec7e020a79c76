import { assert, assertEquals, assertMatch } from "@std/assert";
import { HELLO_PATHS } from "../../lib/hello/mod.ts";
import { ask, clientOf } from "../support/client.ts";
import { GatedBackend } from "../support/gated_backend.ts";
import { LocalSidecar } from "../support/local_sidecar.ts";
import { withAdmin } from "./support.ts";

const TOKEN = "let-me-in-please";
const { getGreeting } = HELLO_PATHS;
const GET_OTHER = "/hello.v1.Other/GetOther";
const KEEPING = { COLLAPSER_CACHE_DURATION: "1m", ADMIN_TOKEN: TOKEN };

interface Post {
  readonly token?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: BodyInit;
}

async function purge(port: number, query = "", post: Post = {}) {
  const { token = TOKEN, method = "POST", headers = {}, body } = post;
  const response = await fetch(`http://127.0.0.1:${port}/api/purge${query}`, {
    method,
    headers: { ...(token === "" ? {} : { authorization: `Bearer ${token}` }), ...headers },
    ...(body === undefined ? {} : { body }),
  });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

Deno.test("POST /api/purge drops what is stored of one method, or of all, and says how much", async () => {
  await using backend = new GatedBackend({ open: true });
  await using local = await LocalSidecar.before(backend, KEEPING);
  await using client = await clientOf(local.port);
  const { metricsPort } = local.sidecar;
  const both = async () => {
    for (const name of ["a", "b"]) await ask(client, getGreeting, { name });
    await ask(client, GET_OTHER, { name: "a" });
  };
  await both();
  await both();
  assertEquals(backend.calls, 3);
  const one = await purge(metricsPort, `?method=${encodeURIComponent(getGreeting)}`);
  assertEquals([one.status, JSON.parse(one.text)], [200, { method: getGreeting, purged: 2 }]);
  await both();
  assertEquals(backend.calls, 5); // the other one is kept
  const all = await purge(metricsPort);
  assertEquals([all.status, JSON.parse(all.text)], [200, { method: null, purged: 3 }]);
  await both();
  assertEquals(backend.calls, 8);
  const none = await purge(metricsPort, "?method=/a.Nobody/Called");
  assertEquals(JSON.parse(none.text).purged, 0);
  assert(local.log.some((line) => line.includes("Purged") && line.includes(getGreeting)));
});

Deno.test("POST /api/purge lets calls under way go on, and does not keep their answer", async () => {
  await using backend = new GatedBackend();
  await using local = await LocalSidecar.before(backend, KEEPING);
  await using client = await clientOf(local.port);
  const before = ask(client, getGreeting, { name: "a" });
  await backend.holds(1);
  assertEquals((await purge(local.sidecar.metricsPort)).status, 200);
  const after = ask(client, getGreeting, { name: "a" });
  await backend.holds(2); // it did not join
  backend.release();
  assertEquals([(await before).status, (await after).status], [0, 0]);
  assertEquals(local.sidecar.proxy.map.stored.entries, 1);
  await ask(client, getGreeting, { name: "a" });
  assertEquals(backend.calls, 2); // the later answer is the one that is kept
});

Deno.test("/api/purge does not exist without ADMIN_TOKEN", async () => {
  await withAdmin({}, async ({ admin }) => {
    for (const method of ["POST", "GET", "DELETE"]) {
      const { status, text } = await purge(admin.port, "", { method });
      assertEquals([status, text], [404, "No such page: see /\n"]);
    }
  });
});

Deno.test("/api/purge takes POST alone", async () => {
  await withAdmin({ adminToken: () => TOKEN }, async ({ admin }) => {
    for (const method of ["GET", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"]) {
      const { status, headers } = await purge(admin.port, "", { method });
      assertEquals([status, headers.get("allow")], [405, "POST"], method);
    }
  });
});

Deno.test("POST /api/purge is refused without the token, in the same words whatever was given", async () => {
  await withAdmin({ adminToken: () => TOKEN }, async ({ admin, logged }) => {
    for (const token of ["", "wrong", `${TOKEN}x`]) {
      const { status, text, headers } = await purge(admin.port, "", { token });
      assertEquals([status, text], [401, "Not without the token\n"], token);
      assertMatch(headers.get("www-authenticate") ?? "", /^Bearer /);
    }
    const query = await purge(admin.port, `?token=${TOKEN}`, { token: "" });
    assertEquals(query.status, 401);
    assertEquals(logged.map(({ level }) => level), Array(4).fill("warn"));
    assert(!JSON.stringify(logged).includes("wrong"));
  });
});

Deno.test("POST /api/purge is refused when a page of another site asks, token or not", async () => {
  await withAdmin({ adminToken: () => TOKEN }, async ({ admin }) => {
    const own = `http://127.0.0.1:${admin.port}`;
    const foreign = [
      { origin: "http://evil.example" },
      { origin: "null" },
      { origin: `http://127.0.0.1:${admin.port + 1}` },
      { origin: own, "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
    ];
    for (const headers of foreign) {
      assertEquals((await purge(admin.port, "", { headers })).status, 403, JSON.stringify(headers));
    }
    for (const headers of [{}, { origin: own }, { origin: own, "sec-fetch-site": "same-origin" }]) {
      assertEquals((await purge(admin.port, "", { headers })).status, 200, JSON.stringify(headers));
    }
  });
});

Deno.test("POST /api/purge refuses what it does not understand, and purges nothing then", async () => {
  await withAdmin({ adminToken: () => TOKEN }, async ({ admin }) => {
    for (
      const query of [
        "?method=",
        "?method=Get",
        "?method=/a.S",
        "?methods=/a.S/Get",
        "?method=/a.S/G&method=/a.S/H",
      ]
    ) {
      assertEquals((await purge(admin.port, query)).status, 400, query);
    }
  });
});

Deno.test("POST /api/purge reads a bounded body, however its length is told", async () => {
  await withAdmin({ adminToken: () => TOKEN }, async ({ admin }) => {
    const long = "x".repeat(2_000);
    assertEquals((await purge(admin.port, "", { body: "{}" })).status, 200);
    assertEquals((await purge(admin.port, "", { body: long })).status, 413);
    const unsized = new Blob([long]).stream();
    assertEquals((await purge(admin.port, "", { body: unsized })).status, 411);
  });
});

Deno.test("POST /api/purge is bounded in rate", async () => {
  await withAdmin({ adminToken: () => TOKEN }, async ({ admin }) => {
    let last = await purge(admin.port);
    for (let i = 0; i < 2_000 && last.status === 200; i++) last = await purge(admin.port);
    assertEquals(last.status, 429);
    assertEquals(last.headers.get("retry-after"), "1");
  });
});

Deno.test("POST /api/purge answers and logs wrong tokens at a limited rate, and always takes the right one", async () => {
  await withAdmin({ adminToken: () => TOKEN }, async ({ admin, logged }) => {
    const wrong: number[] = [];
    for (let i = 0; i < 12; i++) wrong.push((await purge(admin.port, "", { token: "no" })).status);
    assertEquals(wrong.slice(0, 5), Array(5).fill(401));
    assert(wrong.includes(429));
    assertEquals(logged.length, wrong.filter((status) => status === 401).length);
    let last = wrong.at(-1)!;
    while (last !== 429) last = (await purge(admin.port, "", { token: "no" })).status;
    assertEquals((await purge(admin.port)).status, 200);
  });
});
