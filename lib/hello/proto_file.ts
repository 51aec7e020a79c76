import { packageFromJson, protobuf, type ServiceDefinition } from "./grpc.ts";
import { encodeFileDescriptor } from "./descriptor.ts";

/** How messages look in code: camelCase names, plain numbers, every field there but the unset optional ones. */
const MESSAGE_SHAPE = { longs: Number, defaults: true, oneofs: true } as const;

/** A .proto file that has been read: what a server needs to serve and to describe it. */
export interface ProtoFile {
  /** The name by which reflection knows the file. */
  readonly name: string;
  /** The file as an encoded google.protobuf.FileDescriptorProto, options included. */
  readonly descriptor: Uint8Array;
  /** Full names of the services in it. */
  readonly serviceNames: readonly string[];
  /** Full names of all that it declares: services, methods, messages, enums. */
  readonly symbols: readonly string[];
  /** The definition that `Server.addService` takes. Throws when the file has no such service. */
  service(fullName: string): ServiceDefinition;
}

/** Reads the text of a .proto file that imports nothing. Throws on a text that does not parse. */
export function readProto(text: string, name: string): ProtoFile {
  // Reflection must show the names as they are written; code uses them in camelCase. Hence two readings.
  const { root: written } = protobuf.parse(text, { keepCase: true });
  written.resolveAll();
  const definitions = packageFromJson(protobuf.parse(text).root.toJSON(), MESSAGE_SHAPE);
  const objects = [...declared(written)];
  return {
    name,
    descriptor: encodeFileDescriptor(written, name),
    serviceNames: objects.filter((o) => o instanceof protobuf.Service).map(fullName),
    symbols: objects.map(fullName),
    service(fullName: string): ServiceDefinition {
      const definition = definitions[fullName];
      if (definition === undefined) {
        throw new TypeError(`Cannot find service ${fullName} in ${name}`);
      }
      return definition as ServiceDefinition;
    },
  };
}

function* declared(scope: protobuf.NamespaceBase): Generator<protobuf.ReflectionObject> {
  for (const object of scope.nestedArray) {
    const isPackage = !(object instanceof protobuf.Type || object instanceof protobuf.Service) &&
      object instanceof protobuf.Namespace;
    if (!isPackage) yield object;
    if (object instanceof protobuf.Service) yield* object.methodsArray;
    if (object instanceof protobuf.Namespace) yield* declared(object);
  }
}

/** The full name as reflection writes it: without the leading dot that protobufjs puts there. */
function fullName(object: protobuf.ReflectionObject): string {
  return object.fullName.slice(1);
}
