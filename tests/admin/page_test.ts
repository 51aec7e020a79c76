/**
 * The live page as a browser shows it. Where there is no Chromium, these tests are skipped.
 *
 * @module
 */

import { assert, assertEquals, assertFalse, assertMatch, assertStringIncludes } from "@std/assert";
import { HELLO_PATHS } from "../../lib/hello/mod.ts";
import { ask, clientOf } from "../support/client.ts";
import { GatedBackend } from "../support/gated_backend.ts";
import { LocalSidecar, type Variables } from "../support/local_sidecar.ts";
import { freePort } from "../support/process.ts";
import { until } from "../support/waiting.ts";
import { browserTest, contrast, expectsPeace, openPage, PHONE, rowsOf } from "./open_page.ts";

const { getGreeting, createGreeting } = HELLO_PATHS;

const ROOT = new URL("../../", import.meta.url);

const STORED_LONG: Variables = { COLLAPSER_CACHE_DURATION: "1m" };

browserTest("the page says that it is well and idle, with nothing called yet", async () => {
  await using backend = new GatedBackend({ open: true });
  await using local = await LocalSidecar.before(backend);
  for (const look of [{}, { dark: true }, PHONE, { ...PHONE, dark: true }]) {
    await using open = await openPage(local, look);
    assertEquals(await open.text("#health"), "Healthy: the backend is reachable");
    assertEquals(await open.text("#flights .empty"), "Nothing waits.");
    assertMatch(await open.text("#saving"), /^No calls/);
    assertEquals(await open.page.locator("#notes").isVisible(), false);
    expectsPeace(open, local);
  }
});

browserTest("the page's figures are those of the metrics", async () => {
  await using backend = new GatedBackend({ open: true });
  await using local = await LocalSidecar.before(backend, STORED_LONG);
  await using client = await clientOf(local.port);
  for (let i = 0; i < 25; i++) await ask(client, getGreeting, { name: String(i % 3) });
  for (let i = 0; i < 4; i++) await ask(client, createGreeting);
  await using open = await openPage(local);
  await until(async () => (await rowsOf(open, "keys")).length > 0, "the keys");
  const series = await local.scrape();
  const callsOf = (method: string, outcome: string) =>
    String(series.get(`collapser_calls_total{method="${method}",outcome="${outcome}"}`) ?? 0);
  const shown = Object.fromEntries(
    (await rowsOf(open, "methods")).map(([method, , ...cells]) => [method, cells]),
  );
  for (const method of [getGreeting, createGreeting]) {
    const [calls, , hit, joined, led, passed] = shown[method]!;
    const outcomes = ["hit", "joined", "led", "passed"].map((outcome) => callsOf(method, outcome));
    assertEquals([hit, joined, led, passed], outcomes, method);
    assertEquals(Number(calls), outcomes.map(Number).reduce((a, b) => a + b), method);
  }
  assertEquals((await rowsOf(open, "passed")).map(([reason, calls]) => [reason, calls]), [
    ["method", String(series.get('collapser_passed_total{reason="method"}'))],
  ]);
  const [[name, state, , queued, , , , calls]] = await rowsOf(open, "backends") as [string[]];
  assertEquals([name, state, queued], [`127.0.0.1:${backend.port}`, "Up", "0"]);
  assertEquals(Number(calls), series.get("collapser_backend_calls_total"));
  assertEquals((await rowsOf(open, "keys")).length, 3);
  assert(await open.page.locator("#chart-calls canvas").isVisible());
  expectsPeace(open, local);
});

browserTest("the page shows calls that wait, live, and that they are over", async () => {
  await using backend = new GatedBackend();
  await using local = await LocalSidecar.before(backend);
  await using client = await clientOf(local.port);
  await using open = await openPage(local);
  const calls = [1, 2, 3].map(() => ask(client, getGreeting, { name: "a" }));
  await backend.holds(1);
  await open.page.locator("#flights tbody tr").waitFor();
  const [[method, age, callers, waitsFor]] = await rowsOf(open, "flights") as [string[]];
  assertEquals([method, waitsFor], [getGreeting, "an answer"]);
  assertMatch(age!, /^[\d.]+ (ms|s)$/);
  await until(async () => (await rowsOf(open, "flights"))[0]?.[2] === "3", "three callers");
  assert(callers !== "0");
  backend.release();
  await Promise.all(calls);
  await open.page.locator("#flights .empty").waitFor();
});

