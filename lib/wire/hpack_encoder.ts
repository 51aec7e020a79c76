import { copyBytes, putLatin1 } from "./bytes.ts";
import { DynamicTable } from "./dynamic_table.ts";
import type { Field } from "./field.ts";
import { huffmanEncode, huffmanLength } from "./huffman.ts";
import type { HeaderList } from "./header_list.ts";
import { DEFAULT_TABLE_BYTES } from "./hpack_decoder.ts";
import { OutputBuffer } from "./output_buffer.ts";

const STATIC_COUNT = 61;

/** Bit in the first byte of a literal without indexing: whoever passes the field on must not index it, either. */
const NEVER_INDEXED = 0x10;

/** A field larger than this share of the table would push out more than it saves. */
const MAX_TABLE_SHARE = 4;

/** Times a field must be met before it gets a place: what comes once (a request id) would push out what repeats. */
const USES_BEFORE_INDEXING = 2;

/** Where blocks are made whose length is not known before; calls never overlap. */
const scratch = new OutputBuffer();

/** Encodes header blocks against one peer's dynamic table (RFC 7541). */
export class HpackEncoder {
  #table = new DynamicTable();
  /** Insertion number of each field in the table; the newest is {@linkcode #inserted}. */
  #numbers = new Map<Field, number>();
  #inserted = 0;
  #maxTableBytes = DEFAULT_TABLE_BYTES;
  /** Smallest size since the last block, when a size update is owed (RFC 7541 §4.2), else -1. */
  #owedMinimum = -1;

  /** The peer's SETTINGS_HEADER_TABLE_SIZE; the next block begins by saying what we made of it. */
  setMaxTableBytes(bytes: number): void {
    const size = Math.min(bytes, DEFAULT_TABLE_BYTES);
    if (size === this.#maxTableBytes) return;
    this.#owedMinimum = this.#owedMinimum < 0 ? size : Math.min(this.#owedMinimum, size);
    this.#maxTableBytes = size;
    this.#evict(0);
  }

  /** Whether the next block, whoever encodes it, must begin with a size update. */
  get owesSizeUpdate(): boolean {
    return this.#owedMinimum >= 0;
  }

  /** Appends the size updates that are owed: the smallest size, then the present one (RFC 7541 §4.2). */
  writeSizeUpdate(out: OutputBuffer): void {
    if (this.#owedMinimum < 0) return;
    if (this.#owedMinimum < this.#maxTableBytes) writeInteger(out, 0x20, 5, this.#owedMinimum);
    writeInteger(out, 0x20, 5, this.#maxTableBytes);
    this.#owedMinimum = -1;
  }

  /** Appends one field. */
  write(out: OutputBuffer, field: Field): void {
    if (field.staticIndex > 0) return writeInteger(out, 0x80, 7, field.staticIndex);
    const number = this.#numbers.get(field);
    if (number !== undefined) {
      return writeInteger(out, 0x80, 7, STATIC_COUNT + 1 + this.#inserted - number);
    }
    if (!this.#deservesPlace(field)) return writeLiteral(out, field);
    writeInteger(out, 0x40, 6, field.staticName);
    if (field.staticName === 0) writeCodedString(out, field.name);
    writeCodedString(out, field.value);
    this.#insert(field);
  }

  #deservesPlace(field: Field): boolean {
    return !field.perCall && !field.sensitive && ++field.uses >= USES_BEFORE_INDEXING &&
      field.size * MAX_TABLE_SHARE <= this.#maxTableBytes;
  }

  #insert(field: Field): void {
    this.#evict(field.size);
    this.#table.push(field);
    this.#numbers.set(field, ++this.#inserted);
  }

  #evict(room: number): void {
    while (this.#table.length > 0 && this.#table.bytes + room > this.#maxTableBytes) {
      this.#numbers.delete(this.#table.drop());
    }
  }
}

/**
 * The list as a block of static entries and literals, which means the same on every connection whatever was
 * sent before. Made once for a list; `extra` are fields of one call, which come behind it.
 */
export function statelessBlock(list: HeaderList, extra: readonly Field[] = []): Uint8Array {
  const block = list.block ??= encodeStateless(list.fields);
  if (extra.length === 0) return block;
  scratch.clear();
  scratch.append(block, 0, block.length);
  writeStateless(scratch, extra);
  return takeScratch();
}

/** Fields that are in no list as a block of static entries and literals, which means the same on every connection. */
export function encodeStateless(fields: Iterable<Field>): Uint8Array {
  scratch.clear();
  writeStateless(scratch, fields);
  return takeScratch();
}

function takeScratch(): Uint8Array {
  const taken = scratch.bytes.slice(0, scratch.length);
  scratch.clear(); // else a long block's storage would be held
  return taken;
}

/** Appends fields as a block of static entries and literals, which means the same on every connection. */
export function writeStateless(out: OutputBuffer, fields: Iterable<Field>): void {
  for (const field of fields) {
    if (field.staticIndex > 0) writeInteger(out, 0x80, 7, field.staticIndex);
    else writeLiteral(out, field);
  }
}

/** Appends a field as a literal without indexing, or never indexed when it came so (RFC 7541 §6.2.2, §6.2.3). */
export function writeLiteral(out: OutputBuffer, field: Field): void {
  const start = field.traits.literal ??= startLiteral(field);
  const at = out.extend(start.length);
  copyBytes(start, 0, start.length, out.bytes, at);
  if (field.sensitive) out.bytes[at]! |= NEVER_INDEXED;
  writePlainString(out, field.value);
}

/** The bytes of a literal before its value, the same for all fields of the name. */
function startLiteral({ name, staticName }: Field): Uint8Array {
  const out = new OutputBuffer();
  writeInteger(out, 0x00, 4, staticName);
  if (staticName === 0) writePlainString(out, name);
  return out.bytes.slice(0, out.length);
}

/** Appends an integer with a prefix of `bits` under the pattern `first` (RFC 7541 §5.1). */
export function writeInteger(out: OutputBuffer, first: number, bits: number, value: number): void {
  const limit = (1 << bits) - 1;
  if (value < limit) return out.byte(first | value);
  out.byte(first | limit);
  let rest = value - limit;
  for (; rest >= 128; rest = Math.floor(rest / 128)) out.byte((rest % 128) | 0x80);
  out.byte(rest);
}

/** Appends a string uncoded, as literals are: whoever reads them is spared the work, and they are short. */
export function writePlainString(out: OutputBuffer, text: string): void {
  writeInteger(out, 0, 7, text.length);
  const at = out.extend(text.length);
  putLatin1(text, out.bytes, at);
}

/** Appends a string coded when that is shorter, as what goes into a table is: it is read once and used often. */
export function writeCodedString(out: OutputBuffer, text: string): void {
  const length = huffmanLength(text);
  if (length >= text.length) return writePlainString(out, text);
  writeInteger(out, 0x80, 7, length);
  const at = out.extend(length);
  huffmanEncode(text, out.bytes, at);
}
