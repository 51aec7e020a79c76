import type { BufferedBytes } from "./buffered_bytes.ts";
import { copyBytes } from "./bytes.ts";
import {
  DEFAULT_MAX_FRAME_BYTES,
  FLAG,
  FRAME,
  FRAME_HEADER_BYTES,
  putFrameHeader,
  readUint24,
} from "./frame.ts";
import { allocate, release } from "./slab.ts";

/** Storage of a log at first: a small unary reply (two header blocks and a short message) needs no more. */
const FIRST_BYTES = 192;

/** Dropped bytes are moved out once they are half of what is held, and at least this many. */
const COMPACT_BYTES = 65_536;

/** A log of which everything was dropped keeps storage up to this size: a stream that is quiet now may be so for days. */
const IDLE_BYTES = 4_096;

/** Storage grows at most so many times at once, whatever is expected: that much must have come before. */
const MAX_GROWTH = 8;

/** Room beside what is expected, for the frames that end a reply. */
const TRAILERS_BYTES = 1_024;

const NOTHING = new Uint8Array(0);

/** A frame in a log: its payload is `log.bytes[from, to)`. */
export interface LoggedFrame {
  readonly type: number;
  readonly flags: number;
  readonly from: number;
  readonly to: number;
}

/**
 * One direction of a stream as finished frames: HEADERS with a stateless block, DATA, trailing HEADERS, each
 * with stream id 0 in place of the one it will get. Written once, read by any number of streams, each from a
 * position of its own; `Connection.relay` copies from it and fills in the id. Positions count from the first
 * byte ever appended, also after {@linkcode dropBefore}.
 */
export class FrameLog {
  /** The storage; position p is at `bytes[p - shift]`, from {@linkcode start} on. */
  bytes: Uint8Array = NOTHING;
  shift = 0;
  /** Position of the first frame still held. */
  start = 0;
  /** Position after the last frame. */
  end = 0;
  /** Bytes of all DATA payloads, which is what flow control counts (RFC 9113 §6.9.1). */
  dataBytes = 0;
  /** The last frame has END_STREAM. */
  ended = false;
  #account: BufferedBytes | undefined;
  /** What {@linkcode dataBytes} will be once all is there that is expected; less than it is where nothing is. */
  #expectedDataBytes = 0;
  /** Holders beside the first one. */
  #sharers = 0;

  /** `account` hears of the storage that the log holds, until it is cleared. */
  constructor(account?: BufferedBytes) {
    this.#account = account;
  }

  /** What the log's storage is counted in. */
  get account(): BufferedBytes | undefined {
    return this.#account;
  }