browserTest(
  "the page says which backend is down, and that all are, and gets well by itself",
  async () => {
    const [first, second] = [new GatedBackend({ open: true }), new GatedBackend({ open: true })];
    const { port } = second;
    const addresses = `one=127.0.0.1:${first.port},two=127.0.0.1:${port}`;
    await using local = new LocalSidecar({ BACKEND_ADDRESS: addresses });
    await until(() => local.sidecar.proxy.readiness.ready, "a sidecar that is ready");
    await using open = await openPage(local, PHONE);
    const becomes = (state: string) => open.page.locator(`#verdict[data-state=${state}]`).waitFor();
    await becomes("healthy");
    await first[Symbol.asyncDispose]();
    await becomes("degraded");
    assertMatch(await open.text("#health"), /^Degraded: 1 of 2 backends take calls; one cannot/);
    assertEquals((await rowsOf(open, "backends")).map(([name, state]) => [name, state]), [
      ["one", "Down"],
      ["two", "Up"],
    ]);
    await second[Symbol.asyncDispose]();
    await becomes("down");
    assertMatch(await open.page.title(), /^down/);
    await using _again = new GatedBackend({ open: true, port });
    await becomes("degraded");
    expectsPeace(open, local);
  },
);

browserTest(
  "the page lists 200 methods and one for all others, sorted and filtered without a mouse",
  async () => {
    await using backend = new GatedBackend({ open: true });
    await using local = await LocalSidecar.before(backend, STORED_LONG);
    await using client = await clientOf(local.port);
    for (let i = 0; i < 205; i++) {
      const path = `/a.very.long.package.name.v1.Service${i % 7}/GetThing${
        String(i).padStart(3, "0")
      }`;
      for (let times = 0; times <= i % 4; times++) await ask(client, path);
    }
    await using open = await openPage(local, PHONE);
    const { page } = open;
    await page.locator("#methods .more:visible").waitFor();
    assertEquals((await rowsOf(open, "methods")).length, 10);
    const more = page.locator("#methods .more");
    assertEquals(await more.innerText(), "Show all 201 methods");
    await more.focus();
    await page.keyboard.press("Enter");
    await until(async () => (await rowsOf(open, "methods")).length === 201, "all methods");
    assertEquals(await more.getAttribute("aria-expanded"), "true");

    const head = page.locator("#methods thead th").first();
    await head.locator("button").focus();
    await page.keyboard.press("Enter");
    const names = async () => (await rowsOf(open, "methods")).map(([name]) => name!);
    assertEquals(await head.getAttribute("aria-sort"), "ascending");
    assertEquals(await names(), (await names()).toSorted());
    await page.keyboard.press("Space");
    assertEquals(await head.getAttribute("aria-sort"), "descending");
    assertEquals(await names(), (await names()).toSorted().reverse());
    const keepsFocus = "document.activeElement === document.querySelector('#methods thead button')";
    assertEquals(await page.evaluate(keepsFocus), true);

    await page.locator("#method-filter").focus();
    await page.keyboard.type("thing017");
    assertEquals((await names()).length, 1);
    const widths = await page.evaluate("[document.documentElement.scrollWidth, innerWidth]");
    assertEquals(widths, [360, 360]); // nothing sticks out
    expectsPeace(open, local);
  },
);

browserTest("the page treats all that callers choose as text", async () => {
  await using backend = new GatedBackend({ open: true });
  await using local = await LocalSidecar.before(backend);
  await using client = await clientOf(local.port);
  const path = "/<img src=x onerror=alert(1)>/<script>alert(2)</script>";
  await ask(client, path);
  await using open = await openPage(local);
  await until(async () => (await rowsOf(open, "methods")).length === 1, "the method");
  assertEquals((await rowsOf(open, "methods"))[0]![0], path);
  assertEquals(await open.page.locator("img").count(), 0);
  assertEquals(await open.page.locator("body script").count(), 0);
  expectsPeace(open, local);
});

browserTest("the page shows the configuration, what is from where, and no secret", async () => {
  await using backend = new GatedBackend({ open: true });
  const token = "s3cr3t-pa55word-long";
  await using local = await LocalSidecar.before(backend, { ...STORED_LONG, ADMIN_TOKEN: token });
  await using open = await openPage(local);
  await until(async () => (await rowsOf(open, "config")).length > 0, "the configuration");
  const rows = await rowsOf(open, "config");
  assert(rows.every(([, , origin]) => origin === "environment"));
  assertEquals(rows.find(([name]) => name === "ADMIN_TOKEN")?.[1], "(set)");
  await open.page.locator("#config-all").focus();
  await open.page.keyboard.press("Space");
  const all = await rowsOf(open, "config");
  assert(all.length > rows.length && all.some(([, , origin]) => origin === "default"));
  assertFalse((await open.page.content()).includes(token));
});

