import { ProtobufFields, WIRE_LENGTH, WIRE_VARINT } from "./protobuf_fields.ts";

/** HealthCheckRequest.service and HealthCheckResponse.status are both field 1. */
const FIELD = 1;
const TAG_SERVICE = FIELD << 3 | WIRE_LENGTH;
const TAG_STATUS = FIELD << 3 | WIRE_VARINT;

/** HealthCheckResponse.ServingStatus. */
const UNKNOWN = 0;
const SERVING = 1;
const NOT_SERVING = 2;

const encoder = new TextEncoder();
const strictDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Reads `service` from the body of a grpc.health.v1 HealthCheckRequest (health checking, "Service
 * Definition"); empty asks about the server as a whole. Unknown fields are skipped; of several
 * values the last counts.
 *
 * @returns undefined when the body is not protobuf, or the name is not UTF-8
 */
export function healthService(message: Uint8Array): string | undefined {
  const fields = new ProtobufFields(message);
  let service = "";
  while (fields.next()) {
    if (fields.field !== FIELD || fields.wireType !== WIRE_LENGTH) continue;
    const text = decodeUtf8(message.subarray(fields.start, fields.end));
    if (text === undefined) return undefined;
    service = text;
  }
  return fields.malformed ? undefined : service;
}

/** The body of a HealthCheckRequest. */
export function healthRequest(service: string): Uint8Array {
  const name = encoder.encode(service);
  // proto3 leaves out what has its default value.
  if (name.length === 0) return name;
  return Uint8Array.from([TAG_SERVICE, ...varintBytes(name.length), ...name]);
}

/** The body of a HealthCheckResponse: SERVING or NOT_SERVING. */
export function healthReply(serving: boolean): Uint8Array {
  return Uint8Array.of(TAG_STATUS, serving ? SERVING : NOT_SERVING);
}

/**
 * Reads `status` from the body of a HealthCheckResponse: 0 UNKNOWN, 1 SERVING, 2 NOT_SERVING,
 * 3 SERVICE_UNKNOWN, or a number not defined yet (proto3 enums are open). Only 1 means healthy.
 *
 * @returns undefined when the body is not protobuf
 */
export function healthStatus(message: Uint8Array): number | undefined {
  const fields = new ProtobufFields(message);
  let status = UNKNOWN;
  while (fields.next()) {
    if (fields.field === FIELD && fields.wireType === WIRE_VARINT) status = fields.varint;
  }
  return fields.malformed ? undefined : status;
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return strictDecoder.decode(bytes);
  } catch {
    // Bytes that are no UTF-8: the only way a fatal decoder fails.
    return undefined;
  }
}

function varintBytes(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 128)) bytes.push(rest % 128 + 0x80);
  bytes.push(rest);
  return bytes;
}
