/**
 * What tests of the live page have in common. Where there is no Chromium, they are skipped.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { HAS_BROWSER, type Look, OpenPage } from "../support/browser.ts";
import type { LocalSidecar } from "../support/local_sidecar.ts";

/** A phone that is narrower than most. */
export const PHONE: Look = { width: 360, height: 740 };

/** A browser is started for each, which a busy machine takes its time for. The driver's own handles outlive a test. */
export function browserTest(name: string, fn: () => Promise<void>): void {
  const skipped = HAS_BROWSER ? "" : " (skipped: there is no Chromium here)";
  Deno.test({
    ...{ name: name + skipped, fn, ignore: !HAS_BROWSER },
    ...{ sanitizeOps: false, sanitizeResources: false },
  });
}

export async function openPage(local: LocalSidecar, look: Look = {}): Promise<OpenPage> {
  const open = await OpenPage.at(urlOf(local), look);
  await open.isLive();
  return open;
}

export function urlOf(local: LocalSidecar): string {
  return `http://127.0.0.1:${local.sidecar.metricsPort}/`;
}

/** Nothing was complained of, and nothing asked for but what the sidecar has. */
export function expectsPeace(open: OpenPage, local: LocalSidecar): void {
  assertEquals(open.complaints, []);
  assertEquals(
    open.requests.filter((url) => !url.startsWith(urlOf(local)) && !url.startsWith("data:")),
    [],
  );
}

/** What a table shows, row by row, cell by cell; each cell's first line. */
export async function rowsOf({ page }: OpenPage, id: string): Promise<string[][]> {
  return await page.locator(`#${id} tbody tr`).evaluateAll((rows) =>
    // deno-lint-ignore no-explicit-any -- of the browser's, which this process has no types of
    (rows as any[]).map((row) =>
      [...row.cells].map((cell) => cell.querySelector(".text").textContent)
    )
  );
}

/** WCAG 2.2, "contrast ratio". */
export function contrast(a: string, b: string): number {
  const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

function luminance(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const share = parseInt(colour.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
