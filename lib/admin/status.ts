import process from "node:process";
import { statusName } from "../grpc/mod.ts";
import { OTHER_STATUS } from "../observe/mod.ts";
import type { MethodReport } from "../proxy/mod.ts";
import type { BackendReport } from "../upstream/mod.ts";
import type { History } from "./history.ts";
import type { AdminSources } from "./sources.ts";
import { stallOf } from "./stall.ts";
import { healthOf, savingOf } from "./words.ts";

/** What the page shows at a glance; `/api/flights` and `/api/keys` have more. */
const SHOWN_FLIGHTS = 20;
const SHOWN_KEYS = 20;

/** Longest method name that is told: callers may send paths of many KiB. */
const MAX_METHOD_CHARS = 256;

/** Everything that the page shows, at this moment. */
export function statusOf(sources: AdminSources, history: History): Record<string, unknown> {
  const { proxy: { buffered, inspection, counters, map }, readiness, version, configuration } =
    sources;
  const backends = inspection.backends();
  const { last } = history;
  const { settings } = configuration;
  return {
    atMs: Date.now(),
    uptimeS: Math.round(process.uptime()),
    version,
    mode: settings.mode,
    health: healthOf(backends, { ...readiness(), last, stall: stallOf(history.samples) }),
    saving: savingOf(last),
    now: {
      connections: counters.connections,
      flights: map.flying,
      waiters: map.waiting,
      storedResults: map.stored.entries,
      storedBytes: map.stored.bytes,
      bufferedBytes: buffered.bytes,
      stalled: counters.stalled,
      overfull: counters.overfull,
      rssBytes: Deno.memoryUsage().rss,
    },
    last: last ?? null,
    backends: backends.map(backendOf),
    methods: inspection.methods().map(methodOf),
    flights: flightsOf(sources, SHOWN_FLIGHTS),
    keys: keysOf(sources, history, SHOWN_KEYS),
    passed: counters.passed,
    hints: inspection.hints().map(({ method, metadataName = null }) => ({
      method: shortened(method),
      metadataName,
    })),
  };
}

/** Which calls wait, for how long and for what: flights, and calls that have a backend call of their own. */
export function flightsOf({ proxy }: AdminSources, limit: number): Record<string, unknown> {
  const { inspection, map } = proxy;
  const named = <T extends { method: string; ageMs: number }>(report: T) => ({
    ...report,
    method: shortened(report.method),
    ageMs: Math.round(report.ageMs),
  });
  return {
    total: map.flying,
    flights: inspection.flights(limit).map(named),
    passing: inspection.passing(limit).map(named),
  };
}

/** The keys asked for most, as digests, and all calls of that time. */
export function keysOf(
  { proxy }: AdminSources,
  history: History,
  limit: number,
): Record<string, unknown> {
  const { sinceMs, keys } = proxy.inspection.keys(limit);
  const named = keys.map((key) => ({ ...key, method: shortened(key.method) }));
  const calls = Math.round(history.callsWithin(sinceMs));
  return { sinceMs: Math.round(sinceMs), calls, keys: named };
}

/** How a method was judged, how far it is shared, and how its calls were answered. */
export function methodOf(report: MethodReport): Record<string, unknown> {
  const { counters } = report;
  return {
    ...judgementOf(report),
    ...counters.outcomes,
    codes: codesOf(counters.responses.counts),
  };
}

/**
 * How a method was judged and how far its answers are shared: `mode` as `/api/report` has it, and in `off` the names of
 * metadata, never a value, in which callers differed when verify took the method out.
 */
export function judgementOf(report: MethodReport): Record<string, unknown> {
  const { method, verdict, mode, off } = report;
  return {
    method: shortened(method),
    collapses: verdict?.eligible ?? null,
    why: verdict?.why ?? "all methods beyond the first 200",
    mode: verdict === undefined ? null : verdict.eligible ? mode ?? null : "off",
    off: off ?? null,
  };
}

function backendOf({ counters, trouble, standing, why }: BackendReport): Record<string, unknown> {
  const { name, up, inflight, limit, pending, refused, calls, ejections, answers } = counters;
  return {
    ...{ name, up, trouble, standing, why },
    ...{ inflight, limit, pending, refused, calls, ejections },
    codes: codesOf(answers.counts),
  };
}

/** Statuses that were seen, by name. */
function codesOf(counts: ArrayLike<number>): Record<string, number> {
  const codes: Record<string, number> = {};
  for (let status = 0; status < counts.length; status++) {
    const count = counts[status]!;
    if (count > 0) codes[status === OTHER_STATUS ? "Other" : statusName(status)] = count;
  }
  return codes;
}

function shortened(method: string): string {
  return method.length <= MAX_METHOD_CHARS ? method : `${method.slice(0, MAX_METHOD_CHARS)}…`;
}
