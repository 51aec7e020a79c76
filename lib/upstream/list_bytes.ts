import type { Field, HeaderList } from "../wire/mod.ts";

/** The size of a list with the fields that belong to one call (RFC 9113 §6.5.2). */
export function listBytes(list: HeaderList, perCall: readonly Field[]): number {
  let bytes = list.size;
  for (const field of perCall) bytes += field.size;
  return bytes;
}
