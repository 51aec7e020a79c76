import { encodeStateless, Field, FrameLog } from "../wire/mod.ts";

const STATUS_200 = new Field(":status", "200");
const CONTENT_TYPE = new Field("content-type", "application/grpc");

/** A reply that is not gRPC's, for what is no gRPC call: an HTTP status and nothing else. */
export function httpReply(status: number): Field[] {
  return [new Field(":status", String(status))];
}

/** A whole reply of ours with one message, already framed. */
export function messageReply(message: Uint8Array): FrameLog {
  const log = new FrameLog();
  log.appendHeaders(encodeStateless([STATUS_200, CONTENT_TYPE]), false);
  log.appendData(message, 0, message.length);
  log.appendHeaders(encodeStateless([new Field("grpc-status", "0")]), true);
  return log;
}
