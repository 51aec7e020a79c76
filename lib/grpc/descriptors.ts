import { ProtobufFields, WIRE_LENGTH, WIRE_VARINT } from "./protobuf_fields.ts";

/** What a method's descriptor says of calling it more than once (descriptor.proto, MethodOptions.IdempotencyLevel). */
export type IdempotencyLevel = "unknown" | "no_side_effects" | "idempotent";

/** What a method's descriptor says of it. */
export interface MethodDescriptor {
  readonly level: IdempotencyLevel;
  /** Callers may send several messages (client_streaming). */
  readonly takesStream: boolean;
  /** Answers may be several messages (server_streaming). */
  readonly streams: boolean;
}

/** The levels by their numbers; any other number is one that is not defined yet. */
const LEVELS: readonly IdempotencyLevel[] = ["unknown", "no_side_effects", "idempotent"];

/** Field numbers of descriptor.proto. */
const FILE = { package: 2, service: 6 } as const;
const SERVICE = { name: 1, method: 2 } as const;
const METHOD = { name: 1, options: 4, clientStreaming: 5, serverStreaming: 6 } as const;
const OPTIONS = { idempotencyLevel: 34 } as const;

/** Field numbers of reflection.proto, the same in grpc.reflection.v1 and v1alpha. */
const REQUEST = { fileContainingSymbol: 4 } as const;
const RESPONSE = { fileDescriptorResponse: 4 } as const;
const FILE_RESPONSE = { fileDescriptorProto: 1 } as const;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The body of a ServerReflectionRequest for the file that has this symbol. Its name takes less than 128 bytes, or is cut. */
export function reflectionRequest(symbol: string): Uint8Array {
  const name = encoder.encode(symbol).subarray(0, 127);
  return Uint8Array.from([REQUEST.fileContainingSymbol << 3 | WIRE_LENGTH, name.length, ...name]);
}

/**
 * What a ServerReflectionResponse says of the methods of one service, by their names; undefined when it does not
 * describe it, or is no such response.
 */
export function methodsIn(
  response: Uint8Array,
  service: string,
): ReadonlyMap<string, MethodDescriptor> | undefined {
  for (const files of messages(response, RESPONSE.fileDescriptorResponse)) {
    for (const file of messages(files, FILE_RESPONSE.fileDescriptorProto)) {
      const inPackage = text(file, FILE.package);
      for (const described of messages(file, FILE.service)) {
        const name = text(described, SERVICE.name);
        if ((inPackage === "" ? name : `${inPackage}.${name}`) === service) {
          return methods(described);
        }
      }
    }
  }
  return undefined;
}

function methods(service: Uint8Array): ReadonlyMap<string, MethodDescriptor> {
  const found = new Map<string, MethodDescriptor>();
  for (const method of messages(service, SERVICE.method)) {
    let level = 0;
    for (const options of messages(method, METHOD.options)) {
      level = number(options, OPTIONS.idempotencyLevel) ?? level;
    }
    found.set(text(method, METHOD.name), {
      level: LEVELS[level] ?? "unknown",
      takesStream: number(method, METHOD.clientStreaming) === 1,
      streams: number(method, METHOD.serverStreaming) === 1,
    });
  }
  return found;
}

/** The last value of a field that is a varint; undefined when it has none. */
function number(bytes: Uint8Array, field: number): number | undefined {
  let found: number | undefined;
  const fields = new ProtobufFields(bytes);
  while (fields.next()) {
    if (fields.field === field && fields.wireType === WIRE_VARINT) found = fields.varint;
  }
  return found;
}

/** The payloads of one field, as far as the bytes are protobuf. */
export function* messages(bytes: Uint8Array, field: number): Generator<Uint8Array> {
  const fields = new ProtobufFields(bytes);
  while (fields.next()) {
    if (fields.field !== field || fields.wireType !== WIRE_LENGTH) continue;
    yield bytes.subarray(fields.start, fields.end);
  }
}

/** The last value of a text field; "" when it has none. */
export function text(bytes: Uint8Array, field: number): string {
  let found = "";
  for (const value of messages(bytes, field)) found = decoder.decode(value);
  return found;
}
