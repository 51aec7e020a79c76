/**
 * Everything that measures: load, the demo, the health probe, and the client they share.
 *
 * Owns a gRPC client for unary calls on our own client role ({@linkcode openClient}): thousands at once, a few
 * microseconds each, without a promise a call. A {@linkcode LoadRun} makes the calls of one plan and tallies how they
 * end; `runLoad` and `runDemo` are runs with a report, and `runTax` (in `tax/`) is many of them, made of several systems
 * in turn, whose differences are the result. A `StallRun` makes the calls of one plan through one way to the backends
 * while a fault is at one of them; `runStall` compares such ways.
 *
 * Invariants
 * - A call ends exactly once, with a gRPC status: the other side's, or one of ours when the connection was lost or
 *   refused (UNAVAILABLE), the deadline passed without a word (DEADLINE_EXCEEDED), the answer was no gRPC reply, or we
 *   closed (CANCELLED). Nothing is sent twice: what a real client would try again is counted as it came.
 * - A call's latency counts from when it was made, its wait for a stream included; in an open loop from when it was
 *   due, however late the generator was with it. The latencies reported are those of calls that ended with OK.
 * - An open loop makes its calls at their times whatever comes back: the number of callers does not hold it back.
 * - A percentile is right to within 1 %, the extremes exactly; memory does not grow with the number of calls.
 * - What the tax says a proxy adds is a difference within a round: whatever drifts meets both sides. What could not be
 *   measured is said to be missing, never guessed; a percentile that too few calls lie beyond is not told.
 * - Results go to standard output, progress to standard error and to a terminal alone.
 * - The ways that `runStall` compares get the same calls at the same times, and pools of the same size. A call counts
 *   where it was due, and as served when it was answered with OK by its deadline. What decides the numbers (deadline,
 *   load, pools, seed) stands beside them wherever they are written.
 * - What a backend counted is what the backend itself says, never what follows from the callers' side.
 *
 * Exit codes: 0 when every call was answered with OK, 1 when one was not, whatever the reason; of `runStall` 0 when it
 * could be measured.
 *
 * Refuses: streaming calls, TLS for now, and to know the demo backend, which `cli` hands in.
 *
 * @module
 */
export { type Client, type ClientOptions, openClient, type Reply, requestBody } from "./client.ts";
export type { ClientCall, Method } from "./client_call.ts";
export { type DemoBackend, type DemoOptions, type DemoParts, runDemo } from "./demo.ts";
export { Histogram } from "./histogram.ts";
export { keyBodies, keyBody } from "./key_message.ts";
export { type BackendCount, type LoadOptions, type LoadSurroundings, runLoad } from "./load.ts";
export { type LoadPlan, LoadRun } from "./load_run.ts";
export { picture } from "./picture.ts";
export { probe, type ProbeResult, type ProbeTarget } from "./probe.ts";
export type { Screen } from "./screen.ts";
export { measureBlast } from "./stall_blast.ts";
export { runStall, type StallOptions, type StallParts } from "./stall.ts";
export type { FaultName } from "./stall_fault.ts";
export type { SidecarWishes } from "./stall_systems.ts";
export { Tally } from "./tally.ts";
export type { BlastResult, BlastRow } from "./tax/blast.ts";
export type { TaxOptions, TaxSurroundings, TaxTarget } from "./tax/options.ts";
export { runTax } from "./tax/run_tax.ts";