browserTest(
  "the page says when the connection is lost, and goes on when there is one again",
  async () => {
    await using backend = new GatedBackend({ open: true });
    const port = freePort();
    const variables = { BACKEND_ADDRESS: `127.0.0.1:${backend.port}`, METRICS_PORT: String(port) };
    const first = new LocalSidecar(variables);
    await using open = await openPage(first);
    await first.stop();
    await open.page.locator("#connection[data-state=lost]").waitFor();
    assertStringIncludes(await open.text("#connection"), "Connection lost");
    await using _second = new LocalSidecar(variables);
    await open.isLive();
  },
);

browserTest(
  "the page has landmarks, one first heading, a caption for each table, and a name for each field",
  async () => {
    await using backend = new GatedBackend({ open: true });
    await using local = await LocalSidecar.before(backend);
    await using client = await clientOf(local.port);
    await ask(client, getGreeting);
    await using open = await openPage(local);
    const { page } = open;
    for (
      const [selector, count] of [["main", 1], ["header", 1], ["footer nav", 1], ["h1", 1]] as const
    ) {
      assertEquals(await page.locator(selector).count(), count, selector);
    }
    const tables = await page.locator("table").count();
    assertEquals(await page.locator("table > caption").count(), tables);
    assertEquals(
      await page.locator("thead th:not([scope=col]), tbody th:not([scope=row])").count(),
      0,
    );
    assertEquals(await page.locator("label input").count(), await page.locator("input").count());
    assertEquals(await page.locator("[role=img]:not([aria-label])").count(), 0);
    // From the top, the first key leads past the head of the page.
    await page.keyboard.press("Tab");
    assertEquals(await page.evaluate("document.activeElement.textContent"), "Skip to the state");
    const chart = page.locator("#chart-calls [role=img]");
    await until(
      async () => (await chart.getAttribute("aria-label"))?.includes("led") === true,
      "words",
    );
    await chart.focus();
    await until(async () => { // there must be more than one sample to go back to
      await page.keyboard.press("ArrowLeft");
      const said = await chart.getAttribute("aria-label") ?? "";
      return /^Calls a second, by outcome, \d+:\d+/.test(said);
    }, "what was then");
  },
);

browserTest(
  "the page's text and graphics stand out enough from what is behind them, in the light and in the dark",
  async () => {
    await using backend = new GatedBackend({ open: true });
    await using local = await LocalSidecar.before(backend);
    for (const dark of [false, true]) {
      await using open = await openPage(local, { dark });
      const pairs = [
        ...["text", "muted", "link", "good", "warn", "bad"].flatMap((ink) =>
          ["card", "page"].map((paper) => [ink, paper] as const)
        ),
        ...["good", "warn", "bad"].map((state) => ["text", `${state}-back`] as const),
        ["bad", "bad-back"] as const,
      ];
      const drawn = [
        ...["hit", "joined", "led", "passed", "stale", "rejected"].map((ink) => [ink, "card"]),
        ...[0, 1, 2, 3, 4, 5].map((place) => [`backend-${place}`, "card"]),
        ...["card", "grid"].map((paper) => ["bar", paper]),
      ].map(([ink, paper]) => [ink!, paper!, 3] as const);
      for (
        const [ink, paper, least] of [...pairs.map((pair) => [...pair, 4.5] as const), ...drawn]
      ) {
        const colours = await open.page.evaluate(
          `["${ink}", "${paper}"].map((name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim())`,
        ) as [string, string];
        const ratio = contrast(...colours);
        assert(
          ratio >= least,
          `${ink} on ${paper}, ${dark ? "dark" : "light"}: ${ratio.toFixed(2)}`,
        );
      }
    }
  },
);

Deno.test("the page's files hold to the types that their comments give", async () => {
  const check = new Deno.Command(Deno.execPath(), {
    args: [
      "check",
      "--quiet",
      "--no-lock",
      "--config",
      "tests/admin/browser.json",
      "lib/admin/page/page.js",
    ],
    cwd: ROOT,
    env: { NO_COLOR: "1" },
  });
  const { success, stderr } = await check.output();
  assert(success, new TextDecoder().decode(stderr));
});
