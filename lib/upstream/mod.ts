/**
 * One backend: its connections, the bulkhead around it, one exchange with it and how that fails.
 *
 * An {@linkcode Exchange} is one call to a backend: a request that is being sent and the log of its reply. An
 * {@linkcode Endpoint} is one address: a pool of connections that are opened before they are needed and replaced when
 * they go, and a bulkhead that bounds the calls under way and queues those that wait. Calls that the sidecar makes by
 * itself ({@linkcode InternalCall}: health, reflection) go the same way, and take no place from callers.
 *
 * Invariants:
 * - every failure becomes a gRPC status in `failure.ts`, and nowhere else;
 * - every exchange ends once, and whoever has a stake in it (bulkhead, counters, the group, its owner) hears of it once;
 * - a call is sent again only when it provably reached nobody, and within a budget;
 * - a backend is not trusted to answer, to go on or to stop: each silence has a bound beside the code that keeps it.
 *
 * Knows nothing of flights, callers or other backends: whoever has several endpoints is an {@linkcode EndpointGroup} to it.
 *
 * @module
 */
export { authorityOf } from "./authority.ts";
export { Endpoint, type EndpointOptions } from "./endpoint.ts";
export type { EndpointGroup } from "./endpoint_group.ts";
export {
  type Backend,
  Exchange,
  type ExchangeOwner,
  type MayQueue,
  NO_DEADLINE,
  type PlacementKey,
  type Target,
  type Upstream,
} from "./exchange.ts";
export type { Lack } from "./place.ts";
export { type Failure, type FailureStatus, statusOfFailure } from "./failure.ts";
export { failureReply, failureTrailers } from "./failure_reply.ts";
export { type GatheredReply, NO_STATUS, type ReplySource } from "./gathered_reply.ts";
export { healthProbe, type Recovery } from "./health_probe.ts";
export { BackendInstances } from "./instances.ts";
export { INSTANCE_HEADER, type InternalCall } from "./internal_call.ts";
export { Reflection } from "./reflection.ts";
export { isRefusal } from "./refusal.ts";
export type { BackendReport, Standing } from "./report.ts";
export { SharedPool } from "./shared_pool.ts";
export type { UpstreamContext } from "./upstream_context.ts";
