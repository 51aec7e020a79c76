/**
 * The admin listener: what scrapers and probes ask, over HTTP.
 *
 * Owns the paths, the statuses and the headers of `/metrics`, `/health`, `/ready` and the list of them at `/`. What
 * they say comes from elsewhere and is asked for on each request.
 *
 * Invariants:
 * - reading only: nothing here changes the sidecar, and every method but GET and HEAD is refused;
 * - a page that fails is a 500 and a line in the log, and costs nobody else anything;
 * - closing is bounded, whatever a client does.
 *
 * Refuses: to decide whether the sidecar is ready, and to print. That the port is taken is thrown as the system says
 * it, for whoever starts the process to report.
 *
 * @module
 */
export type { AdminSources } from "./pages.ts";
export { type Admin, type AdminOptions, startAdmin } from "./start_admin.ts";
