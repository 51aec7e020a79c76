import { ERROR_CODE, FLAG, writeWindowUpdate } from "../wire/mod.ts";
import type { Core } from "./core.ts";
import { ANNOUNCE_SHARE, CONNECTION_WINDOW_BYTES, STREAM_WINDOW_BYTES } from "./limits.ts";
import type { Stream } from "./stream.ts";
import { ILLEGAL, INPUT, nextState } from "./stream_state.ts";

/** DATA that comes in (RFC 9113 §6.1), and the two windows that it is counted against (§5.2). */
export class DataFrames<Owner> {
  readonly #core: Core<Owner>;
  #recvWindow = CONNECTION_WINDOW_BYTES;
  #recvOwed = 0;
  #isPaused = false;

  constructor(core: Core<Owner>) {
    this.#core = core;
  }

  onData(flags: number, id: number, bytes: Uint8Array, from: number, to: number): boolean {
    const core = this.#core;
    const counted = to - from; // padding and its length byte are counted too (RFC 9113 §6.9.1)
    if (id === 0) return core.fail(ERROR_CODE.protocolError, "DATA on stream 0");
    if ((flags & FLAG.padded) !== 0) {
      if (counted === 0) {
        return core.fail(ERROR_CODE.frameSizeError, "DATA too short for its flags");
      }
      const padding = bytes[from]!;
      if (padding >= counted) {
        return core.fail(ERROR_CODE.protocolError, "padding longer than its frame");
      }
      from++;
      to -= padding;
    }
    if (!this.#creditConnection(counted)) return false;
    const stream = core.streams.get(id);
    if (stream === undefined) return this.#onDataOfClosed(id, from === to);
    const endStream = (flags & FLAG.endStream) !== 0;
    if (nextState(stream.state, INPUT.recvData) === ILLEGAL) {
      return core.failStream(stream, ERROR_CODE.streamClosed, "DATA after the end of the stream");
    }
    if (!stream.headersReceived) {
      return core.failStream(stream, ERROR_CODE.protocolError, "DATA before HEADERS");
    }
    stream.recvWindow -= counted;
    if (stream.recvWindow < 0) {
      return core.failStream(stream, ERROR_CODE.flowControlError, "DATA beyond the window");
    }
    stream.receivedBytes += to - from;
    if (!stream.lengthAgrees(endStream)) {
      const why = "DATA that differs from content-length";
      return core.failStream(stream, ERROR_CODE.protocolError, why);
    }
    if (to > from || endStream) core.usefulFrames++;
    else if (!core.countIdleFrame()) return false;
    if (endStream) core.endRemote(stream);
    if (counted > to - from) this.consumed(stream, counted - (to - from));
    core.sink.data(stream, bytes, from, to, endStream);
    return core.failed === undefined;
  }

  /** The stream's window is given back `count` bytes: to the peer, once they are worth a frame. */
  consumed(stream: Stream<Owner>, count: number): void {
    if (stream.remoteEnded || this.#core.failed !== undefined) return;
    stream.recvOwed += count;
    if (stream.recvOwed * ANNOUNCE_SHARE < STREAM_WINDOW_BYTES) return;
    writeWindowUpdate(this.#core.send.out, stream.id, stream.recvOwed);
    stream.recvWindow += stream.recvOwed;
    stream.recvOwed = 0;
  }

  /** Counts DATA against the connection's window and gives it back: see {@linkcode CONNECTION_WINDOW_BYTES}. */
  #creditConnection(count: number): boolean {
    this.#recvWindow -= count;
    if (this.#recvWindow < 0) {
      const why = "DATA beyond the connection's window";
      return this.#core.fail(ERROR_CODE.flowControlError, why);
    }
    this.#recvOwed += count;
    if (this.#recvOwed * ANNOUNCE_SHARE >= CONNECTION_WINDOW_BYTES) this.#announce();
    return true;
  }

  /** Keeps the connection's window, or gives it back again: meanwhile the peer can soon send no DATA at all. */
  pause(isPaused: boolean): void {
    this.#isPaused = isPaused;
    if (this.#recvOwed * ANNOUNCE_SHARE >= CONNECTION_WINDOW_BYTES) this.#announce();
  }

  #announce(): void {
    if (this.#isPaused || this.#core.failed !== undefined) return;
    writeWindowUpdate(this.#core.send.out, 0, this.#recvOwed);
    this.#recvWindow += this.#recvOwed;
    this.#recvOwed = 0;
  }

  #onDataOfClosed(id: number, isEmpty: boolean): boolean {
    const core = this.#core;
    if (core.isIdle(id)) return core.fail(ERROR_CODE.protocolError, "DATA on an idle stream");
    // What was under way when we reset the stream is not the peer's fault (RFC 9113 §5.4.2).
    const isLate = core.resetByUs.has(id) || id > core.lastAcceptedId;
    if (!isLate) core.resetId(id, ERROR_CODE.streamClosed);
    return isLate && !isEmpty || core.countIdleFrame();
  }
}
