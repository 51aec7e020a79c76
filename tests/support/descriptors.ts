/** Field numbers of descriptor.proto and reflection.proto, as far as levels of methods go. */
const FIELD = { name: 1, package: 2, method: 2, options: 4, service: 6, file: 1, response: 4 };

/** The key of MethodOptions.idempotency_level, field 34: a varint in two bytes. */
const LEVEL_KEY = [0x90, 2];

/** client_streaming and server_streaming of a MethodDescriptorProto, fields 5 and 6, true. */
const CLIENT_STREAMING = [5 << 3, 1];
const SERVER_STREAMING = [6 << 3, 1];

const encoder = new TextEncoder();

/**
 * A ServerReflectionResponse with the one file that has this service, its methods by name with the number of their
 * idempotency level, and of those that stream. Everything in it takes less than 128 bytes.
 */
export function describe(
  service: string,
  levels: Readonly<Record<string, number>>,
  { streams = [], takeStreams = [] }: { streams?: string[]; takeStreams?: string[] } = {},
): Uint8Array {
  const dot = service.lastIndexOf(".");
  const methods = Object.entries(levels).flatMap(([name, level]) =>
    field(FIELD.method, [
      ...field(FIELD.name, name),
      ...field(FIELD.options, [...LEVEL_KEY, level]),
      ...(takeStreams.includes(name) ? CLIENT_STREAMING : []),
      ...(streams.includes(name) ? SERVER_STREAMING : []),
    ])
  );
  const described = [...field(FIELD.name, service.slice(dot + 1)), ...methods];
  const file = [
    ...field(FIELD.package, service.slice(0, Math.max(0, dot))),
    ...field(FIELD.service, described),
  ];
  return Uint8Array.from(field(FIELD.response, field(FIELD.file, file)));
}

function field(number: number, payload: readonly number[] | string): number[] {
  const bytes = typeof payload === "string" ? [...encoder.encode(payload)] : payload;
  if (bytes.length > 127) throw new RangeError(`Cannot describe so much: ${bytes.length} bytes`);
  return [number << 3 | 2, bytes.length, ...bytes];
}
