import { encodeGrpcMessage } from "../grpc/mod.ts";
import { encodeStateless, Field, type FrameLog } from "../wire/mod.ts";
import { type Failure, statusOfFailure } from "./failure.ts";

const STATUS_200 = new Field(":status", "200");
const CONTENT_TYPE = new Field("content-type", "application/grpc");

/** Trailers that say what failed. */
export function failureTrailers(failure: Failure): Field[] {
  const { code, message } = statusOfFailure(failure);
  return [
    new Field("grpc-status", String(code)),
    new Field("grpc-message", encodeGrpcMessage(message)),
  ];
}

/** A whole reply that says what failed: HTTP 200 and the status in the only HEADERS ("Trailers-Only" in PROTOCOL-HTTP2). */
export function failureReply(failure: Failure): Field[] {
  return [STATUS_200, CONTENT_TYPE, ...failureTrailers(failure)];
}

/** Ends a log with a failure, as trailers when something has been appended already, else as a whole reply. */
export function appendFailure(log: FrameLog, failure: Failure): void {
  const fields = log.end > 0 ? failureTrailers(failure) : failureReply(failure);
  log.appendHeaders(encodeStateless(fields), true);
}
