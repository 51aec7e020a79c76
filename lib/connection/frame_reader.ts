import {
  DEFAULT_MAX_FRAME_BYTES,
  FRAME_HEADER_BYTES,
  readUint24,
  readUint31,
} from "../wire/mod.ts";

/** Room that a connection keeps for the beginning of a frame; more is lent to it until the frame is whole. */
const KEPT_BYTES = 2_048;

/** What is lent has room for the longest frame that we allow. */
const LENT_BYTES = FRAME_HEADER_BYTES + DEFAULT_MAX_FRAME_BYTES;

/** Lent rooms at hand: as many as connections that are sent much at the same time. */
const MAX_SPARE = 16;

const NOTHING = new Uint8Array(0);

const spare: Uint8Array[] = [];

/** Takes whole frames; a payload is `bytes[from, to)` and only good until the call returns. */
export interface FrameHandler {
  /** Takes a frame; returns false to stop reading: the connection is over. */
  frame(
    type: number,
    flags: number,
    streamId: number,
    bytes: Uint8Array,
    from: number,
    to: number,
  ): boolean;
  /** A frame is longer than SETTINGS_MAX_FRAME_SIZE allows. */
  frameTooLong(type: number, streamId: number, length: number): void;
}

/**
 * Cuts what comes in into frames. Frames that came whole are handed over where they lie; only the cut-off one
 * at the end of a read is copied.
 */
export class FrameReader {
  #handler: FrameHandler;
  #maxFrameBytes: number;
  /** The beginning of a frame whose end has not come yet. */
  #rest: Uint8Array = NOTHING;
  #restLength = 0;

  constructor(handler: FrameHandler, maxFrameBytes: number = DEFAULT_MAX_FRAME_BYTES) {
    this.#handler = handler;
    this.#maxFrameBytes = maxFrameBytes;
  }

  /** Bytes that wait for the rest of their frame. */
  get pendingBytes(): number {
    return this.#restLength;
  }

  /** Reads `bytes[at, end)`. */
  read(bytes: Uint8Array, at: number, end: number): void {
    if (this.#restLength > 0) {
      at = this.#complete(bytes, at, end);
      if (at < 0) return;
    }
    while (end - at >= FRAME_HEADER_BYTES) {
      const length = readUint24(bytes, at);
      if (length > this.#maxFrameBytes) {
        return this.#handler.frameTooLong(bytes[at + 3]!, readUint31(bytes, at + 5), length);
      }
      const next = at + FRAME_HEADER_BYTES + length;
      if (next > end) break;
      if (!this.#deliver(bytes, at, next)) return;
      at = next;
    }
    if (at < end) this.#keep(bytes, at, end);
  }

  #deliver(bytes: Uint8Array, at: number, next: number): boolean {
    const payload = at + FRAME_HEADER_BYTES;
    return this.#handler.frame(
      bytes[at + 3]!,
      bytes[at + 4]!,
      readUint31(bytes, at + 5),
      bytes,
      payload,
      next,
    );
  }

  /** Completes the kept frame; returns where to go on, or -1 when there is nothing more to read. */
  #complete(bytes: Uint8Array, at: number, end: number): number {
    if (this.#restLength < FRAME_HEADER_BYTES) {
      const take = Math.min(FRAME_HEADER_BYTES - this.#restLength, end - at);
      this.#keep(bytes, at, at + take);
      at += take;
      if (this.#restLength < FRAME_HEADER_BYTES) return -1;
    }
    const length = readUint24(this.#rest, 0);
    if (length > this.#maxFrameBytes) {
      this.#handler.frameTooLong(this.#rest[3]!, readUint31(this.#rest, 5), length);
      return -1;
    }
    const whole = FRAME_HEADER_BYTES + length;
    const take = Math.min(whole - this.#restLength, end - at);
    this.#keep(bytes, at, at + take);
    at += take;
    if (this.#restLength < whole) return -1;
    const frame = this.#rest;
    this.#rest = NOTHING; // the frame is given back below, unless the handler reads on from within
    this.#restLength = 0;
    const goesOn = this.#deliver(frame, 0, whole);
    if (frame.length > KEPT_BYTES) giveBack(frame);
    else if (this.#restLength === 0) this.#rest = frame;
    return goesOn ? at : -1;
  }

  #keep(bytes: Uint8Array, from: number, to: number): void {
    const length = this.#restLength + to - from;
    if (length > this.#rest.length) {
      // A frame's header says how long it is; before that, room for a small one.
      const grown = room(Math.max(64, length, 2 * this.#rest.length));
      grown.set(this.#rest.subarray(0, this.#restLength));
      this.#rest = grown;
    }
    this.#rest.set(bytes.subarray(from, to), this.#restLength);
    this.#restLength = length;
  }
}

function room(bytes: number): Uint8Array {
  if (bytes <= KEPT_BYTES || bytes > LENT_BYTES) return new Uint8Array(bytes);
  return spare.pop() ?? new Uint8Array(LENT_BYTES);
}

function giveBack(room: Uint8Array): void {
  if (room.length === LENT_BYTES && spare.length < MAX_SPARE) spare.push(room);
}
