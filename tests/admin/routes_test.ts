import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { ASSETS } from "../../lib/admin/assets.ts";
import { askRaw } from "../support/raw_http.ts";
import { withAdmin } from "./support.ts";

const TELLING = ["status", "history", "flights", "keys", "config", "report"].map((name) =>
  `/api/${name}`
);
const ALL = [...ASSETS.keys(), "/metrics", "/health", "/ready", "/nothing", ...TELLING];

/** Every directive, so that none is dropped without being noticed. */
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
  "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

Deno.test("answer puts the same guards on every answer", async () => {
  await withAdmin({ readiness: () => ({ ready: false, reason: "<b>" }) }, async ({ ask }) => {
    for (const path of ALL) {
      const { headers } = await ask(path);
      assertEquals(headers.get("content-security-policy"), POLICY, path);
      assertEquals(headers.get("x-content-type-options"), "nosniff", path);
      assertEquals(headers.get("referrer-policy"), "no-referrer", path);
      assertEquals(headers.get("access-control-allow-origin"), null, path);
      const cached = ASSETS.has(path) ? "no-cache" : "no-store";
      assertEquals(headers.get("cache-control"), cached, path);
    }
    const { headers } = await ask("/metrics", "POST");
    assertEquals(headers.get("content-security-policy"), POLICY);
  });
});

Deno.test("answer serves the files of the page, and 304 to who has them", async () => {
  await withAdmin({}, async ({ admin, ask }) => {
    for (const [path, { type }] of ASSETS) {
      const { status, headers, text } = await ask(path);
      assertEquals([status, headers.get("content-type")], [200, type], path);
      assert(text.length > 100, path);
      const url = `http://127.0.0.1:${admin.port}${path}`;
      const etag = headers.get("etag")!;
      assertMatch(etag, /^"[\w-]{22}"$/);
      const again = await fetch(url, { headers: { "if-none-match": `"old", ${etag}` } });
      assertEquals([again.status, await again.text()], [304, ""], path);
      const other = await fetch(url, { headers: { "if-none-match": '"old"' } });
      assertEquals([other.status, (await other.text()).length], [200, text.length], path);
    }
  });
});

Deno.test("the page's files ask for nothing from elsewhere, and hold no script or style inline", () => {
  const { text } = ASSETS.get("/")!;
  for (const [, address] of text.matchAll(/(?:src|href)="([^"]*)"/g)) {
    assert(!/^(https?:)?\/\//.test(address!), address);
    const isFile = ASSETS.has(`/${address}`);
    const isRoute = [...ALL, "/api/status"].includes(`/${address}`);
    assert(isFile || isRoute || address!.startsWith("#") || address!.startsWith("data:"), address);
  }
  assert(!/<style|style=|<script>|\son\w+=/i.test(text));
});

Deno.test("answer refuses to read by any other method, on every path", async () => {
  await withAdmin({}, async ({ ask }) => {
    for (const path of [...ASSETS.keys(), "/metrics", "/health", ...TELLING, "/api/events"]) {
      for (const method of ["POST", "PUT", "DELETE"]) {
        const { status, text, headers } = await ask(path, method);
        assertEquals([status, text], [405, "Only GET, HEAD here\n"], `${method} ${path}`);
        assertEquals(headers.get("allow"), "GET, HEAD");
      }
    }
  });
});

Deno.test("answer gives the head of everything, and does not take that for listening", async () => {
  await withAdmin({}, async ({ ask }) => {
    for (const path of [...ASSETS.keys(), ...TELLING, "/api/events"]) {
      for (let i = 0; i < 2; i++) {
        const { status, text } = await ask(path, "HEAD");
        assertEquals([status, text], [200, ""], path);
      }
    }
  });
});

Deno.test("answer refuses a URL that is too long", async () => {
  await withAdmin({}, async ({ ask }) => {
    assertEquals((await ask(`/api/status?${"x".repeat(3_000)}`)).status, 414);
  });
});

Deno.test("answer refuses who asks too often, and never a probe", async () => {
  await withAdmin({}, async ({ ask }) => {
    let refused: Headers | undefined;
    for (let i = 0; i < 2_000 && refused === undefined; i++) {
      const { status, headers } = await ask("/api/flights", "HEAD");
      if (status === 429) refused = headers;
    }
    assert(refused !== undefined, "nobody was refused");
    assertEquals(refused.get("retry-after"), "1");
    for (const path of ["/health", "/ready", "/metrics", "/"]) {
      assertEquals((await ask(path)).status, 200, path);
    }
  });
});

Deno.test("answer tells no page by a name that a stranger may own, and figures by any", async () => {
  await withAdmin({}, async ({ admin }) => {
    const ask = (path: string, host: string) =>
      askRaw(
        admin.port,
        `GET ${path} HTTP/1.1\r\nhost: ${host}\r\norigin: http://${host}\r\nconnection: close\r\n\r\n`,
      );
    for (const path of ["/", "/page.js", "/api/config", "/api/events", "/api/purge", "/nothing"]) {
      assertStringIncludes(await ask(path, "evil.example"), "421 Misdirected Request", path);
    }
    for (const path of ["/metrics", "/health", "/ready"]) {
      const text = await ask(path, "evil.example"); // scrapers come by any name
      assertStringIncludes(text, "200 OK", path);
      assert(!/access-control/i.test(text));
    }
    for (const host of ["127.0.0.1:2112", "[::1]", "localhost", "pod-7", "collapser.team.svc"]) {
      assertStringIncludes(await ask("/api/config", host), "200 OK", host);
    }
  });
});

Deno.test("answer keeps pages from the listener of figures where they have one of their own", async () => {
  await withAdmin({ pages: { hostname: "127.0.0.1", port: 0 } }, async ({ admin, ask }) => {
    for (const path of ["/metrics", "/health", "/ready"]) {
      assertEquals((await ask(path)).status, 200, path);
    }
    for (const path of ["/", "/page.js", "/api/config", "/api/purge"]) {
      assertEquals((await ask(path)).status, 404, path);
    }
    for (const path of ["/", "/api/config", "/metrics", "/health", "/ready"]) {
      const answer = await fetch(`http://127.0.0.1:${admin.pagePort}${path}`);
      assertEquals([answer.status, (await answer.text()).length > 0], [200, true], path);
    }
  });
});
