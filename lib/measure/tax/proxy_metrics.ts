/** Longest that a scrape may take. */
const SCRAPE_TIMEOUT_MS = 5_000;

/** A series that is worth reading: a name, perhaps labels, a value (Prometheus text format 0.0.4). */
const SERIES = /^([A-Za-z_:][\w:]*)(?:\{[^\n]*\})? (\S+)/gm;

/** Calls that a proxy's own history must hold before the share it saved says anything about its callers. */
const MIN_HISTORY = 1_000;

/** Series by name, those that differ in labels added up; or in words why there are none. */
export type MetricsReading =
  | { readonly metrics: ReadonlyMap<string, number> }
  | { readonly missing: string };

/** Asks a proxy for its metrics. Never rejects. */
export async function readMetrics(url: string): Promise<MetricsReading> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(SCRAPE_TIMEOUT_MS) });
    const text = await answer.text();
    if (!answer.ok) return { missing: `${url} answered with HTTP ${answer.status}` };
    return { metrics: sumByName(text) };
  } catch (error) {
    return {
      missing: `${url} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}

export function sumByName(exposition: string): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const [, name = "", value] of exposition.matchAll(SERIES)) {
    sums.set(name, (sums.get(name) ?? 0) + Number(value));
  }
  return sums;
}

/**
 * The share of a collapser's calls that needed no call to the backend, since it started: the one figure about the
 * callers it really has. undefined when it has had too few, or is no collapser.
 */
export function savedShareSoFar(metrics: ReadonlyMap<string, number>): number | undefined {
  const calls = metrics.get("collapser_requests_total");
  const backendCalls = metrics.get("collapser_backend_calls_total");
  if (calls === undefined || backendCalls === undefined || calls < MIN_HISTORY) return undefined;
  return Math.max(0, 1 - backendCalls / calls);
}
