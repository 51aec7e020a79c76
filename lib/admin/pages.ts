import type { Logger } from "../telemetry/mod.ts";

/** On every answer: text is text, whatever is in it, and what is true now is not to be kept. */
const HEADERS = {
  "content-type": "text/plain; charset=utf-8",
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
};

const READING = ["GET", "HEAD"];

const OVERVIEW = `collapser

/metrics  counters and gauges in Prometheus' text format
/health   200 while the process lives
/ready    200 when calls can be answered, else 503 and the reason
`;

/** Where the pages come from; asked on every request. */
export interface AdminSources {
  readonly metrics: {
    text(): Promise<string>;
    /** Of that text. */
    readonly contentType: string;
  };
  /** `reason` is in words, for when it is not. */
  readonly readiness: () => { readonly ready: boolean; readonly reason: string };
  readonly log: Logger;
}

type Page = (sources: AdminSources) => Response | Promise<Response>;

const PAGES: ReadonlyMap<string, Page> = new Map<string, Page>([
  ["/", () => textResponse(OVERVIEW)],
  ["/metrics", metricsPage],
  ["/health", () => textResponse("ok\n")],
  ["/ready", readyPage],
]);

/** Answers one request. Never rejects: what fails is logged and a 500. */
export async function answer(request: Request, sources: AdminSources): Promise<Response> {
  const url = URL.parse(request.url); // made of the Host field, which may be anything
  if (url === null) return textResponse("Bad request: no such host\n", { status: 400 });
  const { pathname } = url;
  const page = PAGES.get(pathname);
  if (page === undefined) return textResponse("No such page: see /\n", { status: 404 });
  if (!READING.includes(request.method)) {
    const allow = READING.join(", ");
    return textResponse(`Only ${allow} here\n`, { status: 405, headers: { allow } });
  }
  try {
    return await page(sources); // the server leaves the body of a HEAD out, and keeps its length
  } catch (error) {
    sources.log.error("Admin page failed", { path: pathname, stack: Deno.inspect(error) });
    return textResponse("Internal error: see the log\n", { status: 500 });
  }
}

async function metricsPage({ metrics }: AdminSources): Promise<Response> {
  const text = await metrics.text();
  return textResponse(text, { headers: { "content-type": metrics.contentType } });
}

function readyPage({ readiness }: AdminSources): Response {
  const { ready, reason } = readiness();
  return ready ? textResponse("ready\n") : textResponse(`not ready: ${reason}\n`, { status: 503 });
}

function textResponse(
  text: string,
  options: { status?: number; headers?: Record<string, string> } = {},
): Response {
  const { status = 200, headers } = options;
  return new Response(text, { status, headers: { ...HEADERS, ...headers } });
}
