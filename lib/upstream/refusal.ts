import type { RefusalReason } from "../observe/mod.ts";
import type { Failure } from "./failure.ts";

/** Failures of calls that no backend was given, for want of a place or of a backend. */
const REFUSALS: ReadonlySet<Failure["kind"]> = new Set([
  "pendingFull",
  "callerCrowded",
  "methodFull",
  "ejected",
  "queueTimeout",
  "unreachable",
  "draining",
]);

/** Whether a call with this failure was turned away: no backend has seen it. */
export function isRefusal(failure: Failure | undefined): boolean {
  return failure !== undefined && REFUSALS.has(failure.kind);
}

/** What a call that a backend was not given is counted as. */
export function refusalReason({ kind }: Failure): RefusalReason {
  switch (kind) {
    case "pendingFull":
    case "callerCrowded":
      return "pending_full";
    case "methodFull":
      return "method_full";
    case "ejected":
      return "ejected";
    case "queueTimeout":
      return "queue_timeout";
    default:
      return "unreachable";
  }
}
