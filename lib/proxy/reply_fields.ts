import { encodeGrpcMessage } from "../grpc/mod.ts";
import { encodeStateless, Field, FrameLog, OutputBuffer, writeLiteral } from "../wire/mod.ts";
import { type Failure, statusOfFailure } from "./failure.ts";
import type { Outcome } from "./counters.ts";

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

/** The same as a whole reply: HTTP 200 and the status in the only HEADERS ("Trailers-Only" in PROTOCOL-HTTP2). */
export function failureReply(failure: Failure): Field[] {
  return [STATUS_200, CONTENT_TYPE, ...failureTrailers(failure)];
}

/** A reply that is not gRPC's, for what is no gRPC call: an HTTP status and nothing else. */
export function httpReply(status: number): Field[] {
  return [new Field(":status", String(status))];
}

/** Ends a log with a failure, as trailers when something has been appended already, else as a whole reply. */
export function appendFailure(log: FrameLog, failure: Failure): void {
  const fields = log.end > 0 ? failureTrailers(failure) : failureReply(failure);
  log.appendHeaders(encodeStateless(fields), true);
}

/** A whole reply of ours with one message, already framed. */
export function messageReply(message: Uint8Array): FrameLog {
  const log = new FrameLog();
  log.appendHeaders(encodeStateless([STATUS_200, CONTENT_TYPE]), false);
  log.appendData(message, 0, message.length);
  log.appendHeaders(encodeStateless([new Field("grpc-status", "0")]), true);
  return log;
}

/** The bytes that say `x-collapser: OUTCOME` at the end of a stateless block. */
export function debugField(outcome: Outcome): Uint8Array {
  const out = new OutputBuffer();
  writeLiteral(out, new Field("x-collapser", outcome));
  return out.bytes.slice(0, out.length);
}
