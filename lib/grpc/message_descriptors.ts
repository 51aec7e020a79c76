import { messages, text } from "./descriptors.ts";
import { ProtobufFields, WIRE_VARINT } from "./protobuf_fields.ts";

/** Field numbers of descriptor.proto. */
const FILE = { package: 2, message: 4, service: 6 } as const;
const MESSAGE = { name: 1, field: 2, nested: 3 } as const;
const FIELD = { name: 1, number: 3, typeName: 6 } as const;
const SERVICE = { name: 1, method: 2 } as const;
const METHOD = { name: 1, output: 3 } as const;

/** Field numbers of reflection.proto, the same in grpc.reflection.v1 and v1alpha. */
const RESPONSE = { fileDescriptorResponse: 4 } as const;
const FILE_RESPONSE = { fileDescriptorProto: 1 } as const;

/** Messages within messages that are read; real files have two or three. */
const MAX_DEPTH = 16;

/** What a descriptor says of one field of a message. */
export interface FieldDescriptor {
  readonly number: number;
  /** Full name of its message type, when it is a message (or of its enum type, in which nothing is found). */
  readonly message?: string;
}

/** The messages and methods that a ServerReflectionResponse describes. */
export interface MessageDescriptors {
  /** Fields by name, of message types by their full name (`pkg.Outer.Inner`). */
  readonly messages: ReadonlyMap<string, ReadonlyMap<string, FieldDescriptor>>;
  /** The message type that a method (`/pkg.Service/Method`) answers with. */
  readonly answers: ReadonlyMap<string, string>;
}

/** What a ServerReflectionResponse says of messages; nothing when it describes none, or is no such response. */
export function messagesIn(response: Uint8Array): MessageDescriptors {
  const found = new Map<string, ReadonlyMap<string, FieldDescriptor>>();
  const answers = new Map<string, string>();
  for (const files of messages(response, RESPONSE.fileDescriptorResponse)) {
    for (const file of messages(files, FILE_RESPONSE.fileDescriptorProto)) {
      const scope = text(file, FILE.package);
      for (const each of messages(file, FILE.message)) addMessage(found, each, { scope, depth: 0 });
      for (const service of messages(file, FILE.service)) addMethods(answers, service, scope);
    }
  }
  return { messages: found, answers };
}

function addMessage(
  found: Map<string, ReadonlyMap<string, FieldDescriptor>>,
  bytes: Uint8Array,
  { scope, depth }: { scope: string; depth: number },
): void {
  if (depth === MAX_DEPTH) return;
  const name = within(scope, text(bytes, MESSAGE.name));
  const fields = new Map<string, FieldDescriptor>();
  for (const field of messages(bytes, MESSAGE.field)) {
    const number = numberOf(field);
    const message = fullName(text(field, FIELD.typeName));
    fields.set(text(field, FIELD.name), message === "" ? { number } : { number, message });
  }
  found.set(name, fields);
  for (const nested of messages(bytes, MESSAGE.nested)) {
    addMessage(found, nested, { scope: name, depth: depth + 1 });
  }
}

function addMethods(answers: Map<string, string>, service: Uint8Array, scope: string): void {
  const name = within(scope, text(service, SERVICE.name));
  for (const method of messages(service, SERVICE.method)) {
    const path = `/${name}/${text(method, METHOD.name)}`;
    answers.set(path, fullName(text(method, METHOD.output)));
  }
}

function numberOf(field: Uint8Array): number {
  let number = 0;
  const fields = new ProtobufFields(field);
  while (fields.next()) {
    if (fields.field === FIELD.number && fields.wireType === WIRE_VARINT) number = fields.varint;
  }
  return number;
}

function within(scope: string, name: string): string {
  return scope === "" ? name : `${scope}.${name}`;
}

/** Compilers write full names with a dot in front (descriptor.proto, FieldDescriptorProto.type_name). */
function fullName(typeName: string): string {
  return typeName.startsWith(".") ? typeName.slice(1) : typeName;
}
