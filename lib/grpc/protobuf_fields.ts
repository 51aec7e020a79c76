/** Wire types (protobuf encoding, "Message Structure"). */
export const WIRE_VARINT = 0;
const WIRE_FIXED64 = 1;
/** Wire type of strings, bytes, messages and packed lists. */
export const WIRE_LENGTH = 2;
const WIRE_FIXED32 = 5;

/** A varint of 64 bits takes ten bytes of seven; an eleventh is malformed. */
const MAX_VARINT_BYTES = 10;
const TAG_LIMIT = 2 ** 32;

/**
 * Walks the fields of one protobuf message, known and unknown alike, without copying.
 *
 * Groups are not skipped but malformed: none of the messages that are read here has one.
 */
export class ProtobufFields {
  /** Number of the current field. */
  field = 0;
  /** Wire type of the current field. */
  wireType = 0;
  /** The low 32 bits of a varint field, signed, as an enum or int32 is read. */
  varint = 0;
  /** The payload of the current field, of a varint its bytes: `bytes[start]` up to `bytes[end]`. */
  start = 0;
  end = 0;
  /** Whether the walk ended because the bytes are not protobuf. */
  malformed = false;

  readonly #bytes: Uint8Array;
  #at = 0;
  /** The last varint unsigned; exact to 2^53, and above that only compared with smaller limits. */
  #unsigned = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Moves to the next field. False at the end of the message or where it is malformed. */
  next(): boolean {
    if (this.malformed || this.#at === this.#bytes.length) return false;
    this.malformed = !this.#readTag() || !this.#readPayload();
    return !this.malformed;
  }

  #readTag(): boolean {
    if (!this.#readVarint() || this.#unsigned >= TAG_LIMIT) return false;
    this.wireType = this.#unsigned % 8;
    this.field = Math.floor(this.#unsigned / 8);
    return this.field !== 0;
  }

  #readPayload(): boolean {
    switch (this.wireType) {
      case WIRE_VARINT: {
        this.start = this.#at;
        const whole = this.#readVarint();
        this.end = this.#at;
        return whole;
      }
      case WIRE_FIXED64:
        return this.#skip(8);
      case WIRE_LENGTH:
        return this.#readVarint() && this.#skip(this.#unsigned);
      case WIRE_FIXED32:
        return this.#skip(4);
      default:
        return false;
    }
  }

  #skip(length: number): boolean {
    if (length > this.#bytes.length - this.#at) return false;
    this.start = this.#at;
    this.end = this.#at + length;
    this.#at = this.end;
    return true;
  }

  #readVarint(): boolean {
    let unsigned = 0;
    let low = 0;
    for (let i = 0; i < MAX_VARINT_BYTES; i++) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) return false;
      // A shift counts modulo 32, so the bytes past the low 32 bits must stay out.
      if (i < 5) low |= (byte & 0x7f) << (7 * i);
      unsigned += (byte & 0x7f) * 2 ** (7 * i);
      if (byte < 0x80) {
        this.varint = low;
        this.#unsigned = unsigned;
        return true;
      }
    }
    return false;
  }
}
