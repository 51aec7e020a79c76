import type { Freshness } from "../freshness/mod.ts";

/**
 * How far a method's answers are shared (COLLAPSER_MODE): not at all, on paper alone, with a sample asked for once more,
 * or without.
 */
export const MODES = ["off", "shadow", "verify", "collapse"] as const;
export type Mode = typeof MODES[number];

/** Classes of calls where there are too many, the first to be served first. */
export const PRIORITIES = ["critical", "high", "normal", "low", "background"] as const;
export type Priority = typeof PRIORITIES[number];

/** What the `collapser` object of a policy file's entry says of its methods; what it leaves out is as for all methods. */
export interface CollapserPolicy extends Partial<Freshness> {
  readonly mode?: Mode;
  /** Whether calls may share an answer, whatever COLLAPSER_METHODS says. */
  readonly collapse?: boolean;
  /** Names, in lower case, of the metadata that alone is part of the key. */
  readonly keyHeaders?: readonly string[];
  /** Names, in lower case, that are left out of the key beside those that always are. */
  readonly ignoreHeaders?: readonly string[];
  /** Whether a call of a method that does not collapse makes older results stale. */
  readonly invalidates?: boolean;
  readonly joinMaxAgeMs?: number;
  readonly maxFollowers?: number;
  readonly maxMessageBytes?: number;
  /** Share of the calls answered with another's answer that is asked for once more. */
  readonly verifyRatio?: number;
  /** Fields that may differ between answers that say the same: `3.1`, or `stamp.made`. */
  readonly ignoreFields?: readonly string[];
  readonly priority?: Priority;
  /** Whether results are shared with other replicas (COLLAPSER_SHARED_CACHE). */
  readonly shared?: boolean;
  /** Which calls are written to the access log (COLLAPSER_ACCESS_LOG). */
  readonly accessLog?: "off" | "errors" | "slow" | "all";
}

/** One name of an entry of the policy file, and what the entry says. "" stands for all services, and for all methods of one. */
export interface NamedPolicy {
  readonly service: string;
  readonly method: string;
  /** Which entry of `methodConfig` it is, from 0, and the line that the entry begins on, from 1; for those who explain. */
  readonly entry?: number;
  readonly line?: number;
  /** Undefined for an entry that has no such object: then the one of a broader entry holds. */
  readonly collapser?: CollapserPolicy;
  /** Calls of the method at one backend at once, those that wait there included. */
  readonly maxConcurrent?: number;
  /** What the backend of a shared call is told at most (gRPC's own `timeout`), in ms. */
  readonly timeoutMs?: number;
}
