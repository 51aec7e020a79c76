import {
  copyBytes,
  DEFAULT_MAX_FRAME_BYTES,
  DEFAULT_WINDOW_BYTES,
  type Field,
  FLAG,
  FRAME,
  FRAME_HEADER_BYTES,
  type FrameLog,
  type HeaderList,
  HpackEncoder,
  MAX_WINDOW_BYTES,
  OutputBuffer,
  putFrameHeader,
  putUint32,
  readUint24,
  writeStateless,
} from "../wire/mod.ts";
import type { Stream } from "./stream.ts";
import { WaitingStreams } from "./waiting_streams.ts";

/**
 * DATA is held back while this much waits for the socket: the peer's windows may be huge and its reading slow,
 * and what is not copied yet costs nothing, since the log has it.
 */
export const OUTPUT_HIGH_WATER_BYTES = 262_144;

/**
 * A header block above this size waits for room in the output as DATA does: the end of one flight may owe the same 64 KiB
 * to every stream of a peer that does not read (CVE-2019-9517). Smaller ones go at once, and let go of their streams.
 */
const LARGE_BLOCK_BYTES = 1_024;

/** Storage up to this size is copied faster whole than by a view of the part that is used. */
const SMALL_PIECE_BYTES = 512;

/** The sending half of a connection: output, windows, and the order in which blocked streams go on. */
export class SendSide<Owner> {
  readonly encoder = new HpackEncoder();
  /** DATA frames written so far. */
  dataFrames = 0;
  #active = new OutputBuffer();
  #spare = new OutputBuffer();
  #block = new OutputBuffer();
  #window = DEFAULT_WINDOW_BYTES;
  /** The streams that wait for connection window or output room. */
  readonly waiting = new WaitingStreams<Owner>();

  /** What waits in both buffers, the one that is being written included. */
  get waitingBytes(): number {
    return this.#active.length + this.#spare.length;
  }

  /** Where frames are appended now; not to be kept over a call to {@linkcode swap}. */
  get out(): OutputBuffer {
    return this.#active;
  }

  /** No DATA can go out now, whatever the stream. */
  get isBlocked(): boolean {
    return this.#window <= 0 || this.isFull;
  }

  /** Nothing that can wait goes out now. */
  get isFull(): boolean {
    return this.#active.length >= OUTPUT_HIGH_WATER_BYTES;
  }

  /** Hands over what must be written, and goes on in the other buffer; the one handed over must be cleared first. */
  swap(): OutputBuffer {
    const full = this.#active;
    this.#active = this.#spare;
    this.#spare = full;
    return full;
  }

  /** Opens the connection's window by `bytes`; returns false when the peer overflowed it (RFC 9113 §6.9.1). */
  addWindow(bytes: number): boolean {
    this.#window += bytes;
    return this.#window <= MAX_WINDOW_BYTES;
  }

  /** Appends HEADERS against the peer's dynamic table, for a head that is sent to this peer only. */
  writeHeaders(
    streamId: number,
    list: HeaderList,
    options: { extra: readonly Field[]; endStream: boolean },
  ): void {
    const block = this.#block;
    block.clear();
    this.encoder.writeSizeUpdate(block);
    const { encoder } = this;
    for (const field of list.fields) encoder.write(block, field);
    for (const field of options.extra) encoder.write(block, field);
    this.#writeBlock(streamId, block.bytes, { length: block.length, endStream: options.endStream });
  }

  /** Appends HEADERS with a stateless block. */
  writeStateless(streamId: number, fields: Iterable<Field>, endStream: boolean): void {
    const block = this.#block;
    block.clear();
    this.encoder.writeSizeUpdate(block);
    writeStateless(block, fields);
    this.#writeBlock(streamId, block.bytes, { length: block.length, endStream });
  }

  #withSizeUpdate(block: Uint8Array): Uint8Array {
    if (!this.encoder.owesSizeUpdate) return block;
    this.#block.clear();
    this.encoder.writeSizeUpdate(this.#block);
    this.#block.append(block, 0, block.length);
    return this.#block.bytes.slice(0, this.#block.length);
  }

