const PREFIX_BYTES = 5;

/** Puts the messages of one direction of a call together again, however its DATA was cut. */
export class MessageReader {
  /** Whole messages so far. */
  count = 0;
  #bytes = new Uint8Array(256);
  #length = 0;
  #onMessage: (message: Uint8Array, index: number) => void;

  /** `onMessage` may not keep the bytes. */
  constructor(onMessage: (message: Uint8Array, index: number) => void) {
    this.#onMessage = onMessage;
  }

  /** Bytes of a message that is not whole. */
  get isPartial(): boolean {
    return this.#length > 0;
  }

  push(bytes: Uint8Array, from: number, to: number): void {
    this.#append(bytes, from, to);
    let at = 0;
    for (;;) {
      const end = at + PREFIX_BYTES + this.#declared(at);
      if (!(end <= this.#length)) break;
      this.#onMessage(this.#bytes.subarray(at + PREFIX_BYTES, end), this.count++);
      at = end;
    }
    this.#bytes.copyWithin(0, at, this.#length);
    this.#length -= at;
  }

  /** NaN while the prefix is not whole. */
  #declared(at: number): number {
    if (this.#length - at < PREFIX_BYTES) return NaN;
    return new DataView(this.#bytes.buffer).getUint32(at + 1);
  }

  #append(bytes: Uint8Array, from: number, to: number): void {
    const length = this.#length + to - from;
    if (length > this.#bytes.length) {
      const larger = new Uint8Array(length * 2);
      larger.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = larger;
    }
    this.#bytes.set(bytes.subarray(from, to), this.#length);
    this.#length = length;
  }
}
