/**
 * The admin listener: what scrapers, probes and people ask, over HTTP. Where ADMIN_PORT says so there are two: figures for
 * machines at one, pages for people at the other.
 *
 * Owns the paths, the statuses and the headers of `/metrics`, `/health`, `/ready`, `/api/…` and of the live page at `/`,
 * whose files (`page/`, and uPlot) are text in the program. What they say comes from elsewhere and is asked for on each
 * request; a few numbers a second are kept for the last five minutes (`history.ts`).
 *
 * Invariants:
 * - the data path is not told of any of this: counters are read, never locked or copied for every call, and a snapshot
 *   is made once a second for all who listen, and only while somebody does;
 * - reading changes nothing. The one call that changes something does not exist without ADMIN_TOKEN, asks for it,
 *   compares it in constant time, and refuses what comes from another site's page (`writing.ts`);
 * - everything is bounded: pages that listen, what is kept for one that does not read (nothing), URLs, and how often each
 *   address may ask, probes aside. Keys are shown as digests, secrets not at all;
 * - pages are told to who asks by an address or by a name that no stranger can own (`known_host.ts`);
 * - a page that fails is a 500 and a line in the log, and costs nobody else anything;
 * - closing is bounded, whatever a client does.
 *
 * Refuses: to decide whether the sidecar is ready, to fetch or run anything from elsewhere (`responses.ts` tells browsers
 * so), and to print. That the port is taken is thrown as the system says it, for whoever starts the process to report.
 *
 * @module
 */
export { type ExplainedEntry, type Explanation, explanationOf } from "./explanation.ts";
export type { AdminSources } from "./sources.ts";
export { type Admin, type AdminOptions, PagesRefused, startAdmin } from "./start_admin.ts";
