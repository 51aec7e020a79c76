import { healthRequest, healthStatus, STATUS } from "../grpc/mod.ts";
import { joinData } from "./debug_log.ts";
import type { Exchange } from "./exchange.ts";
import type { Recovery } from "./outliers.ts";
import { OwnCall, type OwnCallWorld } from "./own_call.ts";

/** A backend that needs longer than this to say how it is is not well. */
const PATIENCE_MS = 1_000;

/** HealthCheckResponse.ServingStatus. */
const SERVING = 1;

/** Flag and length before the message. */
const PREFIX_BYTES = 5;

/** A question over grpc.health.v1 how a backend is; `answer` hears it once. */
export function healthProbe(
  world: OwnCallWorld,
  authority: string,
  answer: (recovery: Recovery) => void,
): OwnCall {
  const call = {
    path: "/grpc.health.v1.Health/Check",
    authority,
    message: healthRequest(""),
    patienceMs: PATIENCE_MS,
  };
  return new OwnCall(world, call, (exchange) => answer(recoveryOf(exchange)));
}

function recoveryOf({ status, failure, log }: Exchange): Recovery {
  if (failure !== undefined) return "ill";
  if (status === STATUS.unimplemented || status === STATUS.notFound) return "unknown"; // it keeps no health
  const isServing = status === STATUS.ok &&
    healthStatus(joinData(log).subarray(PREFIX_BYTES)) === SERVING;
  return isServing ? "well" : "ill";
}
