import { frameMessage, healthReply, healthService, MESSAGE_PREFIX_BYTES } from "../grpc/mod.ts";
import type { FrameLog } from "../wire/mod.ts";
import { messageReply } from "./own_reply.ts";

/** Name of the service under which the sidecar tells its own health (grpc.health.v1). */
const OWN_SERVICE = "collapser";

/** The reply when a framed HealthCheckRequest asks about the sidecar itself, else undefined. */
export function ownHealthReply(framed: Uint8Array, isServing: boolean): FrameLog | undefined {
  const isCompressed = framed[0] !== 0; // nobody compresses a name, and we do not decompress
  if (isCompressed || healthService(framed.subarray(MESSAGE_PREFIX_BYTES)) !== OWN_SERVICE) {
    return undefined;
  }
  return messageReply(frameMessage(healthReply(isServing)));
}
