import { equalBytes, latin1 } from "./bytes.ts";
import { DynamicTable } from "./dynamic_table.ts";
import { type Field, isClean } from "./field.ts";
import type { HeaderCache, KnownName } from "./header_cache.ts";
import type { HeaderList } from "./header_list.ts";
import { huffmanDecode } from "./huffman.ts";

/** The dynamic table that is ours to size, and the default of the protocol (RFC 9113 §6.5.2). */
export const DEFAULT_TABLE_BYTES = 4_096;

const STATIC_COUNT = 61;

/** Blocks remembered byte for byte: a backend's connection alternates between headers and trailers. */
const MEMO_SLOTS = 2;

/** Longest block remembered; comparing a longer one would cost as much as decoding it. */
const MEMO_BYTES = 256;

/** Largest integer read: beyond is no length or index that anybody means (RFC 7541 §5.1 leaves the limit to us). */
const MAX_INTEGER = 2 ** 28;

/**
 * The fields of most blocks that differ from call to call: none. Never written to, since whoever was given it may keep
 * it.
 */
const NO_FIELDS: readonly Field[] = [];

/** An integer never needs more continuation bytes than this below {@linkcode MAX_INTEGER}. */
const MAX_INTEGER_BYTES = 5;

const NOTHING = new Uint8Array(0);

/**
 * Where coded strings are decoded, for all connections: each is made a string before the next is read, and a peer's
 * longest would otherwise be held for as long as its connection.
 */
let scratch = NOTHING;

interface Memo {
  readonly bytes: Uint8Array;
  length: number;
  /** The table's version that the block was decoded against. */
  version: number;
  list: HeaderList;
}

/**
 * Decodes header blocks (RFC 7541) into interned lists. The result of a call is left in {@linkcode list} and
 * {@linkcode perCall} until the next one, since a result object a call would be garbage on the hot path.
 */
export class HpackDecoder {
  /** The fields decoded last, without those that differ from call to call. */
  list: HeaderList;
  /**
   * The fields decoded last that differ from call to call, in order. They may be kept: a block that has any gets an
   * array of its own.
   */
  perCall: readonly Field[] = NO_FIELDS;
  /** Why RFC 9113 §8 rejects the fields that are not in the list or stand in a wrong place; empty when it does not. */
  fault = "";
  /** The list outgrew `maxListBytes`; it was decoded, to keep the table right, but not kept. */
  tooLarge = false;

  #cache: HeaderCache;
  #maxListBytes: number;
  #table = new DynamicTable();
  #maxTableBytes = DEFAULT_TABLE_BYTES;
  #version = 0;
  #memos: Memo[] = [];
  #nextMemo = 0;

  // The block being read.
  #bytes: Uint8Array = NOTHING;
  #at = 0;
  #end = 0;
  #listBytes = 0;
  #sawRegular = false;
  #perCall: Field[] | undefined = undefined;
  /** The string read last is in Huffman code, and has no character that a value may not have. */
  #coded = false;
  #clean = false;

  constructor(cache: HeaderCache, options: { maxListBytes: number }) {
    this.#cache = cache;
    this.#maxListBytes = options.maxListBytes;
    this.list = cache.root;
  }

