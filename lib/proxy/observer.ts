import type { Fault } from "../connection/mod.ts";
import type { Side } from "./counters.ts";

/**
 * What the proxy tells people, apart from numbers ({@linkcode ProxyCounters}). Implementations must not throw and
 * must not wait.
 */
export interface ProxyObserver {
  /** A method is called for the first time. */
  methodJudged(method: string, verdict: { eligible: boolean; why: string }): void;
  /** Calls of a method that does not collapse were equal and at the same time: told once for a method. */
  couldHaveCollapsed(method: string): void;
  /** Calls of an eligible method that differ in this metadata alone: told once for a name. */
  keptApartBy(method: string, metadataName: string): void;
  /** A peer broke the protocol, and its connection was closed. `remote` names the peer. */
  connectionFailed(side: Side, fault: Fault, remote: string): void;
  /** A backend can be reached from now on. */
  backendUp(backend: string): void;
  /** It cannot; `why` is in words. */
  backendDown(backend: string, why: string): void;
  /** It is left out for a while; `why` is in words. */
  backendEjected(backend: string, why: string): void;
  /** It is well again. */
  backendReturned(backend: string): void;
  /** Something of ours failed; nothing else is lost. */
  faultOfOurs(what: string, error: unknown): void;
}

/** Hears everything and says nothing. */
export const SILENT: ProxyObserver = {
  methodJudged() {},
  couldHaveCollapsed() {},
  keptApartBy() {},
  connectionFailed() {},
  backendUp() {},
  backendDown() {},
  backendEjected() {},
  backendReturned() {},
  faultOfOurs() {},
};
