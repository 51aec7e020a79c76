/** A connection's own, which is all that an idle one has: most are idle. */
const OWN_BYTES = 4_096;

/** More gains nothing (measured); less costs system calls. */
const LARGE_BYTES = 65_536;

/** A read of a large buffer may find little by chance; after as many in a row the connection is as quiet as it seems. */
const SMALL_READS = 2;

/**
 * Large buffers that connections may have at once, 16 MiB of them: a peer gets one by filling what there is, and may
 * then send nothing more. Who comes after that reads on in small pieces.
 */
const MAX_LENT = 256;

/** As long as no more than these 4 MiB are lent, a connection keeps its own over reads that do not fill it. */
const MAX_KEPT = 64;

/** Large buffers at hand for whoever needs one next: as many as connections that are sent much at the same time. */
const MAX_SPARE = 16;

const spare: Uint8Array<ArrayBuffer>[] = [];
let lent = 0;

/**
 * What one connection reads into: little of its own, and a large buffer while its peer sends much. Nobody can tell
 * whether a read that waits will find anything, so an idle connection must not wait with a large one.
 */
export class ReadBuffer {
  #own = new Uint8Array(OWN_BYTES);
  #large: Uint8Array<ArrayBuffer> | undefined = undefined;
  #smallReads = 0;

  /** What the next read goes into. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#large ?? this.#own;
  }

  /** The read found so many bytes, and nobody needs them here any more. */
  took(count: number): void {
    if (this.#large === undefined) {
      if (count === OWN_BYTES && lent < MAX_LENT) this.#borrow();
    } else if (count < LARGE_BYTES) {
      this.#smallReads = count > OWN_BYTES ? 0 : this.#smallReads + 1;
      if (this.#smallReads >= SMALL_READS || lent > MAX_KEPT) this.giveBack();
    } else {
      this.#smallReads = 0;
    }
  }

  /** No read is under way, and none may follow soon. */
  giveBack(): void {
    if (this.#large === undefined) return;
    if (spare.length < MAX_SPARE) spare.push(this.#large);
    this.#large = undefined;
    lent--;
  }

  #borrow(): void {
    this.#large = spare.pop() ?? new Uint8Array(LARGE_BYTES);
    this.#smallReads = 0;
    lent++;
  }
}
