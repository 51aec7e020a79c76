import { hash } from "node:crypto";
import BACKENDS_JS from "./page/backends.js" with { type: "text" };
import CHART_JS from "./page/chart.js" with { type: "text" };
import CHARTS_JS from "./page/charts.js" with { type: "text" };
import COLOURS_CSS from "./page/colours.css" with { type: "text" };
import FORMAT_JS from "./page/format.js" with { type: "text" };
import INDEX_HTML from "./page/index.html" with { type: "text" };
import PAGE_CSS from "./page/page.css" with { type: "text" };
import PAGE_JS from "./page/page.js" with { type: "text" };
import SHARING_CSS from "./page/sharing.css" with { type: "text" };
import SHARING_JS from "./page/sharing.js" with { type: "text" };
import TABLES_CSS from "./page/tables.css" with { type: "text" };
import TABLES_JS from "./page/tables.js" with { type: "text" };
import VIEWS_JS from "./page/views.js" with { type: "text" };
import { respond } from "./responses.ts";
import { UPLOT_CSS, UPLOT_JS } from "./uplot.ts";

const HTML = "text/html; charset=utf-8";
const CSS = "text/css; charset=utf-8";
const JS = "text/javascript; charset=utf-8";

interface Asset {
  readonly type: string;
  readonly text: string;
  readonly etag: string;
}

/** The files of the page, by path. They are part of the program: nothing is read from disk. */
export const ASSETS: ReadonlyMap<string, Asset> = new Map([
  ["/", asset(HTML, INDEX_HTML)],
  ["/colours.css", asset(CSS, COLOURS_CSS)],
  ["/page.css", asset(CSS, PAGE_CSS)],
  ["/page.js", asset(JS, PAGE_JS)],
  ["/backends.js", asset(JS, BACKENDS_JS)],
  ["/chart.js", asset(JS, CHART_JS)],
  ["/charts.js", asset(JS, CHARTS_JS)],
  ["/format.js", asset(JS, FORMAT_JS)],
  ["/sharing.css", asset(CSS, SHARING_CSS)],
  ["/sharing.js", asset(JS, SHARING_JS)],
  ["/tables.css", asset(CSS, TABLES_CSS)],
  ["/tables.js", asset(JS, TABLES_JS)],
  ["/views.js", asset(JS, VIEWS_JS)],
  ["/uplot.css", asset(CSS, UPLOT_CSS)],
  ["/uplot.js", asset(JS, UPLOT_JS)],
]);

/** The file, or 304 when whoever asks has it (RFC 9110 §13.1.2). It may be kept, and is asked about each time. */
export function assetResponse({ type, text, etag }: Asset, request: Request): Response {
  const headers = { etag, "cache-control": "no-cache" };
  const known = request.headers.get("if-none-match")?.split(",").map((one) => one.trim()) ?? [];
  if (known.includes(etag) || known.includes("*")) {
    return respond(null, type, { status: 304, headers });
  }
  return respond(text, type, { headers });
}

function asset(type: string, text: string): Asset {
  return { type, text, etag: `"${hash("sha256", text, "base64url").slice(0, 22)}"` };
}