  /** Has the storage counted in another account, or in none. */
  countIn(account: BufferedBytes | undefined): void {
    if (account === this.#account) return;
    this.#account?.add(-this.bytes.length);
    account?.add(this.bytes.length);
    this.#account = account;
  }

  /** Bytes of storage that the log holds. */
  get heldBytes(): number {
    return this.bytes.length;
  }

  /** Appends a block as HEADERS and, where it is longer than a frame, CONTINUATION (RFC 9113 §6.2, §6.10). */
  appendHeaders(block: Uint8Array, endStream: boolean): void {
    let type: number = FRAME.headers;
    let from = 0;
    do {
      const to = Math.min(block.length, from + DEFAULT_MAX_FRAME_BYTES);
      const flags = (to === block.length ? FLAG.endHeaders : 0) |
        (endStream && type === FRAME.headers ? FLAG.endStream : 0);
      this.#append(type, flags, block, from, to);
      type = FRAME.continuation;
      from = to;
    } while (from < block.length);
    this.ended = endStream;
  }

  /** Appends `source[from, to)` as DATA; nothing at all makes an empty frame. */
  appendData(source: Uint8Array, from: number, to: number, endStream = false): void {
    this.dataBytes += to - from;
    do {
      const cut = Math.min(to, from + DEFAULT_MAX_FRAME_BYTES);
      this.#append(FRAME.data, endStream && cut === to ? FLAG.endStream : 0, source, from, cut);
      from = cut;
    } while (from < to);
    this.ended = endStream;
  }

  /**
   * So many bytes of DATA more are on their way, and all of them will be held: storage for them is taken in few steps,
   * each of a few times what has come, and no more of it than they need.
   */
  expect(moreBytes: number): void {
    this.#expectedDataBytes = this.dataBytes + moreBytes;
  }

  /** The frames from `position` on, where one begins. What is appended meanwhile comes too. */
  *frames(position: number): Generator<LoggedFrame> {
    for (let at = position; at < this.end;) {
      const from = at - this.shift + FRAME_HEADER_BYTES;
      const to = from + readUint24(this.bytes, at - this.shift);
      yield { type: this.bytes[from - 6]!, flags: this.bytes[from - 5]!, from, to };
      at = to + this.shift;
    }
  }

  /** All DATA, joined; of a log of which nothing was dropped. */
  data(): Uint8Array {
    const joined = new Uint8Array(this.dataBytes);
    let length = 0;
    for (const { type, from, to } of this.frames(this.start)) {
      if (type !== FRAME.data) continue;
      joined.set(this.bytes.subarray(from, to), length);
      length += to - from;
    }
    return joined;
  }

  /** The log has one more holder: it is whole until all but one have cleared it, and lives until the last one has. */
  share(): this {
    this.#sharers++;
    return this;
  }

  /** Lets go of what is before `position`, which no reader may need any more; of a log that is shared, of nothing. */
  dropBefore(position: number): void {
    if (this.#sharers > 0) return;
    this.start = Math.max(this.start, Math.min(position, this.end));
    const dead = this.start - this.shift;
    const live = this.end - this.start;
    if (live === 0) {
      this.shift = this.end;
      if (this.bytes.length > IDLE_BYTES) this.#keepIn(NOTHING);
    } else if (dead >= COMPACT_BYTES && dead * 2 >= this.bytes.length) {
      if (live * 4 <= this.bytes.length) this.#moveTo(allocate(live * 2));
      else this.bytes.copyWithin(0, dead, this.end - this.shift);
      this.shift = this.start;
    }
  }

  /**
   * Forgets everything, as if nothing had been appended, unless others share it. No stream of the one who clears it may
   * be relaying the log any more.
   */
  clear(): void {
    if (this.#sharers > 0) {
      this.#sharers--;
      return;
    }
    this.#keepIn(NOTHING);
    this.shift =
      this.start =
      this.end =
      this.dataBytes =
      this.#expectedDataBytes =
        0;
    this.ended = false;
  }

  /** Moves a complete log into storage of exactly its size, for one that is kept for long. */
  settle(): void {
    this.#moveTo(new Uint8Array(this.end - this.start));
    this.shift = this.start;
  }

  #append(type: number, flags: number, source: Uint8Array, from: number, to: number): void {
    const length = to - from;
    const at = this.end - this.shift;
    if (at + FRAME_HEADER_BYTES + length > this.bytes.length) {
      this.#grow(at + FRAME_HEADER_BYTES + length);
    }
    putFrameHeader(this.bytes, at, length, type, flags, 0);
    copyBytes(source, from, to, this.bytes, at + FRAME_HEADER_BYTES);
    this.end += FRAME_HEADER_BYTES + length;
  }

  #grow(size: number): void {
    const held = this.bytes.length;
    const missing = this.#expectedDataBytes - this.dataBytes;
    const next = missing <= 0 || this.start > 0 ? 2 * held : Math.min(
      size + Math.ceil(missing * this.end / this.dataBytes) + TRAILERS_BYTES, // cut into frames as so far
      MAX_GROWTH * held,
    );
    const grown = allocate(Math.max(size, FIRST_BYTES, next));
    if (this.bytes.length > 0) grown.set(this.bytes.subarray(0, this.end - this.shift));
    this.#keepIn(grown);
  }

  /** Moves what is held to the beginning of other storage. */
  #moveTo(storage: Uint8Array): void {
    storage.set(this.bytes.subarray(this.start - this.shift, this.end - this.shift));
    this.#keepIn(storage);
  }

  /** Replaces the storage. */
  #keepIn(storage: Uint8Array): void {
    this.#account?.add(storage.length - this.bytes.length);
    release(this.bytes);
    this.bytes = storage;
  }
}
