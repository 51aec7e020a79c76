/**
 * HPACK a second time (RFC 7541): plain lists, no memory of what was seen before, nothing fast. Of `lib/` it has the
 * static table and the Huffman code, which have tests against the RFC's own tables.
 *
 * @module
 */

import { huffmanDecode, huffmanEncode, huffmanLength } from "../../../lib/wire/huffman.ts";
import { latin1 } from "../../../lib/wire/mod.ts";
import { STATIC_TABLE } from "../../../lib/wire/static_table.ts";
import { ascii } from "../../support/frames.ts";
import type { Draws } from "../draws.ts";

const DEFAULT_TABLE_BYTES = 4_096;

/** RFC 7541 §4.1. */
const ENTRY_OVERHEAD_BYTES = 32;

/** Numbers that the decoder under test takes (§5.1 leaves it to the implementation). */
const MAX_INTEGER = 2 ** 28;
const MAX_CONTINUATIONS = 5;

/** One field; a sensitive one is never indexed. */
export interface ModelField {
  readonly name: string;
  readonly value: string;
  readonly sensitive?: boolean;
}

/** A table, for either end. */
export class ModelTable {
  /** The newest first. */
  entries: ModelField[] = [];
  maxBytes = DEFAULT_TABLE_BYTES;

  get(index: number): ModelField | undefined {
    if (index < 1) return undefined;
    const fixed = STATIC_TABLE[index - 1];
    if (fixed !== undefined) return { name: fixed[0], value: fixed[1] };
    return this.entries[index - 1 - STATIC_TABLE.length];
  }

  /** The indexes of everything that `matches`. */
  indexesOf(matches: (field: ModelField) => boolean): number[] {
    const found: number[] = [];
    for (let index = 1; index <= STATIC_TABLE.length + this.entries.length; index++) {
      if (matches(this.get(index)!)) found.push(index);
    }
    return found;
  }

  insert({ name, value }: ModelField): void {
    this.entries.unshift({ name, value });
    this.resize(this.maxBytes);
  }

  /** From the oldest on, entries are dropped until the rest fits (§4.3, §4.4). */
  resize(maxBytes: number): void {
    this.maxBytes = maxBytes;
    let bytes = this.entries.reduce((sum, field) => sum + sizeOf(field), 0);
    while (bytes > maxBytes) bytes -= sizeOf(this.entries.pop()!);
  }
}

export function sizeOf({ name, value }: ModelField): number {
  return name.length + value.length + ENTRY_OVERHEAD_BYTES;
}

/** What became of a block. */
export type ModelBlock = { readonly fields: ModelField[] } | { readonly broken: string };

/** Decodes, and holds an encoder to the table size that its peer allows. */
export class ModelDecoder {
  readonly table = new ModelTable();
  #allowedBytes = DEFAULT_TABLE_BYTES;
  /** The smallest allowance since the last block, while it is below the table's size. */
  #owedBytes: number | undefined = undefined;
  #bytes: Uint8Array = new Uint8Array(0);
  #at = 0;

  /** A SETTINGS_HEADER_TABLE_SIZE was sent to the encoder, and has reached it (§4.2). */
  allow(bytes: number): void {
    this.#allowedBytes = bytes;
    if (bytes < this.table.maxBytes) this.#owedBytes = Math.min(bytes, this.#owedBytes ?? bytes);
  }

  decode(bytes: Uint8Array): ModelBlock {
    this.#bytes = bytes;
    this.#at = 0;
    const fields: ModelField[] = [];
    try {
      while (this.#at < bytes.length) {
        const field = this.#representation(fields.length === 0);
        if (field !== undefined) fields.push(field);
      }
    } catch (error) {
      if (error instanceof Broken) return { broken: error.message };
      throw error;
    }
    return { fields };
  }

