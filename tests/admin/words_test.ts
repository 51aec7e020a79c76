import { assertEquals } from "@std/assert";
import type { Sample } from "../../lib/admin/history.ts";
import { healthOf, savingOf } from "../../lib/admin/words.ts";
import { BackendCounters } from "../../lib/observe/mod.ts";
import type { BackendReport } from "../../lib/upstream/mod.ts";

const READY = { ready: true, reason: "", last: undefined };

function backend(name: string, rest: Partial<BackendReport> = {}): BackendReport {
  return {
    counters: new BackendCounters(name),
    trouble: "",
    standing: "healthy",
    why: "",
    ...rest,
  };
}

function sample(hit: number, rest: Partial<Sample> = {}): Sample {
  const calls = { hit, joined: 0, led: 0, passed: 0, stale: 0, rejected: 0 };
  const gauges = { waiters: 0, flights: 0, lagMs: 0, failed: 0, backendCalls: 0, backends: [] };
  return { atMs: 0, calls, ...gauges, ...rest };
}

Deno.test("healthOf says in a sentence how it is", () => {
  const cases: [readonly BackendReport[], Partial<typeof READY> | object, string, string][] = [
    [[backend("a")], {}, "healthy", "Healthy: the backend is reachable"],
    [[backend("a"), backend("b")], {}, "healthy", "Healthy: 2 of 2 backends take calls"],
    [
      [backend("a"), backend("b", { standing: "ejected", why: "5 calls in a row failed" })],
      {},
      "degraded",
      "Degraded: 1 of 2 backends take calls; b is left out: 5 calls in a row failed",
    ],
    [
      [backend("a"), backend("b", { trouble: "refused" })],
      {},
      "degraded",
      "Degraded: 1 of 2 backends take calls; b cannot be reached: refused",
    ],
    [
      [backend("a", { trouble: "refused" })],
      { ready: false, reason: "the backend cannot be reached: refused" },
      "down",
      "Down: the backend cannot be reached: refused",
    ],
    [[backend("a")], { ready: false, reason: "shutting down" }, "ending", "Shutting down"],
    [
      [backend("a")],
      { last: sample(100, { failed: 12.5 }) },
      "degraded",
      "Degraded: 12.5 % of calls fail; the backend is reachable",
    ],
    [
      [backend("a")],
      { last: sample(100, { failed: 4 }) },
      "healthy",
      "Healthy: the backend is reachable",
    ],
  ];
  for (const [backends, state, want, words] of cases) {
    assertEquals(healthOf(backends, { ...READY, ...state }), { state: want, words });
  }
});

Deno.test("savingOf says what is saved, and never more than that", () => {
  assertEquals(savingOf(undefined), "No calls yet");
  assertEquals(savingOf(sample(0)), "No calls in the last seconds");
  const cases: [number, number, string][] = [
    [12_340, 41, "12,340 calls/s answered by 41 backend calls/s: 99.6 % saved"],
    [100_000, 1, "100,000 calls/s answered by 1 backend calls/s: 99.9 % saved"],
    [50, 0, "50 calls/s answered by 0 backend calls/s: 100 % saved"],
    [2.5, 4, "2.5 calls/s answered by 4 backend calls/s: 0 % saved"],
  ];
  for (const [calls, backendCalls, words] of cases) {
    assertEquals(savingOf(sample(calls, { backendCalls })), words);
  }
});
