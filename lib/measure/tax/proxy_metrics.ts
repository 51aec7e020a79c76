/** Longest that a scrape may take. */
const SCRAPE_TIMEOUT_MS = 5_000;

/** A series that is worth reading: a name, perhaps labels, a value (Prometheus text format 0.0.4). */
const SERIES = /^([A-Za-z_:][\w:]*)(?:\{[^\n]*\})? (\S+)/gm;

/** Calls that a proxy's own history must hold before the share it saved says anything about its callers. */
const MIN_HISTORY = 1_000;

/** A collapser's count of the calls of one method that came about in one way. */
const CALLS = /^collapser_calls_total\{([^\n]*)\} (\S+)/gm;

/** Ways in which a call needs none to the backend. */
const SAVED = ["hit", "joined", "stale"];

/** The metrics in Prometheus's text format; or in words why there are none. */
export type MetricsReading =
  | { readonly exposition: string }
  | { readonly missing: string };

/** Asks a proxy for its metrics. Never rejects. */
export async function readMetrics(url: string): Promise<MetricsReading> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(SCRAPE_TIMEOUT_MS) });
    const text = await answer.text();
    if (!answer.ok) return { missing: `${url} answered with HTTP ${answer.status}` };
    return { exposition: text };
  } catch (error) {
    return {
      missing: `${url} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}

/** Values of series by name; series that differ in labels alone are added up. */
export function sumByName(exposition: string): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const [, name = "", value] of exposition.matchAll(SERIES)) {
    sums.set(name, (sums.get(name) ?? 0) + Number(value));
  }
  return sums;
}

/**
 * The share of a collapser's calls of a method that needed no call to the backend, since it started: the one figure
 * about the callers it really has. undefined when it has had too few, or is no collapser.
 */
export function savedShareSoFar(exposition: string, method: string): number | undefined {
  let calls = 0;
  let saved = 0;
  for (const [, labels = "", value] of exposition.matchAll(CALLS)) {
    if (label(labels, "method") !== method) continue;
    calls += Number(value);
    if (SAVED.includes(label(labels, "outcome") ?? "")) saved += Number(value);
  }
  return calls < MIN_HISTORY ? undefined : saved / calls;
}

/** The value of a label; a method and an outcome hold nothing that would be escaped. */
function label(labels: string, name: string): string | undefined {
  return new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1];
}
