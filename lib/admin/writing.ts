import { notFound, respondJson, respondText, tooMany } from "./responses.ts";
import type { Site } from "./site.ts";
import { isAuthorized } from "./token.ts";

/** A request that is being answered: whoever is asking, and by which address. */
export interface Asking {
  readonly request: Request;
  readonly url: URL;
  readonly address: string;
  /** Only this machine reaches the listener, and the question is from here. */
  readonly isPrivate: boolean;
}

/** `POST /api/purge?method=/pkg.Service/Method`: drops what is stored, of one method or all. */
export function purge(site: Site, asking: Asking): Response {
  const refusal = refuse(site, asking);
  if (refusal !== undefined) return refusal;
  const { searchParams } = asking.url;
  const unknown = [...searchParams.keys()].find((name) => name !== "method");
  if (unknown !== undefined || searchParams.getAll("method").length > 1) {
    return respondText("Expected one parameter at most: method\n", { status: 400 });
  }
  const method = searchParams.get("method") ?? undefined;
  if (method !== undefined && !/^\/[^/]+\/[^/]+$/.test(method)) {
    return respondText("Expected a method such as /pkg.Service/Method\n", { status: 400 });
  }
  const purged = site.sources.proxy.map.purge(method);
  site.sources.log.info("Purged stored results", { method: method ?? "all", results: purged });
  return respondJson({ method: method ?? null, purged });
}

/** `POST /api/methods/on?method=/pkg.Service/Method`: puts a method back that verify has taken out. */
export function switchOn(site: Site, asking: Asking): Response {
  const refusal = refuse(site, asking);
  if (refusal !== undefined) return refusal;
  const method = asking.url.searchParams.get("method");
  if (method === null || [...asking.url.searchParams].length > 1) {
    return respondText("Expected one parameter: method\n", { status: 400 });
  }
  if (!site.sources.proxy.trial.switchOn(method)) {
    return respondText("No such method was taken out\n", { status: 404 });
  }
  site.sources.log.info("Method is on trial again", { method });
  return respondJson({ method, on: true });
}

/** Why a call that would change something is not made; undefined when it may be. */
export function refuse(
  site: Site,
  asking: Asking,
  { needsToken }: { needsToken: boolean } = { needsToken: true },
): Response | undefined {
  const { request, address } = asking;
  const { log } = site.sources;
  const adminToken = needsToken ? site.sources.adminToken() : "";
  if (adminToken === undefined) return notFound();
  if (request.method !== "POST") {
    return respondText("Only POST here\n", { status: 405, headers: { allow: "POST" } });
  }
  if (!isOwnOrigin(asking)) return respondText("Not from another site\n", { status: 403 });
  const nowMs = performance.now();
  // A right token is heard whatever others at its address have tried: else anybody there could shut its owner out.
  if (needsToken && !isAuthorized(request.headers.get("authorization"), adminToken)) {
    const failures = site.failures.of(address);
    if (!failures.take(1, nowMs)) return tooMany(failures.waitMs(1, nowMs));
    log.warn("Refused an admin call without the token", { address });
    return respondText("Not without the token\n", {
      ...{ status: 401, headers: { "www-authenticate": 'Bearer realm="collapser"' } },
    });
  }
  const writes = site.writes.of(address);
  if (!writes.take(1, nowMs)) return tooMany(writes.waitMs(1, nowMs));
  return undefined;
}

/** Whether a request is from no other site's page, which would say so (Fetch, "Origin"); programs say nothing. */
function isOwnOrigin({ request: { headers }, url }: Asking): boolean {
  const site = headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin" && site !== "none") return false;
  const origin = headers.get("origin");
  return origin === null || URL.parse(origin)?.host === url.host;
}
