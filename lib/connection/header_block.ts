/**
 * CONTINUATION frames accepted for one block. A list of the largest size we announce, uncoded, needs five of
 * 16 KiB; the rest is room for peers that send more than they should, since a call refused is better than a
 * connection lost. Past it the connection fails with ENHANCE_YOUR_CALM (the CONTINUATION flood of April 2024).
 */
const MAX_CONTINUATIONS = 32;

/**
 * Bytes accepted for one block: room for peers that send more than they should, as {@linkcode MAX_CONTINUATIONS} has.
 */
const MAX_BLOCK_BYTES = 512 * 1024;

/** A header block that comes in several frames (RFC 9113 §6.10). */
export class HeaderBlock {
  /** The stream whose block is coming in; 0 while there is none. */
  streamId = 0;
  #endStream = false;
  #selfDependent = false;
  #frames = 0;
  #bytes: Uint8Array = new Uint8Array(0);
  #length = 0;

  begin(
    streamId: number,
    { endStream, selfDependent }: { endStream: boolean; selfDependent: boolean },
  ): void {
    this.streamId = streamId;
    this.#endStream = endStream;
    this.#selfDependent = selfDependent;
    this.#frames = 0;
    this.#length = 0;
  }

  /** Appends a part of the block; returns false when there is no end to it. */
  append(bytes: Uint8Array, from: number, to: number): boolean {
    const length = this.#length + to - from;
    if (length > MAX_BLOCK_BYTES || this.#frames++ > MAX_CONTINUATIONS) return false;
    if (length > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(length, 2 * this.#bytes.length));
      grown.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = grown;
    }
    this.#bytes.set(bytes.subarray(from, to), this.#length);
    this.#length = length;
    return true;
  }

  /** The whole block, once its last frame is in; the storage is the receiver's. */
  take(): { bytes: Uint8Array; length: number; endStream: boolean; selfDependent: boolean } {
    const whole = {
      bytes: this.#bytes,
      length: this.#length,
      endStream: this.#endStream,
      selfDependent: this.#selfDependent,
    };
    this.streamId = 0;
    this.#bytes = new Uint8Array(0);
    return whole;
  }
}
