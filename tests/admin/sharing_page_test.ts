/**
 * What the live page says of sharing, as a browser shows it.
 *
 * @module
 */

import { assert, assertEquals, assertFalse, assertMatch, assertStringIncludes } from "@std/assert";
import { HELLO_PATHS } from "../../lib/hello/mod.ts";
import type { Look, OpenPage } from "../support/browser.ts";
import { GatedBackend } from "../support/gated_backend.ts";
import { LocalSidecar } from "../support/local_sidecar.ts";
import { until } from "../support/waiting.ts";
import { browserTest, expectsPeace, openPage, PHONE, rowsOf } from "./open_page.ts";
import { TENANTS, TenantSidecar } from "./tenant_sidecar.ts";

const { getGreeting } = HELLO_PATHS;
const TOKEN = "let-me-in-please";

const POLICY = {
  methodConfig: [{
    name: [{ service: "shop.Items", method: "GetItem" }],
    collapser: { mode: "verify" },
  }],
};

/** A row as `/api/report` tells it. */
function rowOf(row: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    ...{ method: "/shop.Items/GetItem", mode: "shadow", calls: 8_060, wouldHit: 6_218 },
    ...{ wouldJoin: 1_125, share: 0.911, savedCallsPerS: 1_416, savedSecondsPerS: 41.2 },
    ...{ waitNowMs: 29, waitThenMs: 5.6, keys: 20, largestGroup: 14 },
    compared: { match: 7_000, reordered: 0, raced: 0, unstable: 343, mismatch: 0 },
    ...{ keptApartBy: ["x-view-id"], recommendation: "collapse", policy: POLICY },
    ttl: { "0": 0.6, configured: 0.911, "1s": 0.98, "10s": 0.99 },
    ...row,
  };
}

/** A page that is told of these rows. */
async function told(
  local: LocalSidecar,
  rows: readonly Record<string, unknown>[],
  look: Look = {},
): Promise<OpenPage> {
  const report = { version: "0", atMs: 0, uptimeS: 1, methods: rows };
  const open = await openPage(local, { ...look, answers: { "api/report": report } });
  if (rows.length > 0) await open.page.locator("#sharing tbody tr").first().waitFor();
  return open;
}

/** Where an element stands below the section's head, and how large it is: what is above may still be coming. */
const placeOf = ({ page }: OpenPage, selector: string): Promise<unknown> =>
  page.evaluate(
    `(([one, head]) => [one.x, one.y - head.y, one.width, one.height].map(Math.round))(
      ["${selector}", "#h-sharing"].map((name) => document.querySelector(name).getBoundingClientRect()))`,
  );

const textsOf = (open: OpenPage, selector: string): Promise<string[]> =>
  open.page.locator(selector).allInnerTexts();

browserTest("the page says that nothing is shared yet, where nothing is", async () => {
  await using backend = new GatedBackend({ open: true });
  await using local = await LocalSidecar.before(backend);
  await using open = await openPage(local);
  assertEquals(
    await open.text("#sharing .empty"),
    "No method has shared an answer yet, or was in shadow.",
  );
  assertEquals(await open.page.locator("#token-field").isVisible(), false);
  expectsPeace(open, local);
});

browserTest(
  "the page says what shadow would save and what sharing saves, in words that are true",
  async () => {
    await using backend = new GatedBackend({ open: true });
    await using local = await LocalSidecar.before(backend);
    const rows = [
      rowOf(),
      rowOf({ method: "/shop.Items/ListItems", mode: "collapse", calls: 500 }),
      rowOf({
        method: "/shop.Items/GetOld",
        mode: "off",
        calls: 50,
        keys: null,
        largestGroup: null,
      }),
    ];
    await using open = await told(local, rows);
    const [shadow, collapse, off] = await rowsOf(open, "sharing") as [string[], string[], string[]];
    assertEquals(shadow, [
      ...["/shop.Items/GetItem", "8,060", "would save 91.1 %", "1,416 calls/s", "29 ms → 5.6 ms"],
      ...["20", "7,343", "x-view-id", "collapse"],
    ]);
    assertEquals([collapse[2], off[2], off[5]], ["saves 91.1 %", "saved 91.1 %", "–"]);
    const notes = await textsOf(open, "#sharing tbody tr:first-child .note");
    for (const note of ["41 s/s", "largest group 14", "7,000 match, 343 unstable"]) {
      assert(notes.includes(note), `${note}: ${notes}`);
    }
    assertStringIncludes(notes[0]!, "nothing is shared yet");
    expectsPeace(open, local);
  },
);

