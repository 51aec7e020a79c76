import { assertEquals, assertInstanceOf, assertStringIncludes, assertThrows } from "@std/assert";
import { PagesRefused, startAdmin } from "../../lib/admin/mod.ts";
import { within } from "../support/waiting.ts";
import { askRaw } from "../support/raw_http.ts";
import { holdingTimer } from "../support/held_timer.ts";
import { METRICS_TYPE, sourcesOf, withAdmin } from "./support.ts";

/** What answers under way are given to finish. */
const CLOSE_GRACE_MS = 1_000;

Deno.test("startAdmin serves the metrics with their content type", async () => {
  await withAdmin({}, async ({ ask }) => {
    const { status, text, headers } = await ask("/metrics");
    assertEquals([status, text], [200, "# TYPE up gauge\nup 1\n"]);
    assertEquals(headers.get("content-type"), METRICS_TYPE);
  });
});

Deno.test("startAdmin answers /health while it lives", async () => {
  await withAdmin({ readiness: () => ({ ready: false, reason: "draining" }) }, async ({ ask }) => {
    const { status, text } = await ask("/health");
    assertEquals([status, text], [200, "ok\n"]);
  });
});

Deno.test("startAdmin asks for readiness on each request to /ready", async () => {
  let state = { ready: false, reason: "no backend is reachable" };
  await withAdmin({ readiness: () => state }, async ({ ask }) => {
    const before = await ask("/ready");
    assertEquals([before.status, before.text], [503, "not ready: no backend is reachable\n"]);
    state = { ready: true, reason: "" };
    const after = await ask("/ready?verbose");
    assertEquals([after.status, after.text], [200, "ready\n"]);
  });
});

Deno.test("startAdmin serves the page at /, which lists the others", async () => {
  await withAdmin({}, async ({ ask }) => {
    const { status, text, headers } = await ask("/");
    assertEquals([status, headers.get("content-type")], [200, "text/html; charset=utf-8"]);
    for (const path of ["/metrics", "/health", "/ready"]) assertStringIncludes(text, path);
  });
});

Deno.test("startAdmin answers HEAD as GET without the body", async () => {
  await withAdmin({}, async ({ ask }) => {
    for (const path of ["/", "/metrics", "/health", "/ready"]) {
      const get = await ask(path);
      const head = await ask(path, "HEAD");
      assertEquals([head.status, head.text], [200, ""]);
      for (const name of ["content-type", "content-length", "cache-control"]) {
        assertEquals(head.headers.get(name), get.headers.get(name), `${name} of ${path}`);
      }
    }
  });
});

Deno.test("startAdmin refuses other paths and methods in words", async () => {
  await withAdmin({}, async ({ ask }) => {
    for (const path of ["/metrics/", "/nothing", "/healthz", "//metrics"]) {
      const { status, text } = await ask(path);
      assertEquals([status, text], [404, "No such page: see /\n"], path);
    }
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"]) {
      const { status, text, headers } = await ask("/metrics", method);
      assertEquals([status, text], [405, "Only GET, HEAD here\n"], method);
      assertEquals(headers.get("allow"), "GET, HEAD");
    }
  });
});

Deno.test("startAdmin refuses a host that is none, and does not take it for a fault", async () => {
  await withAdmin({}, async ({ admin, logged }) => {
    const answer = await askRaw(
      admin.port,
      "GET /health HTTP/1.1\r\nhost: ][\r\nconnection: close\r\n\r\n",
    );
    assertStringIncludes(answer, "400 Bad Request");
    assertEquals(logged, []);
  });
});

Deno.test("startAdmin answers a probe that speaks HTTP/1.0 and names no host", async () => {
  await withAdmin({}, async ({ admin }) => {
    assertStringIncludes(await askRaw(admin.port, "GET /health HTTP/1.0\r\n\r\n"), "200 OK");
  });
});

Deno.test("startAdmin answers 500 and logs it when a page fails, and goes on", async () => {
  const metrics = {
    text: () => Promise.reject(new Error("a metric is broken")),
    contentType: METRICS_TYPE,
  };
  function readiness(): never {
    throw new Error("readiness is broken");
  }
  await withAdmin({ metrics, readiness }, async ({ ask, logged }) => {
    for (const [path, why] of [["/metrics", "a metric"], ["/ready", "readiness"]] as const) {
      const { status, text } = await ask(path);
      assertEquals([status, text], [500, "Internal error: see the log\n"]);
      const entry = logged.pop()!;
      assertEquals([entry.level, entry.msg, entry.path], ["error", "Admin page failed", path]);
      assertStringIncludes(String(entry.stack), `${why} is broken`);
    }
    assertEquals((await ask("/health")).status, 200);
  });
});

Deno.test("startAdmin throws what the system says when the port is taken", async () => {
  await withAdmin({}, ({ admin }) => {
    assertThrows(
      () =>
        startAdmin({
          hostname: "127.0.0.1",
          port: admin.port,
          ...sourcesOf([]),
        }),
      Deno.errors.AddrInUse,
    );
    return Promise.resolve();
  });
});

Deno.test("startAdmin says that the page's port is taken, and leaves the other one free", async () => {
  await withAdmin({}, ({ admin }) => {
    const { port } = admin;
    const options = { hostname: "127.0.0.1", port: 0, ...sourcesOf([]) };
    const error = assertThrows(
      () => startAdmin({ ...options, pages: { hostname: "127.0.0.1", port } }),
      PagesRefused,
    );
    assertInstanceOf(error.cause, Deno.errors.AddrInUse);
    return Promise.resolve();
  });
});

Deno.test("startAdmin takes IPv4 on the address of both", async () => {
  await withAdmin({ hostname: "::" }, async ({ ask }) => {
    assertEquals((await ask("/health")).status, 200); // asked at 127.0.0.1
  });
});

Deno.test("Admin.close refuses new connections and lets an answer under way finish", async () => {
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  const { promise: text, resolve: finish } = Promise.withResolvers<string>();
  const metrics = {
    text() {
      ask();
      return text;
    },
    contentType: METRICS_TYPE,
  };
  await withAdmin({ metrics }, async ({ admin }) => {
    const url = `http://127.0.0.1:${admin.port}/metrics`;
    const scrape = fetch(url).then((response) => response.text());
    await asked;
    const closed = admin.close();
    assertInstanceOf(await fetch(url).catch((error) => error), TypeError);
    finish("late 1\n");
    assertEquals(await scrape, "late 1\n");
    await closed;
  });
});

Deno.test("Admin.close does not wait for a client that never reads its answer", async () => {
  const metrics = {
    text: () => Promise.resolve("x".repeat(32 * 2 ** 20)),
    contentType: METRICS_TYPE,
  };
  const client = Promise.withResolvers<Deno.Conn>();
  await withAdmin({ metrics }, async ({ admin }) => {
    const socket = await Deno.connect({ hostname: "127.0.0.1", port: admin.port });
    client.resolve(socket);
    await socket.write(new TextEncoder().encode("GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n"));
    await socket.read(new Uint8Array(1_024));
    const { given: closed, timer } = holdingTimer("setTimeout", () => admin.close());
    assertEquals(timer.ms, CLOSE_GRACE_MS);
    timer.goesOff();
    await within(closed, "the end without the answer's");
  }).finally(async () => (await client.promise).close());
});
