import { Field, NameTraits } from "./field.ts";
import { HeaderList } from "./header_list.ts";
import { NameMemo } from "./name_memo.ts";
import { STATIC_TABLE } from "./static_table.ts";

/** Lists and values remembered before everything is forgotten at once; 4,096 lists are some 2 MiB. */
const MAX_REMEMBERED = 4_096;

/** Bytes of fields remembered before everything is forgotten; a peer chooses how long a value is. */
const MAX_REMEMBERED_BYTES = 4 * 2 ** 20;

/** Longest field remembered: nothing that repeats from call to call is longer but by intent. */
const MAX_FIELD_BYTES = 4_096;

/** Distinct names remembered; a backend's whole vocabulary is far smaller, and a scanner's is not worth keeping. */
const MAX_NAMES = 1_024;

/** A name, what the owner of the cache says of it, and the fields of that name met lately. */
export interface KnownName {
  readonly name: string;
  readonly perCall: boolean;
  readonly traits: NameTraits;
  readonly values: Map<string, Field>;
}

/**
 * Gives equal fields and equal lists one identity, for all connections of one role. It is a cache: forgetting
 * costs time, never correctness, so it forgets all at once when it is full.
 */
export class HeaderCache {
  /** Entry i is static index i + 1 (RFC 7541 Appendix A). */
  readonly staticFields: readonly Field[];
  root = new HeaderList();
  #isPerCall: (name: string) => boolean;
  #names = new Map<string, KnownName>();
  #spelled = new NameMemo<KnownName>();
  #remembered = 0;
  #rememberedBytes = 0;

  /** `isPerCall` names the fields whose values are expected to differ in each call; content-length always does. */
  constructor(isPerCall: (name: string) => boolean = () => false) {
    this.#isPerCall = isPerCall;
    this.staticFields = STATIC_TABLE.map(([name, value]) =>
      this.field(this.name(name), value, false)
    );
  }

  name(name: string): KnownName {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    const made = {
      name,
      perCall: name === "content-length" || this.#isPerCall(name),
      traits: new NameTraits(name),
      values: new Map<string, Field>(),
    };
    if (this.#names.size < MAX_NAMES) this.#names.set(name, made);
    return made;
  }

  /** The name that `bytes[from, to)` spell, in Huffman code when `coded`, if {@linkcode spells} has told it. */
  nameSpelled(bytes: Uint8Array, from: number, to: number, coded: boolean): KnownName | undefined {
    return this.#spelled.get(bytes, from, to, coded);
  }

  spells(
    bytes: Uint8Array,
    from: number,
    to: number,
    spelled: { coded: boolean; known: KnownName },
  ): void {
    const { known } = spelled;
    if (this.#names.get(known.name) === known) this.#spelled.set(bytes, from, to, spelled);
  }

  /** The field of a known name with `value`; `clean` is for {@linkcode Field}. */
  field(known: KnownName, value: string, sensitive: boolean, clean = false): Field {
    const { name, perCall, traits } = known;
    if (sensitive || perCall) return new Field(name, value, { sensitive, perCall, traits, clean });
    const met = known.values.get(value);
    if (met !== undefined) return met;
    const field = new Field(name, value, { traits, clean });
    if (this.#remembers(field)) known.values.set(value, field);
    return field;
  }

  /** The list that is `list` and then `field`. */
  extend(list: HeaderList, field: Field): HeaderList {
    const found = list.find(field);
    if (found !== undefined) return found;
    const made = new HeaderList(list, field);
    if (!field.sensitive && this.#remembers(field)) list.attach(made);
    return made;
  }

  /** The list of the names and values in `pairs`, for what is not read from a peer. */
  list(pairs: Iterable<readonly [name: string, value: string]>): HeaderList {
    let list = this.root;
    for (const [name, value] of pairs) {
      list = this.extend(list, this.field(this.name(name), value, false));
    }
    return list;
  }

  #remembers(field: Field): boolean {
    if (field.size > MAX_FIELD_BYTES) return false;
    if (this.#remembered >= MAX_REMEMBERED || this.#rememberedBytes >= MAX_REMEMBERED_BYTES) {
      this.#forget();
    }
    this.#remembered++;
    this.#rememberedBytes += field.size;
    return true;
  }

  #forget(): void {
    this.root = new HeaderList();
    for (const known of this.#names.values()) known.values.clear();
    this.#names.clear();
    this.#spelled.clear();
    // An index into the static table and the same as a literal stay one field.
    for (const field of this.staticFields) {
      if (!field.perCall) this.name(field.name).values.set(field.value, field);
    }
    this.#remembered = 0;
    this.#rememberedBytes = 0;
  }
}
