import { healthRequest, healthStatus, MESSAGE_PREFIX_BYTES, STATUS } from "../grpc/mod.ts";
import type { Exchange } from "./exchange.ts";
import { InternalCall, type InternalCallWorld } from "./internal_call.ts";

/** A backend that needs longer than this to say how it is is not well. */
const PATIENCE_MS = 1_000;

/** HealthCheckResponse.ServingStatus. */
const SERVING = 1;

/** What comes of an attempt to bring a backend back. */
export type Recovery = "well" | "ill" | "unknown";

/** A question over grpc.health.v1 how a backend is; `answer` hears it once. */
export function healthProbe(
  world: InternalCallWorld,
  authority: string,
  answer: (recovery: Recovery) => void,
): InternalCall {
  const call = {
    path: "/grpc.health.v1.Health/Check",
    authority,
    message: healthRequest(""),
    patienceMs: PATIENCE_MS,
  };
  return new InternalCall(world, call, (exchange) => answer(recoveryOf(exchange)));
}

/**
 * Only a backend that says so, or says nothing, is ill. Whatever else came of the question (it keeps no health, wants
 * credentials, has a proxy in front that knows no such path, cannot be reached) says nothing: a call will tell.
 */
function recoveryOf({ reply: { status, failure, log } }: Exchange): Recovery {
  if (failure !== undefined) return failure.kind === "deadline" ? "ill" : "unknown";
  if (status !== STATUS.ok) return "unknown";
  return healthStatus(log.data().subarray(MESSAGE_PREFIX_BYTES)) === SERVING ? "well" : "ill";
}
