import type { Field, HeaderList } from "../wire/mod.ts";
import { CONTROL_FIELDS } from "../collapse/mod.ts";
import { differingNames } from "../trust/mod.ts";

/** With what somebody asked: the list of fields that calls have in common, and those of this call alone. */
export interface Asker {
  readonly list: HeaderList;
  readonly perCall: readonly Field[];
}

/** The names of metadata in which two askers of one question differ, never a value; what only the sidecar reads is none. */
export function namesThatDiffer(one: Asker, other: Asker): readonly string[] {
  if (one.list === other.list && one.perCall.length === 0 && other.perCall.length === 0) return [];
  return differingNames(metadataOf(one), metadataOf(other));
}

function metadataOf({ list, perCall }: Asker): readonly Field[] {
  return [...list.fields, ...perCall].filter(({ name }) => !CONTROL_FIELDS.has(name));
}
