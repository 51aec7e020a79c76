/**
 * What a sidecar must look like when nothing is under way.
 *
 * Flights, waiters, connections and backend calls are gauges of `/metrics`. Streams have none: those of callers are the
 * calls that began and have no answer yet (`collapser_calls_total` less `collapser_responses_total`), those towards the
 * backend are counted where they end, at the backend. Timers are told at the very end, by the sidecar's debug log.
 * Descriptors are counted by the system.
 *
 * @module
 */

import { until } from "../support/waiting.ts";
import type { SidecarChild } from "./sidecar_child.ts";

/** Calls that were under way end within their deadlines, and stored results are swept once a second. */
const REST_LIMIT_MS = 40_000;

const LOOK_EVERY_MS = 100;

/** What is left of everything that should be gone. */
export interface Leftovers {
  readonly flights: number;
  readonly waiters: number;
  readonly streams: number;
  readonly connections: number;
  readonly backendCalls: number;
  readonly pending: number;
  readonly results: number;
}

const NOTHING: Leftovers = {
  flights: 0,
  waiters: 0,
  streams: 0,
  connections: 0,
  backendCalls: 0,
  pending: 0,
  results: 0,
};
const NAMES = Object.keys(NOTHING) as (keyof Leftovers)[];

export function leftoversOf(series: ReadonlyMap<string, number>): Leftovers {
  const one = (name: string) => series.get(name) ?? NaN;
  return {
    flights: one("collapser_inflight_requests"),
    waiters: one("collapser_waiters"),
    streams: sumOf(series, "collapser_calls_total{") - sumOf(series, "collapser_responses_total{"),
    connections: one("collapser_connections"),
    backendCalls: sumOf(series, "collapser_backend_inflight{"),
    pending: sumOf(series, "collapser_backend_pending{"),
    results: one("collapser_cached_results"),
  };
}

/**
 * Answers that were found to depend on who asks, by shadow or by verify: the soak's backends answer all alike, so each is
 * a false accusation.
 */
export function mismatchesOf(series: ReadonlyMap<string, number>): number {
  return [...series].reduce(
    (sum, [name, value]) => name.includes('result="mismatch"') ? sum + value : sum,
    0,
  );
}

/** Waits until nothing but so many connections is left; rejects with what is, when that does not come. */
export async function restOf(
  sidecar: SidecarChild,
  connections: () => number,
): Promise<void> {
  let found = NOTHING;
  let wanted = NOTHING;
  const isAtRest = async () => {
    await new Promise((resume) => setTimeout(resume, LOOK_EVERY_MS)); // a scrape is work for it as well
    found = leftoversOf(await sidecar.scrape());
    wanted = { ...NOTHING, connections: connections() };
    return NAMES.every((name) => found[name] === wanted[name]);
  };
  try {
    await until(isAtRest, "rest", REST_LIMIT_MS);
  } catch {
    const texts = [found, wanted].map((one) => JSON.stringify(one));
    throw new Error(`${sidecar.transport}: not at rest: ${texts.join(" in place of ")}`);
  }
}

export function sumOf(series: ReadonlyMap<string, number>, prefix: string): number {
  return [...series].reduce((sum, [name, value]) => name.startsWith(prefix) ? sum + value : sum, 0);
}
