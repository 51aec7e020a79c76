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
  const rates = { good: hit, saved: hit, failed: 0, backendCalls: 0 };
  return { atMs: 0, calls, ...rates, waiters: 0, flights: 0, lagMs: 0, backends: [], ...rest };
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
  assertEquals(savingOf(sample(50, { good: 0, saved: 0 })), "50 calls/s, and no good answers");
  const cases: [good: number, saved: number, words: string][] = [
    [12_340, 12_299, "12,340 good answers/s, 12,299 of them without a backend call: 99.6 % saved"],
    [50, 50, "50 good answers/s, 50 of them without a backend call: 100 % saved"],
    [2.5, 0, "2.5 good answers/s, 0 of them without a backend call: 0 % saved"],
  ];
  for (const [good, saved, words] of cases) {
    assertEquals(savingOf(sample(100, { good, saved })), words);
  }
});
