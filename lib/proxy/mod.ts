/**
 * One call from caller to backend and back: sessions, calls, flights' backend calls, backends, and what is counted.
 *
 * A {@linkcode Proxy} holds the callers' connections and the backend. Each caller's stream is a `Call`: it waits for
 * its one message and then leads, joins, or is answered from what is stored; or it passes through. Whatever it reads,
 * its own reply or a shared one, is a `FrameLog` that is copied to its stream as its windows allow. A backend call is
 * an `Exchange`; that of a flight is owned by a `SharedCall`, that of a passed call by the call itself.
 *
 * Invariants:
 * - every failure becomes a gRPC status in `failure.ts`, and nowhere else;
 * - what belongs to one caller (its deadline, its leaving, its slowness) ends that caller's call alone;
 * - a backend call nobody waits for is cancelled; its flight is forgotten first;
 * - a call is sent again only when it provably reached nobody;
 * - each call has one outcome, counted when it is decided;
 * - a peer is not trusted to go on, to stop or to answer: a connection that does not begin, holds too much, fails and
 *   is not read, or owes an answer in silence is ended, with a bound next to the code that keeps it.
 *
 * Reads no environment, writes no log, knows no prom-client: it counts in plain fields and tells an observer. Whoever
 * looks at it (`Inspection`) pays for looking; calls do not notice.
 *
 * @module
 */
export * from "./counters.ts";
export { type Failure, type FailureStatus, statusOfFailure } from "./failure.ts";
export { type ProxyObserver, SILENT } from "./observer.ts";
export type { BackendEntry } from "./name_watch.ts";
export type {
  BackendReport,
  CallReport,
  FlightReport,
  Inspection,
  KeyReport,
  MethodReport,
  WaitingFor,
} from "./inspection.ts";
export type { MissedHint } from "./missed_sharing.ts";
export type { NamedPolicy } from "./method_table.ts";
export type { Routing } from "./placement.ts";
export type { ProxyEnvironment, ProxyOptions } from "./options.ts";
export { Proxy } from "./proxy.ts";
export { statusName } from "../grpc/mod.ts";
export { errorCodeName } from "../wire/mod.ts";
export type { Fault } from "../connection/mod.ts";
