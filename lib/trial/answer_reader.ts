import { createHash } from "node:crypto";
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

/**
 * Digests a reply while it comes by: its messages, decompressed, and its status. Messages that are too large to be looked
 * into are hashed as they come, so that none is kept longer than it takes to be whole.
 */
export class AnswerReader {
  readonly #ignored: IgnoredFields | undefined;
  #digest: AnswerDigest | undefined = undefined;
  /** Position in the log up to which frames were read. */
  #position = 0;
  readonly #prefix = new Uint8Array(MESSAGE_PREFIX_BYTES);
  #prefixBytes = 0;
  /** Bytes of the message under way that are still to come. */
  #missing = 0;
  /** The parts of the message under way; undefined where they are hashed as they come. */
  #parts: Uint8Array[] | undefined = [];

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
      newHash: () => {
        const hash = createHash("sha256");
        return { update: (bytes) => hash.update(bytes), digest: () => hash.digest("base64") };
      },
      ignored: this.#ignored,
      protobuf: format?.isProtobuf ?? true,
    });
  }

  #take(data: Uint8Array, format: ReplySource["format"]): void {
    for (let at = 0; at < data.length;) {
      if (this.#prefixBytes < MESSAGE_PREFIX_BYTES) {
        this.#prefix[this.#prefixBytes++] = data[at++]!;
        if (this.#prefixBytes === MESSAGE_PREFIX_BYTES) this.#begin(format);
        continue;
      }
      const to = Math.min(data.length, at + this.#missing);
      this.#part(data.subarray(at, to), to - at === this.#missing, format);
      at = to;
    }
  }

  #begin(format: ReplySource["format"]): void {
    this.#missing = new DataView(this.#prefix.buffer).getUint32(1);
    const isLarge = this.#missing > NORMAL_FORM_LIMITS.maxBytes;
    this.#parts = isLarge ? undefined : [];
    if (isLarge) this.#of(format).begin(this.#missing);
    else if (this.#missing === 0) this.#part(new Uint8Array(0), true, format);
  }

  #part(bytes: Uint8Array, isLast: boolean, format: ReplySource["format"]): void {
    this.#missing -= bytes.length;
    const parts = this.#parts;
    if (parts === undefined) this.#of(format).part(bytes);
    else if (isLast) this.#whole(parts.length === 0 ? bytes : joined([...parts, bytes]), format);
    else parts.push(bytes.slice()); // the log moves and forgets its bytes
    if (isLast) this.#prefixBytes = 0;
  }

  #whole(message: Uint8Array, format: ReplySource["format"]): void {
    const isCompressed = this.#prefix[0] === 1;
    const plain = isCompressed ? decompressed(message, format?.encoding) : message;
    this.#of(format).add(plain ?? message);
  }
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((bytes, part) => bytes + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
