/**
 * Where grpc-js, proto-loader and protobufjs enter. Nothing else in `lib/` imports them.
 *
 * grpc-js wants serializers that return a `Buffer`; those of proto-loader do. Both `@grpc/reflection` and
 * `grpc-health-check` read their .proto files from their own folder while they run, which a bundled or compiled
 * program does not have; the two services are therefore written here, over these libraries.
 */

export { Metadata, Server, ServerCredentials, status } from "@grpc/grpc-js";
export type {
  sendUnaryData,
  ServerDuplexStream,
  ServerErrorResponse,
  ServerReadableStream,
  ServerUnaryCall,
  ServerWritableStream,
  ServiceDefinition,
  UntypedServiceImplementation,
} from "@grpc/grpc-js";
export { fromJSON as packageFromJson } from "@grpc/proto-loader";
export { default as protobuf } from "protobufjs";
export { default as descriptors } from "protobufjs/ext/descriptor/index.js";
export type { IDescriptorProto, IFileDescriptorProto } from "protobufjs/ext/descriptor/index.js";
