/**
 * The data plane, put together: callers on one side (`downstream`), backends on the other (`upstream`, `balance`), what
 * they share in between (`collapse`), and what people see of it ({@linkcode Inspection}).
 *
 * Invariants:
 * - each call has one outcome, one status and one duration, and each backend call one end;
 * - a drain loses no call: callers are told to go, and what is left at its end is told so (14);
 * - nor does the only backend's leaving: callers are told to go, and what it has not seen is refused as not begun;
 * - whoever looks at it pays for looking; calls do not notice.
 *
 * Reads no environment, writes no log, knows no prom-client: it counts in plain fields and tells an observer.
 *
 * @module
 */
export type {
  CallReport,
  FlightReport,
  Inspection,
  KeyReport,
  MethodReport,
  WaitingFor,
} from "./inspection.ts";
export {
  explainMethod,
  type KeyName,
  type KeyReason,
  type MethodExplanation,
} from "./explanation.ts";
export type { ProxyEnvironment, ProxyOptions } from "./options.ts";
export { Proxy } from "./proxy.ts";
