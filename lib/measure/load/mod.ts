/**
 * Load: the calls of one plan, as many at once or a second as it says, and a tally of how they end ({@linkcode
 * LoadRun}). {@linkcode runLoad} is such a run with a report.
 *
 * Invariants
 * - An open loop makes its calls at their times whatever comes back: the number of callers does not hold it back. A
 *   call's latency counts from when it was due, however late the generator was with it.
 * - The latencies reported are those of calls that ended with OK.
 * - What a backend counted is what the backend itself says, never what follows from the callers' side.
 *
 * Exit codes of {@linkcode runLoad}: 0 when every call was answered with OK, 1 when one was not, whatever the reason.
 *
 * Refuses: to know how calls were spared; it repeats what the sidecar says of each.
 *
 * @module
 */
export { type Arrivals, poissonGaps, randomFrom } from "./arrivals.ts";
export { Pacer, PACER_CLOCK, type PacerClock } from "./pacer.ts";
export { backendText, countsText, latencyText, sorted } from "./report.ts";
export { type LoadPlan, LoadRun } from "./run.ts";
export { type BackendCount, type LoadOptions, runLoad } from "./run_load.ts";
export { Tally } from "./tally.ts";
