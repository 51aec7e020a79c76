import { descriptors, type IDescriptorProto, type IFileDescriptorProto, protobuf } from "./grpc.ts";

/**
 * The one file behind `root` as an encoded FileDescriptorProto named `name`.
 *
 * protobufjs makes a descriptor that it can read back itself but that stricter readers refuse: type names are
 * relative, map entries lack the suffix that descriptor.proto asks for, and proto3 `optional` is dropped. Those
 * three are put right here. Method options, `idempotency_level` among them, it keeps.
 */
export function encodeFileDescriptor(root: protobuf.Root, name: string): Uint8Array {
  // The typings of protobufjs leave out what its descriptor extension adds to Root.
  const { file: files } = (root as unknown as DescribedRoot).toDescriptor("proto3");
  const [file] = files;
  if (file === undefined || files.length > 1) {
    throw new TypeError(`Cannot describe ${name}: expected one package, got ${files.length}`);
  }
  file.name = name;
  for (const message of file.messageType ?? []) {
    complete(message, root.lookupType(`.${file.package}.${message.name}`));
  }
  return descriptors.FileDescriptorProto.encode(file).finish();
}

interface DescribedRoot {
  toDescriptor(edition: string): { file: IFileDescriptorProto[] };
}

/** Mends the descriptor of one message, given the message itself. */
function complete(message: IDescriptorProto, type: protobuf.Type): void {
  for (const entry of message.nestedType ?? []) {
    if (entry.options?.mapEntry) entry.name = `${entry.name}Entry`;
    else complete(entry, type.lookupType(entry.name!));
  }
  for (const field of message.field ?? []) {
    const declared = type.fields[field.name!];
    if (declared instanceof protobuf.MapField) {
      field.typeName = `${type.fullName}.${field.typeName}Entry`;
    } else if (declared?.resolvedType) {
      field.typeName = declared.resolvedType.fullName;
    }
    if (declared?.options?.proto3_optional) Object.assign(field, { proto3Optional: true });
  }
}
