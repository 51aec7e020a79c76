/** The corner of the protobuf encoding that the Hello messages use: varints and length-delimited fields. */

const VARINT = 0;
const LENGTH_DELIMITED = 2;

const utf8 = new TextEncoder();
const fromUtf8 = new TextDecoder();

/** Appends fields in the order of the calls. */
export class Writer {
  readonly #out: number[] = [];

  /** Appends a varint field; takes whole numbers from 0 to 2^53 - 1. */
  varint(field: number, value: number): void {
    this.#raw(field * 8 + VARINT);
    this.#raw(value);
  }

  text(field: number, value: string): void {
    this.bytes(field, utf8.encode(value));
  }

  bytes(field: number, value: Uint8Array): void {
    this.#raw(field * 8 + LENGTH_DELIMITED);
    this.#raw(value.length);
    for (const byte of value) this.#out.push(byte);
  }

  finish(): Uint8Array {
    return Uint8Array.from(this.#out);
  }

  #raw(value: number): void {
    if (!Number.isSafeInteger(value) || value < 0) {
      throw new RangeError(`Cannot encode ${value}: expected a whole number from 0`);
    }
    // Division, not shifts: those end at 32 bits.
    for (; value > 0x7f; value = Math.floor(value / 0x80)) this.#out.push(value % 0x80 + 0x80);
    this.#out.push(value);
  }
}

export interface Field {
  readonly number: number;
  /** The number of a varint field; 0 in a length-delimited one. */
  readonly value: number;
  /** The content of a length-delimited field; empty in a varint one. */
  readonly bytes: Uint8Array;
  text(): string;
}

/** The fields of a message, in their order. Throws a RangeError where it is cut short or holds another wire type. */
export function readFields(message: Uint8Array): Field[] {
  const fields: Field[] = [];
  let at = 0;
  while (at < message.length) {
    const tag = varint();
    const kind = tag % 8;
    if (kind !== VARINT && kind !== LENGTH_DELIMITED) {
      throw new RangeError(`Cannot read a field of wire type ${kind}: expected 0 or 2`);
    }
    const value = varint();
    const length = kind === LENGTH_DELIMITED ? value : 0;
    if (at + length > message.length) {
      throw new RangeError("Cannot read a field: the message ends in it");
    }
    const bytes = message.subarray(at, at += length);
    const number = Math.floor(tag / 8);
    fields.push({
      number,
      value: kind === VARINT ? value : 0,
      bytes,
      text: () => fromUtf8.decode(bytes),
    });
  }
  return fields;

  function varint(): number {
    let value = 0;
    for (let unit = 1;; unit *= 0x80) {
      const byte = message[at++];
      if (byte === undefined) throw new RangeError("Cannot read a number: the message ends in it");
      value += (byte & 0x7f) * unit;
      if (byte < 0x80) return value;
      if (unit > 2 ** 56) throw new RangeError("Cannot read a number: it is longer than 64 bits");
    }
  }
}
