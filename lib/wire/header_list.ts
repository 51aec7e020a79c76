import type { Field } from "./field.ts";

/**
 * A sequence of fields as a node of a trie: equal sequences are the same object, so whatever was worked out
 * for one (its validity, its key, its encoding) is found again on the object by the next call that sends it.
 * Walking to it costs a comparison a field where traffic repeats itself.
 */
export class HeaderList {
  readonly parent: HeaderList | undefined;
  readonly field: Field | undefined;
  /** Bytes as SETTINGS_MAX_HEADER_LIST_SIZE counts them. */
  readonly size: number;
  /** What the reader of this list made of it; wire never looks inside. */
  memo: unknown = undefined;
  /** Verdicts of the header rules, kept by `connection`: undefined is not asked yet, "" is legal. */
  requestFault: string | undefined = undefined;
  responseFault: string | undefined = undefined;
  trailersFault: string | undefined = undefined;
  /** The list as a stateless header block, once somebody asked for it. */
  block: Uint8Array | undefined = undefined;
  #fields: readonly Field[] | undefined = undefined;
  #lastChild: HeaderList | undefined = undefined;
  #children: Map<Field, HeaderList> | undefined = undefined;

  constructor(parent?: HeaderList, field?: Field) {
    this.parent = parent;
    this.field = field;
    this.size = (parent?.size ?? 0) + (field?.size ?? 0);
  }

  /** The fields in the order they were sent, those that differ from call to call left out. */
  get fields(): readonly Field[] {
    return this.#fields ??= collect(this);
  }

  /** The first value of a name. */
  get(name: string): string | undefined {
    return this.fields.find((field) => field.name === name)?.value;
  }

  /** The list that goes on with `field`, if it is known. */
  find(field: Field): HeaderList | undefined {
    const last = this.#lastChild;
    if (last !== undefined && last.field === field) return last;
    const found = this.#children?.get(field);
    if (found !== undefined) this.#lastChild = found;
    return found;
  }

  /** Makes `child`, whose parent this is, be found from now on. */
  attach(child: HeaderList): void {
    this.#children ??= new Map();
    this.#children.set(child.field!, child);
    this.#lastChild = child;
  }
}

function collect(list: HeaderList): readonly Field[] {
  const fields: Field[] = [];
  for (let at: HeaderList | undefined = list; at?.field !== undefined; at = at.parent) {
    fields.push(at.field);
  }
  return fields.reverse();
}
