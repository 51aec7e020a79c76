/**
 * A gRPC client for unary calls on our own client role ({@linkcode openClient}): thousands at once, a few microseconds
 * each, without a promise a call. Beside it the requests that measurements send, and the health probe.
 *
 * Invariants
 * - A call ends exactly once, with a gRPC status: the other side's, or one of ours when the connection was lost or
 *   refused (UNAVAILABLE), the deadline passed without a word (DEADLINE_EXCEEDED), the answer was no gRPC reply, or we
 *   closed (CANCELLED). Nothing is sent twice: what a real client would try again is counted as it came.
 * - A call's latency counts from when it was made, its wait for a stream included, or from the earlier time that its
 *   caller names.
 *
 * Refuses: streaming calls, and TLS for now.
 *
 * @module
 */
export { authorityOf } from "./authority.ts";
export type { ClientCall, Method } from "./call.ts";
export { type Client, openClient, type Reply, requestBody } from "./client.ts";
export { keyBodies, keyBody } from "./key_message.ts";
export { httpGet, probe, type ProbeResult, type ProbeTarget } from "./probe.ts";