  /** Appends a block in one HEADERS frame and as many CONTINUATION as it needs, nothing in between (RFC 9113 §6.10). */
  #writeBlock(
    streamId: number,
    block: Uint8Array,
    { length, endStream }: { length: number; endStream: boolean },
  ): void {
    const out = this.#active;
    let type: number = FRAME.headers;
    let from = 0;
    do {
      const to = Math.min(length, from + DEFAULT_MAX_FRAME_BYTES);
      const flags = (to === length ? FLAG.endHeaders : 0) |
        (endStream && type === FRAME.headers ? FLAG.endStream : 0);
      const at = out.extend(FRAME_HEADER_BYTES + to - from);
      putFrameHeader(out.bytes, at, to - from, type, flags, streamId);
      copyBytes(block, from, to, out.bytes, at + FRAME_HEADER_BYTES);
      type = FRAME.continuation;
      from = to;
    } while (from < length);
  }

  /**
   * Copies frames of the stream's log from its position on, as far as both windows and the output allow.
   * Returns true once the frame that ends the stream is out. A stream that is held back by anything but its own
   * window, which is the connection's or the output, is queued; one held back by that goes on when its WINDOW_UPDATE comes.
   */
  relay(stream: Stream<Owner>): boolean {
    const log = stream.log!;
    if (stream.position === 0 && log.ended && this.#relayWhole(stream, log)) return true;
    while (stream.position < log.end) {
      const at = stream.position - log.shift;
      if (stream.partialBytes === 0) {
        const type = log.bytes[at + 3]!;
        if (type === FRAME.data) {
          const length = readUint24(log.bytes, at);
          if (length > 0) {
            stream.partialBytes = length;
            stream.partialFlags = log.bytes[at + 4]!;
            stream.position += FRAME_HEADER_BYTES;
            continue;
          }
        }
        if (this.isFull && blockBytes(log, at) > LARGE_BLOCK_BYTES) {
          this.waiting.addBlock(stream);
          return false;
        }
        if (this.#copyFrame(stream, log, at)) return true;
      } else {
        const allowed = this.#allowance(stream);
        if (allowed <= 0) return false;
        if (this.#copyPart(stream, log, allowed)) return true;
      }
    }
    return false;
  }

  /** Copies the whole log at once, where nothing holds it back: a stored or a short reply. */
  #relayWhole(stream: Stream<Owner>, log: FrameLog): boolean {
    const { dataBytes, end } = log;
    const out = this.#active;
    if (
      log.shift > 0 || dataBytes > this.#window || dataBytes > stream.sendWindow ||
      out.length + end > OUTPUT_HIGH_WATER_BYTES || this.encoder.owesSizeUpdate
    ) return false;
    const first = out.extend(end);
    copyWhole(log, out.bytes, first);
    for (let at = first; at < first + end;) {
      putUint32(out.bytes, at + 5, stream.id);
      at += FRAME_HEADER_BYTES + readUint24(out.bytes, at);
    }
    if (dataBytes > 0) this.dataFrames++; // one at least
    this.#window -= dataBytes;
    stream.sendWindow -= dataBytes;
    stream.position = end;
    return true;
  }

  /** Copies a frame that flow control does not count; true when it ends the stream. */
  #copyFrame(stream: Stream<Owner>, log: FrameLog, at: number): boolean {
    const length = readUint24(log.bytes, at);
    const next = at + FRAME_HEADER_BYTES + length;
    const flags = log.bytes[at + 4]!;
    const isHeaders = log.bytes[at + 3] === FRAME.headers;
    const endsStream = (flags & FLAG.endStream) !== 0;
    if (isHeaders && this.encoder.owesSizeUpdate) {
      const block = this.#withSizeUpdate(wholeBlock(log, at));
      this.#writeBlock(stream.id, block, { length: block.length, endStream: endsStream });
      stream.position = log.shift + afterBlock(log, at);
      return endsStream;
    }
    // A block cut into several frames is contiguous in the log, and nothing may come between its frames.
    const to = isHeaders && (flags & FLAG.endHeaders) === 0 ? afterBlock(log, at) : next;
    const first = this.#active.extend(to - at);
    copyBytes(log.bytes, at, to, this.#active.bytes, first);
    for (let frame = first; frame < first + to - at;) {
      putUint32(this.#active.bytes, frame + 5, stream.id);
      frame += FRAME_HEADER_BYTES + readUint24(this.#active.bytes, frame);
    }
    stream.position += to - at;
    return endsStream;
  }

  /** How much of a DATA frame may go out; 0 after queueing the stream, or when its own window must open first. */
  #allowance(stream: Stream<Owner>): number {
    if (stream.sendWindow <= 0) return 0;
    if (this.isBlocked) {
      this.waiting.addData(stream);
      return 0;
    }
    return Math.min(stream.partialBytes, stream.sendWindow, this.#window);
  }

  /** Copies up to `allowed` bytes of the DATA frame that the stream stands in; true when that ends the stream. */
  #copyPart(stream: Stream<Owner>, log: FrameLog, allowed: number): boolean {
    const last = allowed === stream.partialBytes;
    const flags = last ? stream.partialFlags & FLAG.endStream : 0;
    const from = stream.position - log.shift;
    const first = this.#active.extend(FRAME_HEADER_BYTES + allowed);
    putFrameHeader(this.#active.bytes, first, allowed, FRAME.data, flags, stream.id);
    copyBytes(log.bytes, from, from + allowed, this.#active.bytes, first + FRAME_HEADER_BYTES);
    this.dataFrames++;
    this.#window -= allowed;
    stream.sendWindow -= allowed;
    stream.position += allowed;
    stream.partialBytes -= allowed;
    return flags !== 0;
  }
}

/**
 * Copies a small log with whatever lies behind it in its piece of storage, where there is room for that: it needs no
 * view then, and what is too much is written over by what comes next.
 */
function copyWhole(log: FrameLog, target: Uint8Array, at: number): void {
  const { bytes, end } = log;
  if (bytes.length <= SMALL_PIECE_BYTES && at + bytes.length <= target.length) {
    target.set(bytes, at);
  } else copyBytes(bytes, 0, end, target, at);
}

/** What the frame at `at` takes: a block is as large as its frames together, and DATA that is empty is nothing. */
function blockBytes(log: FrameLog, at: number): number {
  return log.bytes[at + 3] === FRAME.headers ? afterBlock(log, at) - at : 0;
}

/** Where the frames of the block that begins at `at` end, in the log's storage. */
function afterBlock(log: FrameLog, at: number): number {
  for (;;) {
    const flags = log.bytes[at + 4]!;
    at += FRAME_HEADER_BYTES + readUint24(log.bytes, at);
    if ((flags & FLAG.endHeaders) !== 0) return at;
  }
}

/** The block that begins at `at`, joined when it is cut into several frames. */
function wholeBlock(log: FrameLog, at: number): Uint8Array {
  const joined = new OutputBuffer();
  for (const end = afterBlock(log, at); at < end;) {
    const next = at + FRAME_HEADER_BYTES + readUint24(log.bytes, at);
    joined.append(log.bytes, at + FRAME_HEADER_BYTES, next);
    at = next;
  }
  return joined.bytes.slice(0, joined.length);
}
