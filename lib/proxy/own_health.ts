import { frameMessage, healthReply, healthService } from "../grpc/mod.ts";
import type { FrameLog } from "../wire/mod.ts";
import { messageReply } from "./reply_fields.ts";

/** Name of the service under which the sidecar tells its own health (grpc.health.v1). */
const OWN_SERVICE = "collapser";

const PREFIX_BYTES = 5;

/** The reply when a framed HealthCheckRequest asks about the sidecar itself, else undefined. */
export function ownHealthReply(framed: Uint8Array, isServing: boolean): FrameLog | undefined {
  const isCompressed = framed[0] !== 0; // nobody compresses a name, and we do not decompress
  if (isCompressed || healthService(framed.subarray(PREFIX_BYTES)) !== OWN_SERVICE) {
    return undefined;
  }
  return messageReply(frameMessage(healthReply(isServing)));
}
