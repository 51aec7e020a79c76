/** Over its bound the owner is told again when so much more is held, as a share of the bound. */
const NEWS_SHARE = 32;

/**
 * The bytes that a whole process holds for its peers: storage of logs, output that is not written. Whoever holds some says
 * so when its storage grows or shrinks; who is in excess of the bound is the owner's to decide.
 */
export class BufferedBytes {
  readonly maxBytes: number;
  readonly #overflowed: () => void;
  #bytes = 0;
  #newsAt: number;

  /** `overflowed` hears that more than `maxBytes` are held, from within the growth: it must only make a note of it. */
  constructor(maxBytes: number, overflowed: () => void) {
    this.maxBytes = this.#newsAt = maxBytes;
    this.#overflowed = overflowed;
  }

  /** What is held now. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether so many bytes more would be within the bound. */
  hasRoom(bytes: number): boolean {
    return this.#bytes + bytes <= this.maxBytes;
  }

  /** So many bytes more are held than before; less, when it is negative. */
  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes <= this.#newsAt) {
      if (this.#bytes < this.maxBytes) this.#newsAt = this.maxBytes;
      return;
    }
    this.#newsAt = this.#bytes + this.maxBytes / NEWS_SHARE;
    this.#overflowed();
  }
}
