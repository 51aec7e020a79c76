/**
 * What gRPC adds to HTTP/2: message framing, status codes, timeouts, method paths, content types,
 * metadata rules, and the messages of its health and reflection services.
 *
 * Owns the rules of the gRPC documents and nothing else. Every rule names the document that makes
 * it: "PROTOCOL-HTTP2" is grpc/grpc doc/PROTOCOL-HTTP2.md, "http-grpc-status-mapping" is
 * doc/http-grpc-status-mapping.md, "health checking" is doc/health-checking.md.
 *
 * Invariants
 * - Pure and synchronous: text or bytes in, values out. No clock, no socket, no stream; the time
 *   left is an argument. The only state is a {@linkcode MessageScanner}, one per direction of a call.
 * - Nothing a peer sends makes anything here throw. What cannot be read is a value:
 *   `undefined`, or {@linkcode MALFORMED_TIMEOUT}, which is never a usable number of milliseconds.
 * - Bytes are looked at where they lie. The scanner copies and keeps none of them, and so does not
 *   bound them either: who buffers, bounds.
 * - A rule for reading is as wide as what real peers send, a rule for writing as narrow as the
 *   document.
 * - Header names are expected as HTTP/2 carries them, in lower case (RFC 9113 §8.2.1).
 *
 * Refuses: to change what passes. Timeouts, messages and metadata are judged here; relaying them
 * untouched is the caller's part. Compressed messages are never opened, and an application's own
 * messages neither: the protobuf read here is that of grpc.health.v1 (`health.ts`) and of
 * grpc.reflection with the descriptors it brings (`descriptors.ts`), and of those a few fields. The
 * walk over fields (`protobuf_fields.ts`) is lent to `trust`, which compares answers.
 *
 * @module
 */

export { type CacheDirectives, parseCacheControl } from "./cache_directives.ts";
export { acceptEncodingKey, isGrpcContentType } from "./content_type.ts";
export {
  type IdempotencyLevel,
  type MethodDescriptor,
  methodsIn,
  reflectionRequest,
} from "./descriptors.ts";
export { healthReply, healthRequest, healthService, healthStatus } from "./health.ts";
export { statusOfHttp } from "./http_status.ts";
export { frameMessage, isOneMessage, MESSAGE_PREFIX_BYTES, MessageScanner } from "./message.ts";
export {
  type FieldDescriptor,
  type MessageDescriptors,
  messagesIn,
} from "./message_descriptors.ts";
export { isIgnoredInKey } from "./metadata.ts";
export { splitMethod } from "./method.ts";
export { decodeGrpcMessage, encodeGrpcMessage } from "./percent.ts";
export { ProtobufFields, WIRE_LENGTH } from "./protobuf_fields.ts";
export { statusOfReset } from "./reset.ts";
export { parseStatus, STATUS, statusName } from "./status.ts";
export { formatTimeout, MALFORMED_TIMEOUT, parseTimeout } from "./timeout.ts";
