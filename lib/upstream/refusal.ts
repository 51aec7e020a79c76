import type { RefusalReason } from "../observe/mod.ts";
import type { Failure } from "./failure.ts";

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
