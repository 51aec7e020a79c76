import { isUtf8 } from "node:buffer";
import { ProtobufFields, WIRE_LENGTH } from "../grpc/mod.ts";
import type { IgnoredFields } from "./ignored_fields.ts";

/** How much one message may ask of a comparison: a backend chooses its size, its depth and its shape. */
export interface NormalFormLimits {
  /** Largest message read, in bytes; a larger one is compared by its bytes alone. */
  readonly maxBytes: number;
  /** Messages within messages that are read; what lies deeper is compared by its bytes. */
  readonly maxDepth: number;
  /** Bytes walked at all depths together, each field counting {@linkcode FIELD_WORK} more. */
  readonly maxWork: number;
}

/** Limits that hold unless others are given: at the worst 8,000 fields, which take some ten milliseconds. */
export const NORMAL_FORM_LIMITS: NormalFormLimits = {
  maxBytes: 256 << 10,
  maxDepth: 16, // protobuf's own parsers stop at 100; answers of real APIs stay under 10
  maxWork: 512 << 10,
};

/** What a field costs beyond its bytes, in bytes walked: an object, and its part of a sort. */
export const FIELD_WORK = 64;

/** Bytes in front of each field of a normal form: its number, its kind, the length of what follows. */
const HEAD_BYTES = 9;

/** Kind of a field that was read as a message, and so written in normal form; other kinds are wire types (0 to 5). */
const KIND_MESSAGE = 8;

const NEWLINE = 0x0a;

/** What a normal form keeps: `sorted` takes fields as a multiset, `kept` leaves them in their order. */
export type FieldOrder = "sorted" | "kept";

/**
 * One protobuf message without its accidents, so that two that mean the same are the same bytes: ignored fields are
 * left out at every depth and, when `sorted`, so is the order of fields, and of the values of one field, since a map
 * is a repeated field in whatever order it was written. No schema is needed. Undefined when the bytes are not one
 * message, or ask for more than the limits allow: they are then compared as they are.
 *
 * Without a schema a string may look like a message. Taking it for one would forgive an exchange of letters, so
 * printable text stays as it is, unless an ignored field lies within; the price is that the rare message whose every
 * byte is printable is compared with its order.
 */
export function normalForm(
  message: Uint8Array,
  { order, ignored, limits = NORMAL_FORM_LIMITS }: {
    order: FieldOrder;
    ignored?: IgnoredFields | undefined;
    limits?: NormalFormLimits;
  },
): Uint8Array | undefined {
  if (message.length > limits.maxBytes) return undefined;
  if (ignored === undefined && isText(message)) return undefined;
  const walk = new Walk(order, limits);
  const form = walk.message(message, ignored, 0);
  return walk.exhausted ? undefined : form;
}

/** One walk through a message and those inside it, with what it may still cost. */
class Walk {
  exhausted = false;
  #workLeft: number;
  readonly #order: FieldOrder;
  readonly #maxDepth: number;

  constructor(order: FieldOrder, { maxWork, maxDepth }: NormalFormLimits) {
    this.#order = order;
    this.#workLeft = maxWork;
    this.#maxDepth = maxDepth;
  }

  /** The normal form of these bytes; undefined when they are no message or the work is used up. */
  message(
    bytes: Uint8Array,
    ignored: IgnoredFields | undefined,
    depth: number,
  ): Uint8Array | undefined {
    if (!this.#spend(bytes.length)) return undefined;
    const pieces: Uint8Array[] = [];
    const fields = new ProtobufFields(bytes);
    while (fields.next()) {
      if (!this.#spend(FIELD_WORK)) return undefined;
      const inside = ignored?.get(fields.field);
      if (inside === "all") continue;
      const payload = bytes.subarray(fields.start, fields.end);
      const form = fields.wireType === WIRE_LENGTH
        ? this.#within(payload, inside, depth + 1)
        : undefined;
      if (this.exhausted) return undefined;
      const kind = form === undefined ? fields.wireType : KIND_MESSAGE;
      pieces.push(piece(fields.field, kind, form ?? payload));
    }
    if (fields.malformed) return undefined;
    if (this.#order === "sorted") pieces.sort(compareBytes);
    return concat(pieces);
  }

  /** The normal form of a payload that is taken for a message; undefined when it is compared as it is. */
  #within(
    payload: Uint8Array,
    ignored: IgnoredFields | undefined,
    depth: number,
  ): Uint8Array | undefined {
    if (depth >= this.#maxDepth || payload.length === 0) return undefined;
    // The order that is kept needs no look inside, but where something is left out.
    if (ignored === undefined && (this.#order === "kept" || isText(payload))) return undefined;
    return this.message(payload, ignored, depth);
  }

  #spend(work: number): boolean {
    this.#workLeft -= work;
    if (this.#workLeft < 0) this.exhausted = true;
    return !this.exhausted;
  }
}

/** Printable UTF-8. A newline in front is the tag of field 1 far more often than the first letter of a text. */
function isText(bytes: Uint8Array): boolean {
  if (bytes[0] === NEWLINE) return false;
  for (const byte of bytes) {
    if (byte === 0x7f || byte < 0x20 && byte !== 0x09 && byte !== NEWLINE && byte !== 0x0d) {
      return false;
    }
  }
  return isUtf8(bytes);
}

function piece(field: number, kind: number, payload: Uint8Array): Uint8Array {
  const out = new Uint8Array(HEAD_BYTES + payload.length);
  const view = new DataView(out.buffer);
  view.setUint32(0, field);
  view.setUint8(4, kind);
  view.setUint32(5, payload.length);
  out.set(payload, HEAD_BYTES);
  return out;
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shorter = Math.min(a.length, b.length);
  for (let i = 0; i < shorter; i++) {
    const difference = a[i]! - b[i]!;
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

function concat(pieces: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const bytes of pieces) {
    out.set(bytes, at);
    at += bytes.length;
  }
  return out;
}
