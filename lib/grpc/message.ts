/** Before each message: Compressed-Flag (1 byte) and Message-Length (4 bytes) of PROTOCOL-HTTP2 "Requests". */
export const MESSAGE_PREFIX_BYTES = 5;

/** Message-Length is a 4 byte unsigned integer. */
const MAX_MESSAGE_BYTES = 0xffff_ffff;

/**
 * Follows the length-prefixed messages of one direction of a call through DATA frames that are cut
 * anywhere ("DATA frame boundaries have no relation to Length-Prefixed-Message boundaries",
 * PROTOCOL-HTTP2 "Data Frames"). Counts; it neither copies nor keeps bytes, and allocates nothing.
 *
 * The flag byte is not looked at: what it means is between the two ends. Every length is taken at
 * its word, so compare {@linkcode MessageScanner.messageBytes} with a limit before buffering.
 */
export class MessageScanner {
  /** Complete messages so far. */
  messages = 0;
  /** Messages whose first byte was seen. */
  started = 0;
  /** Declared bytes of the last message whose whole prefix was seen, without the prefix. */
  messageBytes = 0;
  /** Bytes of the current prefix seen; all of them from then to the end of its message. */
  #prefixSeen = 0;
  /** The prefix as read so far. Four more bytes push the flag out of its 32 bits. */
  #prefix = 0;
  /** Bytes of the current message still to come, once its prefix is whole. */
  #bodyLeft = 0;

  /** Whether the bytes so far end inside a prefix or a message. */
  get partial(): boolean {
    return this.#prefixSeen !== 0;
  }

  /** Bytes of the message under way that are still to come; 0 while its length is not known. */
  get missingBytes(): number {
    return this.#bodyLeft;
  }

  /** Takes the next bytes of the stream, `bytes[start]` up to and not including `bytes[end]`. */
  scan(bytes: Uint8Array, start: number, end: number): void {
    let at = start;
    while (at < end) {
      if (this.#prefixSeen !== MESSAGE_PREFIX_BYTES) {
        at = this.#readPrefix(bytes, at, end);
      } else if (this.#bodyLeft > end - at) {
        this.#bodyLeft -= end - at;
        return;
      } else {
        at += this.#bodyLeft;
        this.#endMessage();
      }
    }
  }

  #readPrefix(bytes: Uint8Array, start: number, end: number): number {
    if (this.#prefixSeen === 0) this.started++;
    const stop = Math.min(end, start + MESSAGE_PREFIX_BYTES - this.#prefixSeen);
    let prefix = this.#prefix;
    for (let at = start; at < stop; at++) prefix = (prefix << 8) | (bytes[at] as number);
    this.#prefix = prefix;
    this.#prefixSeen += stop - start;
    if (this.#prefixSeen === MESSAGE_PREFIX_BYTES) {
      this.messageBytes = prefix >>> 0;
      this.#bodyLeft = this.messageBytes;
      if (this.#bodyLeft === 0) this.#endMessage();
    }
    return stop;
  }

  #endMessage(): void {
    this.messages++;
    this.#bodyLeft = 0;
    this.#prefixSeen = 0;
  }
}

/**
 * Whether `bytes[start]` up to and not including `bytes[end]` is exactly one whole length-prefixed
 * message, no less and no more: the usual request, answered without a scanner.
 */
export function isOneMessage(bytes: Uint8Array, start: number, end: number): boolean {
  const messageBytes = end - start - MESSAGE_PREFIX_BYTES;
  if (messageBytes < 0) return false;
  const declared = ((bytes[start + 1] as number) << 24) | ((bytes[start + 2] as number) << 16) |
    ((bytes[start + 3] as number) << 8) | (bytes[start + 4] as number);
  return declared >>> 0 === messageBytes;
}

/**
 * Puts the 5-byte prefix before a message body.
 *
 * @param compressed sets the Compressed-Flag: the body is in the encoding `grpc-encoding` names
 * @throws RangeError when the body is longer than four bytes can say
 */
export function frameMessage(body: Uint8Array, compressed = false): Uint8Array {
  if (body.length > MAX_MESSAGE_BYTES) {
    throw new RangeError(
      `Cannot frame a message of ${body.length} bytes: expected at most ${MAX_MESSAGE_BYTES}`,
    );
  }
  const framed = new Uint8Array(MESSAGE_PREFIX_BYTES + body.length);
  framed[0] = compressed ? 1 : 0;
  new DataView(framed.buffer).setUint32(1, body.length);
  framed.set(body, MESSAGE_PREFIX_BYTES);
  return framed;
}
