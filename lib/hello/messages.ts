/** The Hello messages as bytes, for clients that have no protobuf library. Field numbers are those of hello.proto. */

import { readFields, Writer } from "./protobuf_bytes.ts";

/** Method paths of hello.v1, as they stand in `:path`. */
export const HELLO_PATHS = {
  getGreeting: "/hello.v1.Hello/GetGreeting",
  listGreetings: "/hello.v1.Hello/ListGreetings",
  createGreeting: "/hello.v1.Hello/CreateGreeting",
  uploadGreetings: "/hello.v1.Hello/UploadGreetings",
  chat: "/hello.v1.Hello/Chat",
  reportCounts: "/hello.v1.Stats/ReportCounts",
} as const;

/** What a client can ask for; hello.proto says what each field does. */
export interface GreetingRequest {
  readonly name?: string;
  readonly delayMs?: number;
  readonly replyBytes?: number;
  readonly echoMetadata?: readonly string[];
  readonly failWith?: {
    readonly code: number;
    readonly message?: string;
    readonly details?: Uint8Array;
  };
  readonly count?: number;
  readonly intervalMs?: number;
}

export interface GreetingReply {
  readonly text: string;
  /** Number of the backend call that produced this reply. */
  readonly from: number;
  readonly metadata: Readonly<Record<string, string>>;
  readonly sequence: number;
}

export interface CountsReply {
  /** Calls by method path. */
  readonly calls: Readonly<Record<string, number>>;
  readonly total: number;
  readonly inFlight: number;
  readonly peakInFlight: number;
}

/** A hello.v1.GreetingRequest as message bytes, without gRPC's prefix. */
export function encodeGreetingRequest(request: GreetingRequest): Uint8Array {
  const writer = new Writer();
  if (request.name) writer.text(1, request.name);
  if (request.delayMs !== undefined) writer.varint(2, request.delayMs);
  if (request.replyBytes) writer.varint(3, request.replyBytes);
  for (const name of request.echoMetadata ?? []) writer.text(4, name);
  if (request.failWith) writer.bytes(5, encodeFailure(request.failWith));
  if (request.count !== undefined) writer.varint(6, request.count);
  if (request.intervalMs) writer.varint(7, request.intervalMs);
  return writer.finish();
}

/** Reads a hello.v1.GreetingReply. Throws a RangeError on bytes that are no message. */
export function decodeGreetingReply(bytes: Uint8Array): GreetingReply {
  const reply = { text: "", from: 0, metadata: {} as Record<string, string>, sequence: 0 };
  for (const field of readFields(bytes)) {
    if (field.number === 1) reply.text = field.text();
    else if (field.number === 2) reply.from = field.value;
    else if (field.number === 3) {
      const [name = "", value = ""] = entryOf(field.bytes).map((part) => part?.text());
      reply.metadata[name] = value;
    } else if (field.number === 5) reply.sequence = field.value;
  }
  return reply;
}

/** Reads a hello.v1.CountsReply, the answer to an empty request. Throws a RangeError on bytes that are no message. */
export function decodeCountsReply(bytes: Uint8Array): CountsReply {
  const reply = { calls: {} as Record<string, number>, total: 0, inFlight: 0, peakInFlight: 0 };
  for (const field of readFields(bytes)) {
    if (field.number === 1) {
      const [path, calls] = entryOf(field.bytes);
      reply.calls[path?.text() ?? ""] = calls?.value ?? 0;
    } else if (field.number === 2) reply.total = field.value;
    else if (field.number === 3) reply.inFlight = field.value;
    else if (field.number === 4) reply.peakInFlight = field.value;
  }
  return reply;
}

function encodeFailure(failure: NonNullable<GreetingRequest["failWith"]>): Uint8Array {
  const writer = new Writer();
  writer.varint(1, failure.code);
  if (failure.message) writer.text(2, failure.message);
  if (failure.details?.length) writer.bytes(3, failure.details);
  return writer.finish();
}

/** Reads a map entry: a message whose field 1 is the key and whose field 2 is the value. */
function entryOf(bytes: Uint8Array) {
  const fields = readFields(bytes);
  return [fields.find((f) => f.number === 1), fields.find((f) => f.number === 2)] as const;
}