browserTest("the page copies a method's policy with one click, and says so", async () => {
  await using backend = new GatedBackend({ open: true });
  await using local = await LocalSidecar.before(backend);
  const early = { method: "/shop.Items/GetNew", calls: 1, recommendation: "too early" };
  const rows = [rowOf(), { ...rowOf(early), policy: undefined }];
  await using open = await told(local, rows);
  const { page } = open;
  assertEquals(await textsOf(open, "#sharing .action"), ["Copy policy"]); // the other has none
  const before = await placeOf(open, "#sharing .action");
  for (const isSecure of [true, false]) {
    if (isSecure) await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    else await page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
    await page.locator("#sharing .action").focus();
    await page.keyboard.press("Enter");
    await until(async () => (await textsOf(open, "#sharing .action"))[0] === "Copied", "a word");
    assertMatch(await open.text("#sharing-said"), /^Copied the policy of \/shop.Items\/GetItem/);
    if (isSecure) {
      const text = await page.evaluate("navigator.clipboard.readText()") as string;
      assertEquals(JSON.parse(text), POLICY);
    }
    const isFocused = "document.activeElement.className === 'action'";
    assertEquals(await page.evaluate(isFocused), true);
    await until(async () => (await textsOf(open, "#sharing .action"))[0] !== "Copied", "it again");
  }
  assertEquals(await placeOf(open, "#sharing .action"), before); // nothing has jumped
  expectsPeace(open, local);
});

browserTest(
  "the page shows a method that verify took out by names alone, and puts it back with the token",
  async () => {
    await using service = await TenantSidecar.start({ ADMIN_TOKEN: TOKEN });
    const { local } = service;
    await using open = await openPage(local, PHONE);
    const { page } = open;
    await service.takeOut();
    for (const table of ["methods", "sharing"]) {
      await page.locator(`#${table} .badge`).waitFor({ timeout: 20_000 });
      assertEquals(await open.text(`#${table} .badge`), "taken out by verify");
      const said = "Answers depend on who asks: callers differed in x-tenant.";
      assertEquals(await open.text(`#${table} .note`), said);
    }
    for (const tenant of TENANTS) assertFalse((await page.content()).includes(tenant));
    const back = page.locator("#sharing .action", { hasText: "Put back" });
    assertEquals(await back.count(), 0); // without a token there is no such call
    await page.locator("#token").fill("some-other-token-");
    await back.click();
    await until(
      async () => (await open.text("#sharing-said")).endsWith("the token is wrong."),
      "a refusal",
    );
    await page.locator("#token").fill(TOKEN);
    await back.click();
    await until(
      async () => await open.text("#sharing-said") === `${getGreeting} is on trial again.`,
      "a word that it is on",
    );
    await page.locator("#sharing .badge").waitFor({ state: "detached" });
    await page.locator("#methods .badge").waitFor({ state: "detached" });
    assertEquals([...local.sidecar.proxy.trial.methods.off()], []);
    assertFalse((await page.content()).includes(TOKEN));
    const complaints = open.complaints.filter((text) => !text.includes("401"));
    assertEquals(complaints, []); // the browser tells of the refusal
  },
);

browserTest(
  "the page shows 200 methods that share, on a phone, in the dark, with nothing sticking out",
  async () => {
    await using backend = new GatedBackend({ open: true });
    await using local = await LocalSidecar.before(backend);
    const rows = Array.from({ length: 200 }, (_, i) =>
      rowOf({
        method: `/a.very.long.package.name.v1.Service${i % 7}/GetThing${
          String(i).padStart(3, "0")
        }`,
        calls: 10_000 - i,
        keptApartBy: ["x-a-rather-long-name-of-metadata", "x-another-one-that-is-long"],
      }));
    for (const look of [PHONE, { ...PHONE, dark: true }, { dark: true }]) {
      await using open = await told(local, rows, look);
      assertEquals((await rowsOf(open, "sharing")).length, 10);
      await open.page.locator("#sharing .more").click();
      await until(async () => (await rowsOf(open, "sharing")).length === 200, "all methods");
      const [width, inner] = await open.page.evaluate(
        "[document.documentElement.scrollWidth, innerWidth]",
      ) as [number, number];
      assertEquals(width, inner);
      const reachesOut = "[...document.querySelectorAll('#sharing td .text')].filter((text) => " +
        "text.getBoundingClientRect().right > text.parentElement.getBoundingClientRect().right + 1)" +
        ".map((text) => text.textContent)";
      assertEquals(await open.page.evaluate(reachesOut), []); // into the cell beside it
      expectsPeace(open, local);
    }
  },
);

browserTest("the page stays where it is when a report comes anew", async () => {
  await using backend = new GatedBackend({ open: true });
  await using local = await LocalSidecar.before(backend);
  await using open = await told(local, [rowOf()]);
  const asked = () => open.requests.filter((url) => url.endsWith("/api/report")).length;
  const [place, before] = [await placeOf(open, "#h-keys"), asked()];
  await until(() => asked() > before, "a new report", 30_000);
  assertEquals((await rowsOf(open, "sharing")).length, 1);
  assertEquals(await placeOf(open, "#h-keys"), place);
});

browserTest("the page treats all of a report as text", async () => {
  await using backend = new GatedBackend({ open: true });
  await using local = await LocalSidecar.before(backend);
  const evil = "<img src=x onerror=alert(1)>";
  const row = rowOf({
    method: `/${evil}/x`,
    keptApartBy: [evil],
    recommendation: `ignore ${evil}`,
  });
  await using open = await told(local, [row]);
  assertEquals(await open.page.locator("img").count(), 0);
  assertEquals((await rowsOf(open, "sharing"))[0]?.[7], evil);
  expectsPeace(open, local);
});
