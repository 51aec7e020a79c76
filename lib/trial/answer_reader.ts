import { MESSAGE_PREFIX_BYTES } from "../grpc/mod.ts";
import {
  AnswerDigest,
  type AnswerPrint,
  type IgnoredFields,
  NORMAL_FORM_LIMITS,
} from "../trust/mod.ts";
import type { ReplySource } from "../upstream/mod.ts";
import { FRAME } from "../wire/mod.ts";
import { decompressed } from "./message_bytes.ts";
import { Sha256 } from "./sha256.ts";

/** Storage of a message that comes in parts, at first: a backend says how long it is before it sends it. */
const FIRST_BYTES = 1_024;

/**
 * Digests a reply while it comes by: its messages, decompressed, and its status. Messages that are too large to be looked
 * into are hashed as they come, so that none is kept longer than it takes to be whole.
 */
export class AnswerReader {
  readonly #ignored: IgnoredFields | undefined;
  #digest: AnswerDigest | undefined = undefined;
  /** Position in the log up to which frames were read. */
  #position = 0;
  /** The prefix of the message under way, as far as it has come: whether the message is compressed, and its length. */
  #isCompressed = false;
  #length = 0;
  #prefixBytes = 0;
  /** Bytes of the message under way that are still to come. */
  #missing = 0;
  /** The message under way is hashed as it comes. */
  #isLarge = false;
  /** What has come of the message under way; undefined while that is nothing. */
  #gathered: Uint8Array | undefined = undefined;
  #gatheredBytes = 0;

  constructor(ignored: IgnoredFields | undefined) {
    this.#ignored = ignored;
  }

  /** Takes what has come since the last time. What was read is not needed any more. */
  read({ log, format }: ReplySource): void {
    const { shift } = log;
    for (const { type, from, to } of log.frames(Math.max(this.#position, log.start))) {
      this.#position = to + shift;
      if (type === FRAME.data) this.#take(log.bytes.subarray(from, to), format);
    }
  }

  /** The print of the whole reply, which ended with this status. */
  end(reply: ReplySource): AnswerPrint {
    this.read(reply);
    return this.#of(reply.format).end(reply.status);
  }

  #of(format: ReplySource["format"]): AnswerDigest {
    return this.#digest ??= new AnswerDigest({
      newHash: () => new Sha256(),
      ignored: this.#ignored,
      protobuf: format?.isProtobuf ?? true,
    });
  }

  #take(data: Uint8Array, format: ReplySource["format"]): void {
    for (let at = 0; at < data.length;) {
      if (this.#prefixBytes < MESSAGE_PREFIX_BYTES) {
        const byte = data[at++]!;
        if (this.#prefixBytes++ === 0) this.#isCompressed = byte === 1;
        else this.#length = (this.#length << 8 | byte) >>> 0;
        if (this.#prefixBytes === MESSAGE_PREFIX_BYTES) this.#begin(format);
        continue;
      }
      const to = Math.min(data.length, at + this.#missing);
      this.#part(data.subarray(at, to), to - at === this.#missing, format);
      at = to;
    }
  }

  #begin(format: ReplySource["format"]): void {
    this.#missing = this.#length;
    this.#length = 0;
    this.#isLarge = this.#missing > NORMAL_FORM_LIMITS.maxBytes;
    if (this.#isLarge) this.#of(format).begin(this.#missing);
    else if (this.#missing === 0) this.#part(new Uint8Array(0), true, format);
  }

  #part(bytes: Uint8Array, isLast: boolean, format: ReplySource["format"]): void {
    this.#missing -= bytes.length;
    if (isLast) this.#prefixBytes = 0;
    if (this.#isLarge) return this.#of(format).part(bytes);
    if (!isLast) return this.#gather(bytes);
    if (this.#gathered === undefined) return this.#whole(bytes, format);
    this.#gather(bytes);
    const whole = this.#gathered.subarray(0, this.#gatheredBytes);
    this.#gathered = undefined;
    this.#gatheredBytes = 0;
    this.#whole(whole, format);
  }

  /** Copies a part: the log moves and forgets its bytes. */
  #gather(bytes: Uint8Array): void {
    const held = this.#gathered;
    const length = this.#gatheredBytes + bytes.length;
    if (held === undefined || length > held.length) {
      const all = length + this.#missing;
      const grown = new Uint8Array(Math.min(all, Math.max(FIRST_BYTES, 2 * length)));
      if (held !== undefined) grown.set(held.subarray(0, this.#gatheredBytes));
      this.#gathered = grown;
    }
    this.#gathered!.set(bytes, this.#gatheredBytes);
    this.#gatheredBytes = length;
  }

  #whole(message: Uint8Array, format: ReplySource["format"]): void {
    const plain = this.#isCompressed ? decompressed(message, format?.encoding) : message;
    this.#of(format).add(plain ?? message);
  }
}
