/**
 * Callers: their connections, their calls, and how a call is answered: shared with others, or passed through.
 *
 * Each caller's stream is a {@linkcode Call}: it waits for its one message and then leads, joins, or is answered from
 * what is stored; or it passes through. Whatever it reads, its own reply or a shared one, is a `FrameLog` that is copied
 * to its stream as its windows allow. The backend call of a flight is owned by a {@linkcode FlightCall}, that of a passed
 * call by a `Passthrough`.
 *
 * Invariants:
 * - what belongs to one caller (its deadline, its leaving, its slowness) ends that caller's call alone;
 * - a backend call nobody waits for is cancelled; its flight is forgotten first;
 * - each call has one outcome, counted when it is decided;
 * - a caller is not trusted to begin, to go on or to read: each wait and everything held for one has a bound, and so has
 *   what is held for all of them ({@linkcode BufferGuard}).
 *
 * Knows a backend as something that calls are started at ({@linkcode Upstream}): how many stand behind it, and which one
 * a call goes to, is nobody's business here.
 *
 * @module
 */
export { BufferGuard } from "./buffer_guard.ts";
export type { Call } from "./call.ts";
export type { CallLimits } from "./call_limits.ts";
export { CallerContexts } from "./caller_contexts.ts";
export { type CallerContext, CallerSession } from "./caller_session.ts";
export type { FlightCall } from "./flight_call.ts";
export { FlightTime } from "./flight_time.ts";
export {
  type CollapserPolicy,
  type Mode,
  MODES,
  type NamedPolicy,
  PRIORITIES,
  type Priority,
} from "./method_policy.ts";
export { type CommonSettings, type MethodSettings, SettingsCompiler } from "./method_settings.ts";
export { MethodTable, type MethodTableOptions } from "./method_table.ts";
export { type Holding, type MethodPolicy, PolicyIndex } from "./policy_index.ts";
export { type AgeOptions, ConnectionAge } from "./connection_age.ts";
export { type MissedHint, MissedSharing } from "./missed_sharing.ts";
export { Router, type RouterOptions } from "./request_route.ts";
