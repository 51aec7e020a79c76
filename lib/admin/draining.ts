import { respondJson, tooMany } from "./responses.ts";
import type { Site } from "./site.ts";
import { type Asking, refuse } from "./writing.ts";

/** Accepted, and under way (RFC 9110 §15.3.3). */
const ACCEPTED = 202;

/**
 * `/api/drain`: GET tells how far the drain is, POST begins it. That needs the token, or a listener that only this
 * machine reaches, which in a pod is whoever runs in it: a preStop hook has no token, and somebody who may run a program
 * in the pod may end its processes anyway.
 */
export function drain(site: Site, asking: Asking): Response {
  const { drain } = site.sources;
  const { method } = asking.request;
  if (method === "GET" || method === "HEAD") {
    const nowMs = performance.now();
    const reads = site.reads.of(asking.address);
    if (!reads.take(1, nowMs)) return tooMany(reads.waitMs(1, nowMs));
    return respondJson({ state: drain.state });
  }
  const refusal = refuse(site, asking, { needsToken: !asking.isPrivate });
  if (refusal !== undefined) return refusal;
  if (drain.state === "serving") {
    site.sources.log.info("Told to drain", { address: asking.address });
  }
  drain.begin();
  return respondJson({ state: drain.state }, { status: ACCEPTED });
}