  /**
   * Decodes `bytes[from, to)`, a whole block. Returns "" or what breaks the compression (a connection error,
   * RFC 9113 §4.3).
   */
  decode(bytes: Uint8Array, from: number, to: number): string {
    this.perCall = NO_FIELDS;
    this.#perCall = undefined;
    this.fault = "";
    this.tooLarge = false;
    if (this.#recall(bytes, from, to)) return "";
    const version = this.#version;
    this.list = this.#cache.root;
    this.#bytes = bytes;
    this.#at = from;
    this.#end = to;
    this.#listBytes = 0;
    this.#sawRegular = false;
    const broken = this.#decodeAll();
    this.#bytes = NOTHING; // else an idle connection would hold what it once read into
    if (broken === "" && this.#version === version) this.#remember(bytes, from, to);
    return broken;
  }

  #recall(bytes: Uint8Array, from: number, to: number): boolean {
    const length = to - from;
    for (let i = 0; i < this.#memos.length; i++) {
      const memo = this.#memos[i]!;
      if (
        memo.length === length && memo.version === this.#version &&
        equalBytes(memo.bytes, 0, bytes, from, length)
      ) {
        this.list = memo.list;
        return true;
      }
    }
    return false;
  }

  #remember(bytes: Uint8Array, from: number, to: number): void {
    if (to - from > MEMO_BYTES || this.perCall.length > 0 || this.fault !== "" || this.tooLarge) {
      return;
    }
    const slot = this.#nextMemo;
    this.#nextMemo = (slot + 1) % MEMO_SLOTS;
    const memo = this.#memos[slot] ??= {
      bytes: new Uint8Array(MEMO_BYTES),
      length: 0,
      version: 0,
      list: this.list,
    };
    memo.bytes.set(bytes.subarray(from, to));
    memo.length = to - from;
    memo.version = this.#version;
    memo.list = this.list;
  }

  #decodeAll(): string {
    let sizeUpdates = true; // only at the beginning of a block (RFC 7541 §4.2)
    while (this.#at < this.#end) {
      const first = this.#bytes[this.#at]!;
      let broken: string;
      if (first >= 0x80) broken = this.#indexed();
      else if (first >= 0x40) broken = this.#literal(6, true, false);
      else if (first < 0x20) broken = this.#literal(4, false, first >= 0x10);
      else if (sizeUpdates) {
        broken = this.#sizeUpdate();
        if (broken !== "") return broken;
        continue;
      } else broken = "a table size update after a field";
      if (broken !== "") return broken;
      sizeUpdates = false;
    }
    return "";
  }

  #indexed(): string {
    const index = this.#integer(7);
    const field = this.#lookUp(index);
    if (field === undefined) return `the index ${index} of no entry`;
    this.#take(field);
    return "";
  }

  #literal(prefixBits: number, insert: boolean, sensitive: boolean): string {
    const index = this.#integer(prefixBits);
    if (index < 0) return "an integer out of bounds";
    let known: KnownName | undefined;
    if (index > 0) {
      const named = this.#lookUp(index);
      if (named === undefined) return `the index ${index} of no entry`;
      known = this.#cache.name(named.name);
    } else {
      known = this.#name();
      if (known === undefined) return "a broken field name";
    }
    const length = this.#stringLength();
    const value = length < 0 ? undefined : this.#string(length);
    if (value === undefined) return "a broken field value";
    const field = this.#cache.field(known, value, sensitive, this.#clean);
    if (insert) this.#insert(field);
    this.#take(field);
    return "";
  }

  #sizeUpdate(): string {
    const size = this.#integer(5);
    // RFC 7541 §6.3: never more than the protocol allows, which is what our SETTINGS said.
    if (size < 0 || size > DEFAULT_TABLE_BYTES) return `a table size update to ${size}`;
    this.#maxTableBytes = size;
    this.#version++;
    this.#evict(0);
    return "";
  }

  #lookUp(index: number): Field | undefined {
    if (index <= STATIC_COUNT) return this.#cache.staticFields[index - 1];
    return this.#table.get(index - STATIC_COUNT);
  }

  #insert(field: Field): void {
    this.#version++;
    this.#evict(field.size);
    if (field.size > this.#maxTableBytes) return; // RFC 7541 §4.4: it empties the table, and that is all
    this.#table.push(field);
  }

  #evict(room: number): void {
    while (this.#table.length > 0 && this.#table.bytes + room > this.#maxTableBytes) {
      this.#table.drop();
    }
  }

  #take(field: Field): void {
    this.#listBytes += field.size;
    if (this.#listBytes > this.#maxListBytes) {
      this.tooLarge = true;
      return;
    }
    // RFC 9113 §8.3: pseudo-header fields come before all others. A list checks its own order; only a field
    // that is left out of it would be missed there.
    if (field.perCall) {
      this.#sawRegular = true;
      if (field.fault !== "") this.fault = field.fault;
      if (this.#perCall === undefined) this.perCall = this.#perCall = [field];
      else this.#perCall.push(field);
      return;
    }
    if (this.#sawRegular && field.name.charCodeAt(0) === 0x3a) {
      this.fault = "a pseudo-header after a regular field";
    }
    this.list = this.#cache.extend(this.list, field);
  }

  /** An integer with a prefix of `bits` (RFC 7541 §5.1), or -1 when it is cut off or out of bounds. */
  #integer(bits: number): number {
    if (this.#at >= this.#end) return -1;
    const limit = (1 << bits) - 1;
    let value = this.#bytes[this.#at++]! & limit;
    if (value < limit) return value;
    for (let i = 0, scale = 1; i < MAX_INTEGER_BYTES; i++, scale *= 128) {
      if (this.#at >= this.#end) return -1;
      const byte = this.#bytes[this.#at++]!;
      value += (byte & 0x7f) * scale;
      if (value > MAX_INTEGER) return -1;
      if (byte < 0x80) return value;
    }
    return -1;
  }

  /** A name that is spelled out, or undefined when it is cut off or its coding broken. */
  #name(): KnownName | undefined {
    const length = this.#stringLength();
    if (length < 0) return undefined;
    const from = this.#at;
    const to = from + length;
    const coded = this.#coded;
    const met = this.#cache.nameSpelled(this.#bytes, from, to, coded);
    if (met !== undefined) {
      this.#at = to;
      return met;
    }
    const name = this.#string(length);
    if (name === undefined) return undefined;
    const known = this.#cache.name(name);
    this.#cache.spells(this.#bytes, from, to, { coded, known });
    return known;
  }

  /** The length of a string literal, or -1 when it is cut off; {@linkcode #coded} tells how it is written. */
  #stringLength(): number {
    if (this.#at >= this.#end) return -1;
    this.#coded = this.#bytes[this.#at]! >= 0x80;
    const length = this.#integer(7);
    return length <= this.#end - this.#at ? length : -1;
  }

  /** What is left of a string literal (RFC 7541 §5.2) after its length, or undefined when its coding is broken. */
  #string(length: number): string | undefined {
    let bytes = this.#bytes;
    let from = this.#at;
    let to = this.#at += length;
    if (this.#coded) {
      if (scratch.length < length * 2) scratch = new Uint8Array(Math.max(256, length * 2));
      to = huffmanDecode(bytes, from, to, scratch);
      if (to < 0) return undefined;
      bytes = scratch;
      from = 0;
    }
    this.#clean = isClean(bytes, from, to);
    return latin1(bytes, from, to);
  }
}