  #representation(isFirst: boolean): ModelField | undefined {
    const first = this.#bytes[this.#at]!;
    const isUpdate = (first & 0xe0) === 0x20;
    if (!isUpdate && this.#owedBytes !== undefined) throw new Broken("no size update");
    if (isUpdate) {
      if (!isFirst) throw new Broken("a size update after a field");
      this.#sizeUpdate(this.#integer(5));
      return undefined;
    }
    if ((first & 0x80) !== 0) return this.#indexed(this.#integer(7));
    const inserts = (first & 0x40) !== 0;
    const sensitive = (first & 0xf0) === 0x10;
    const index = this.#integer(inserts ? 6 : 4);
    const name = index === 0 ? this.#text() : this.#indexed(index).name;
    const field = { name, value: this.#text(), sensitive };
    if (inserts) this.table.insert(field);
    return field;
  }

  #sizeUpdate(bytes: number): void {
    if (bytes > this.#allowedBytes) throw new Broken("a size update beyond what is allowed");
    if (this.#owedBytes !== undefined && bytes > this.#owedBytes) {
      throw new Broken("a size update that skips the smallest size");
    }
    this.#owedBytes = undefined;
    this.table.resize(bytes);
  }

  #indexed(index: number): ModelField {
    const field = this.table.get(index);
    if (field === undefined) throw new Broken(`index ${index}`);
    return { name: field.name, value: field.value };
  }

  #text(): string {
    const coded = (this.#byte() & 0x80) !== 0;
    this.#at--;
    const length = this.#integer(7);
    if (length > this.#bytes.length - this.#at) throw new Broken("a string that is cut off");
    const from = this.#at;
    this.#at += length;
    if (!coded) return latin1(this.#bytes, from, this.#at);
    const plain = new Uint8Array(length * 2);
    const decoded = huffmanDecode(this.#bytes, from, this.#at, plain);
    if (decoded < 0) throw new Broken("a broken code");
    return latin1(plain, 0, decoded);
  }

  #integer(bits: number): number {
    const most = 2 ** bits - 1;
    let value = this.#byte() & most;
    if (value < most) return value;
    for (let i = 0; i < MAX_CONTINUATIONS; i++) {
      const byte = this.#byte();
      value += (byte & 0x7f) * 2 ** (7 * i);
      if (value > MAX_INTEGER) break;
      if (byte < 0x80) return value;
    }
    throw new Broken("an integer out of bounds");
  }

  #byte(): number {
    const byte = this.#bytes[this.#at++];
    if (byte === undefined) throw new Broken("a block that is cut off");
    return byte;
  }
}

class Broken extends Error {}

/** Encodes each field in any of the ways that there are. */
export class ModelEncoder {
  readonly table = new ModelTable();
  readonly #draws: Draws;
  #out: number[] = [];

  constructor(draws: Draws) {
    this.#draws = draws;
  }

  encode(fields: readonly ModelField[]): Uint8Array {
    this.#out = [];
    while (this.#draws.chance(0.08)) {
      const bytes = this.#draws.pick([DEFAULT_TABLE_BYTES, 0, 64, 200, 1_000]);
      this.#integer(0x20, 5, bytes);
      this.table.resize(bytes);
    }
    for (const field of fields) this.#field(field);
    return Uint8Array.from(this.#out);
  }

  #field(field: ModelField): void {
    const draws = this.#draws;
    const { name, value, sensitive = false } = field;
    const whole = this.table.indexesOf((known) => known.name === name && known.value === value);
    if (!sensitive && whole.length > 0 && draws.chance(0.8)) {
      return this.#integer(0x80, 7, draws.pick(whole));
    }
    const inserts = !sensitive && draws.chance(0.6);
    const named = this.table.indexesOf((known) => known.name === name);
    const index = named.length > 0 && draws.chance(0.7) ? draws.pick(named) : 0;
    if (inserts) this.#integer(0x40, 6, index);
    else this.#integer(sensitive ? 0x10 : 0x00, 4, index);
    if (index === 0) this.#text(name);
    this.#text(value);
    if (inserts) this.table.insert(field);
  }

  #text(text: string): void {
    if (this.#draws.chance(0.5)) {
      const coded = new Uint8Array(huffmanLength(text));
      huffmanEncode(text, coded, 0);
      this.#integer(0x80, 7, coded.length);
      this.#out.push(...coded);
    } else {
      this.#integer(0x00, 7, text.length);
      this.#out.push(...ascii(text));
    }
  }

  /** Sometimes with more bytes than it needs, as it may be (§5.1). */
  #integer(first: number, bits: number, value: number): void {
    const most = 2 ** bits - 1;
    if (value < most) return void this.#out.push(first | value);
    this.#out.push(first | most);
    let rest = value - most;
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.#out.push(rest % 128 | 0x80);
    if (value < 128 && this.#draws.chance(0.1)) this.#out.push(rest | 0x80, 0x80, 0);
    else this.#out.push(rest);
  }
}
