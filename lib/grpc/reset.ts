import { STATUS } from "./status.ts";

/**
 * Status by HTTP/2 error code 0x0 to 0xc (RFC 9113 §7), after the table in PROTOCOL-HTTP2 "Errors".
 * It has no row for STREAM_CLOSED, "as there is no open stream to propagate to"; where a caller
 * does wait, the two ends disagree about the stream, which is INTERNAL like every framing fault.
 */
const STATUS_BY_ERROR_CODE: readonly number[] = [
  STATUS.internal, // NO_ERROR: in place of a status even this is a fault
  STATUS.internal, // PROTOCOL_ERROR
  STATUS.internal, // INTERNAL_ERROR
  STATUS.internal, // FLOW_CONTROL_ERROR
  STATUS.internal, // SETTINGS_TIMEOUT
  STATUS.internal, // STREAM_CLOSED
  STATUS.internal, // FRAME_SIZE_ERROR
  STATUS.unavailable, // REFUSED_STREAM: nothing was processed, safe to send again
  STATUS.cancelled, // CANCEL
  STATUS.internal, // COMPRESSION_ERROR
  STATUS.internal, // CONNECT_ERROR
  STATUS.resourceExhausted, // ENHANCE_YOUR_CALM
  STATUS.permissionDenied, // INADEQUATE_SECURITY
];

/**
 * The gRPC status of a call that ended with RST_STREAM in place of a status, by the HTTP/2 error
 * code in it. Codes the document does not list (HTTP_1_1_REQUIRED and everything above) are
 * UNKNOWN, as http-grpc-status-mapping has it for all that it does not list.
 */
export function statusOfReset(errorCode: number): number {
  return STATUS_BY_ERROR_CODE[errorCode] ?? STATUS.unknown;
}
