import type { TaxOptions, TaxSurroundings } from "../../../lib/measure/mod.ts";
import type { TaxSubject } from "../../../lib/measure/tax/result.ts";

/** As little as shows everything: two rounds of short measurements at two rates. */
export function shortRun(): TaxOptions {
  return {
    direct: undefined,
    proxies: [],
    method: "/test.Service/GetItem",
    message: undefined,
    metadata: [],
    rates: [100, 200],
    rounds: 2,
    segmentMs: 300,
    arrivals: "poisson",
    seed: 1,
    callers: 8,
    connections: 2,
    keys: 3,
    prices: { perVcpuHour: 0.04, perCrossZoneGb: 0.01 },
    jsonFile: undefined,
    htmlFile: undefined,
  };
}

/** For runs whose backend is somewhere else. */
export const NO_EMBEDDED: TaxSurroundings["embedded"] = {
  startBackend: () => Promise.reject(new Error("nothing is embedded in this run")),
  settingsFor: () => {
    throw new Error("nothing is embedded in this run");
  },
};

/** What the report says it measured. */
export function subjectOf(parts: Partial<TaxSubject>): TaxSubject {
  return {
    method: "/test.Service/GetItem",
    rounds: 5,
    segmentMs: 1_000,
    rates: [100],
    arrivals: "poisson",
    seed: 1,
    callers: 64,
    connections: 4,
    keys: 10,
    embedded: false,
    prices: { perVcpuHour: 0.04, perCrossZoneGb: 0.01 },
    cpus: 2,
    startedAt: "2026-11-30T00:00:00.000Z",
    ...parts,
  };
}
