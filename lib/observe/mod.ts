/**
 * What the data plane counts and tells.
 *
 * Numbers are plain fields ({@linkcode ProxyCounters}) that the hot path increments and that telemetry reads when it is
 * scraped. Events are calls of an observer ({@linkcode ProxyObserver}), rare by nature: a backend goes, a method is
 * judged, a peer breaks the protocol.
 *
 * Invariants:
 * - label sets are bounded, so that no caller makes them grow: what is beyond {@linkcode MAX_LABELS} is `other`;
 * - an observer that throws is contained, and costs nobody a connection.
 *
 * Pure, and knows nobody who counts or listens: no prom-client, no log.
 *
 * @module
 */
export { containedObserver } from "./contained_observer.ts";
export * from "./counters.ts";
export * from "./latency_histogram.ts";
export * from "./trial_counters.ts";
export {
  type CallObserver,
  type ProxyObserver,
  SILENT,
  type UpstreamObserver,
} from "./observer.ts";
