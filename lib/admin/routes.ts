import type { TokenBucket } from "../connection/mod.ts";
import type { BucketsByAddress } from "./buckets_by_address.ts";
import { assetResponse, ASSETS } from "./assets.ts";
import { configurationOf } from "./configuration.ts";
import { drain } from "./draining.ts";
import { explain } from "./explanation.ts";
import { isKnownHost } from "./known_host.ts";
import { policyOf } from "./policy.ts";
import { notFound, respond, respondJson, respondText, tooMany } from "./responses.ts";
import { reportOf } from "./report.ts";
import type { Site } from "./site.ts";
import { flightsOf, keysOf } from "./status.ts";
import { type Asking, purge, switchOn } from "./writing.ts";

/** Longest URL that is read: as long as one of ours gets, with room for a method's name. */
const MAX_URL_CHARS = 2_048;

const READING = ["GET", "HEAD"];

/** Flights, calls of their own, and keys that an answer holds at most. */
const MAX_LISTED = 100;

/** What somebody is told who asked for a page by a name that might be a stranger's (RFC 9110 §15.5.20). */
const MISDIRECTED = "Not by this name: ask by an IP address, localhost, or a name of the cluster\n";

interface Route {
  /** Whether the route only tells: then the method and the rate are looked at here. */
  readonly reads: boolean;
  /** The buckets that requests are taken from; probes are answered whatever happens. */
  readonly buckets?: (site: Site) => BucketsByAddress;
  /** Whether a machine asks, by whatever name it has for us; true where figures have a listener of their own. */
  readonly isFigure?: true;
  readonly answer: (site: Site, asking: Asking) => Response | Promise<Response>;
}

const ROUTES: ReadonlyMap<string, Route> = new Map<string, Route>([
  ["/metrics", { reads: true, isFigure: true, buckets: ({ scrapes }) => scrapes, answer: metrics }],
  ["/health", { reads: true, isFigure: true, answer: () => respondText("ok\n") }],
  ["/ready", { reads: true, isFigure: true, answer: ready }],
  ["/api/status", telling((site) => respond(`${site.snapshot()}\n`, "application/json"))],
  ["/api/history", telling(({ history }) => respondJson(history.samples))],
  ["/api/flights", telling(({ sources }) => respondJson(flightsOf(sources, MAX_LISTED)))],
  [
    "/api/keys",
    telling(({ sources, history }) => respondJson(keysOf(sources, history, MAX_LISTED))),
  ],
  ["/api/config", telling(({ sources }) => respondJson(configurationOf(sources)))],
  ["/api/explain", telling(explain)],
  ["/api/policy", telling(({ sources }) => respondJson(policyOf(sources)))],
  ["/api/report", telling(({ sources }) => respondJson(reportOf(sources)))],
  ["/api/events", telling(events)],
  ["/api/drain", { reads: false, answer: drain }],
  ["/api/purge", { reads: false, answer: purge }],
  ["/api/methods/on", { reads: false, answer: switchOn }],
]);

/** What a listener serves: everything, or what machines ask alone. */
export type Serving = "everything" | "figures";

/** Answers one request. Never rejects: what fails is logged and a 500. */
export async function answer(
  site: Site,
  { request, address, serving, isPrivate }: {
    request: Request;
    address: string;
    serving: Serving;
    /** Only this machine reaches the listener, and the question is from here. */
    isPrivate: boolean;
  },
): Promise<Response> {
  if (request.url.length > MAX_URL_CHARS) return respondText("URL too long\n", { status: 414 });
  const url = new URL(request.url);
  const { pathname } = url;
  const asset = ASSETS.get(pathname);
  const route = ROUTES.get(pathname);
  if (!route?.isFigure) {
    if (serving === "figures") return notFound();
    if (!isKnownHost(url.hostname)) return respondText(MISDIRECTED, { status: 421 });
  }
  try {
    if (asset !== undefined) return refuseToRead(request) ?? assetResponse(asset, request);
    if (route === undefined) return notFound();
    const bucket = route.buckets?.(site).of(address);
    const refusal = route.reads ? refuseToRead(request, bucket) : undefined;
    // The server leaves the body of a HEAD out, and keeps its length.
    return refusal ?? await route.answer(site, { request, url, address, isPrivate });
  } catch (error) {
    site.sources.log.error("Admin page failed", { path: pathname, stack: Deno.inspect(error) });
    return respondText("Internal error: see the log\n", { status: 500 });
  }
}

function telling(answer: Route["answer"]): Route {
  return { reads: true, buckets: ({ reads }) => reads, answer };
}

function refuseToRead(request: Request, bucket?: TokenBucket): Response | undefined {
  if (!READING.includes(request.method)) {
    const allow = READING.join(", ");
    return respondText(`Only ${allow} here\n`, { status: 405, headers: { allow } });
  }
  const nowMs = performance.now();
  if (bucket === undefined || bucket.take(1, nowMs)) return undefined;
  return tooMany(bucket.waitMs(1, nowMs));
}

async function metrics({ sources: { metrics } }: Site): Promise<Response> {
  return respond(await metrics.text(), metrics.contentType);
}

function ready({ sources: { readiness } }: Site): Response {
  const { ready, reason } = readiness();
  return ready ? respondText("ready\n") : respondText(`not ready: ${reason}\n`, { status: 503 });
}

/** Answers `/api/events`. Whoever asks for the head alone is not listening. */
function events(site: Site, { request }: Asking): Response {
  if (request.method === "HEAD") return respond(null, "text/event-stream");
  return site.events.listen(site.snapshot());
}
