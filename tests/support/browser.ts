/**
 * A real browser, for what only one can tell: Debian's Chromium, driven through playwright-core. It enters here alone.
 *
 * @module
 */

import { type Browser, chromium, type Page } from "playwright-core";

const CHROMIUM = "/usr/bin/chromium";

/** Without a sandbox, as containers have none; and silent: what it asks of the network is what the page asks. */
const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Whether there is one: where there is none, its tests are skipped. */
export const HAS_BROWSER: boolean = isFile(CHROMIUM);

/** How the page is looked at. */
export interface Look {
  readonly width?: number;
  readonly height?: number;
  readonly dark?: boolean;
  /** What the page is told at a path in place of what the sidecar would say, as JSON. */
  readonly answers?: Readonly<Record<string, unknown>>;
}

/** A page in a browser of its own, and all that it complained of and asked for. */
export class OpenPage implements AsyncDisposable {
  readonly page: Page;
  /** Errors, warnings and violations of the content security policy, as the console tells them. */
  readonly complaints: string[] = [];
  /** Every URL that it asked for. */
  readonly requests: string[] = [];
  readonly #browser: Browser;

  private constructor(browser: Browser, page: Page) {
    this.#browser = browser;
    this.page = page;
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") {
        this.complaints.push(message.text());
      }
    });
    page.on("pageerror", (error) => void this.complaints.push(String(error)));
    page.on("request", (request) => void this.requests.push(request.url()));
  }

  static async at(url: string, look: Look = {}): Promise<OpenPage> {
    const { width = 1_280, height = 900, dark = false, answers = {} } = look;
    const browser = await chromium.launch({ executablePath: CHROMIUM, args: ARGUMENTS });
    const page = await browser.newPage({
      viewport: { width, height },
      colorScheme: dark ? "dark" : "light",
      locale: "en-GB",
    });
    for (const [path, json] of Object.entries(answers)) {
      await page.route(new URL(path, url).href, (route) => route.fulfill({ json }));
    }
    const open = new OpenPage(browser, page);
    await page.goto(url);
    return open;
  }

  /** Resolves when the page shows what it was told by the sidecar. */
  async isLive(): Promise<void> {
    await this.page.locator("#connection[data-state=live]").waitFor();
  }

  /** The text of the first element that matches. */
  async text(selector: string): Promise<string> {
    return (await this.page.locator(selector).first().innerText()).trim();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#browser.close();
  }
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}
