import type { Fault } from "../connection/mod.ts";
import type { Side } from "./counters.ts";

/** What is told of connections and backends, apart from numbers. Implementations must neither throw nor wait. */
export interface UpstreamObserver {
  /** A peer broke the protocol, and its connection was closed. `remote` names the peer. */
  connectionFailed(side: Side, fault: Fault, remote: string): void;
  /** A peer says that it is going away, and that it is not for politeness' sake; `debug` is its own word. */
  goneAway(side: Side, said: { code: number; debug: string }, remote: string): void;
  /** A call was turned away from a backend; `why` is in words. */
  turnedAway(backend: string, why: string): void;
  /** What the backend's reflection has answered about a service could not be used; told once for each reason. */
  notDescribed(service: string, why: string): void;
  /** A backend can be reached from now on. */
  backendUp(backend: string): void;
  /** A backend cannot be reached; `why` is in words. */
  backendDown(backend: string, why: string): void;
  /** A backend takes no new connection, or has not answered on one for a while: told of each attempt. */
  backendUnreachable?(backend: string): void;
  /** A backend is left out for a while; `why` is in words. */
  backendEjected(backend: string, why: string): void;
  /** A backend that was left out is well again. */
  backendReturned(backend: string): void;
  /** Something of ours failed; nothing else is lost. */
  faultOfOurs(what: string, error: unknown): void;
}

/** What is told of callers' calls, apart from numbers. Implementations must neither throw nor wait. */
export interface CallObserver {
  /** A method is called for the first time; `mode` is how far its answers are shared where it is eligible. */
  methodJudged(method: string, verdict: { eligible: boolean; why: string }, mode: string): void;
  /**
   * The answers of a method were found to depend on who asks, by two callers that differed in these metadata names. With
   * `verify` its calls go apart from now on; in `shadow` they are apart.
   */
  dependsOnCaller(method: string, names: readonly string[], mode: "shadow" | "verify"): void;
  /** Calls of a method that does not collapse were equal and at the same time: told once for a method. */
  couldHaveCollapsed(method: string): void;
  /** Calls of an eligible method that differ in this metadata alone: told once for a name. */
  keptApartBy(method: string, metadataName: string): void;
}

/** All that the data plane tells people; numbers are in `ProxyCounters`. */
export interface ProxyObserver extends UpstreamObserver, CallObserver {}

/** An observer that says nothing. */
export const SILENT: ProxyObserver = {
  methodJudged() {},
  couldHaveCollapsed() {},
  keptApartBy() {},
  dependsOnCaller() {},
  connectionFailed() {},
  goneAway() {},
  turnedAway() {},
  notDescribed() {},
  backendUp() {},
  backendDown() {},
  backendEjected() {},
  backendReturned() {},
  faultOfOurs() {},
};
