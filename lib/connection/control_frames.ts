import {
  equalBytes,
  ERROR_CODE,
  FLAG,
  latin1,
  MAX_WINDOW_BYTES,
  readUint31,
  readUint32,
  writeGoAway,
  writePing,
  writeRstStream,
  writeSettingsAck,
} from "../wire/mod.ts";
import type { Core } from "./core.ts";
import {
  IDLE_FRAME_UNITS,
  LATE_FRAME_UNITS,
  NO_LAST_STREAM,
  PRIORITY_BYTES,
  RESET_UNITS,
  STREAMS_SHIFTED_PER_UNIT,
} from "./limits.ts";
import { applySettings } from "./settings.ts";
import type { Stream } from "./stream.ts";
import { INPUT } from "./stream_state.ts";

/** Opaque bytes of the PING that marks when the peer has seen our first GOAWAY. */
const DRAIN_PING = Uint8Array.from([0x64, 0x72, 0x61, 0x69, 0x6e, 0, 0, 0]);

/**
 * The frames that carry neither headers nor data: PRIORITY, RST_STREAM, SETTINGS, PING, GOAWAY and WINDOW_UPDATE
 * (RFC 9113 §6.3 to §6.9). Since it takes a GOAWAY and a PING there and back, the graceful end is here, too.
 */
export class ControlFrames<Owner> {
  readonly #core: Core<Owner>;

  constructor(core: Core<Owner>) {
    this.#core = core;
  }

  // ---- the graceful end (RFC 9113 §6.8)

  drain(): void {
    const core = this.#core;
    if (core.draining || core.failed !== undefined) return;
    core.draining = true;
    writeGoAway(core.send.out, NO_LAST_STREAM, ERROR_CODE.noError);
    writePing(core.send.out, false, DRAIN_PING);
  }

  /** The last stream has been named. */
  get drainFinished(): boolean {
    return this.#core.lastAcceptedId !== NO_LAST_STREAM;
  }

  finishDrain(): void {
    const core = this.#core;
    if (this.drainFinished || core.failed !== undefined) return;
    core.draining = true;
    core.lastAcceptedId = core.lastPeerStreamId;
    writeGoAway(core.send.out, core.lastAcceptedId, ERROR_CODE.noError);
  }

  // ---- frames of one stream

  onPriority(id: number, bytes: Uint8Array, from: number, to: number): boolean {
    const core = this.#core;
    if (id === 0) return core.fail(ERROR_CODE.protocolError, "PRIORITY on stream 0");
    if (!core.countIdleFrame()) return false;
    const wrongSize = to - from !== PRIORITY_BYTES;
    if (!wrongSize && readUint31(bytes, from) !== id) return true;
    const stream = core.streams.get(id);
    const code = wrongSize ? ERROR_CODE.frameSizeError : ERROR_CODE.protocolError;
    if (stream !== undefined) return core.failStream(stream, code, "a malformed PRIORITY");
    // RFC 9113 §6.4: a stream that is idle may not be reset, so the connection has to end (§5.4.1).
    if (core.isIdle(id)) return core.fail(code, "a malformed PRIORITY on an idle stream");
    writeRstStream(core.send.out, id, code);
    return true;
  }

  onReset(id: number, bytes: Uint8Array, from: number, to: number): boolean {
    const core = this.#core;
    if (id === 0) return core.fail(ERROR_CODE.protocolError, "RST_STREAM on stream 0");
    if (to - from !== 4) return core.fail(ERROR_CODE.frameSizeError, "RST_STREAM of a wrong size");
    if (core.isIdle(id)) {
      return core.fail(ERROR_CODE.protocolError, "RST_STREAM on an idle stream");
    }
    const stream = core.streams.get(id);
    if (stream === undefined) {
      return core.isServer ? core.countReset(RESET_UNITS) : core.countIdleFrame(LATE_FRAME_UNITS);
    }
    core.apply(stream, INPUT.recvReset);
    core.close(stream);
    core.sink.reset(stream, readUint32(bytes, from));
    return core.failed === undefined && core.countReset(core.resetUnits(stream));
  }

  // ---- frames of the connection

  onSettings(flags: number, id: number, bytes: Uint8Array, from: number, to: number): boolean {
    const core = this.#core;
    if (id !== 0) return core.fail(ERROR_CODE.protocolError, "SETTINGS on a stream");
    if ((flags & FLAG.ack) !== 0) return this.#onSettingsAck(to - from);
    if ((to - from) % 6 !== 0) {
      return core.fail(ERROR_CODE.frameSizeError, "SETTINGS of a wrong size");
    }
    const shifted = Math.floor(core.streams.size / STREAMS_SHIFTED_PER_UNIT);
    if (!core.countIdleFrame(IDLE_FRAME_UNITS + shifted)) return false;
    const windowBefore = core.peer.initialWindowBytes;
    const { encoder, out } = core.send;
    const fromServer = !core.isServer;
    const fault = applySettings(core.peer, { bytes, from, to, fromServer, encoder });
    if (fault !== undefined) return core.fail(fault.code, fault.why);
    writeSettingsAck(out);
    core.ready = true;
    if (!this.#shiftWindows(core.peer.initialWindowBytes - windowBefore)) return false;
    core.sink.settings();
    return core.failed === undefined;
  }

  #onSettingsAck(length: number): boolean {
    if (length !== 0) {
      const why = "SETTINGS acknowledgement with a payload";
      return this.#core.fail(ERROR_CODE.frameSizeError, why);
    }
    if (!this.#core.ready) {
      const why = "a connection that begins with an acknowledgement";
      return this.#core.fail(ERROR_CODE.protocolError, why);
    }
    return this.#core.countIdleFrame();
  }

  onPing(flags: number, id: number, bytes: Uint8Array, from: number, to: number): boolean {
    const core = this.#core;
    if (id !== 0) return core.fail(ERROR_CODE.protocolError, "PING on a stream");
    if (to - from !== 8) return core.fail(ERROR_CODE.frameSizeError, "PING of a wrong size");
    if (!core.countIdleFrame()) return false;
    if ((flags & FLAG.ack) === 0) {
      writePing(core.send.out, true, bytes, from);
    } else if (core.draining && equalBytes(bytes, from, DRAIN_PING, 0, 8)) {
      this.finishDrain();
    } else {
      core.sink.pong();
    }
    return core.failed === undefined;
  }

  onGoAway(id: number, bytes: Uint8Array, from: number, to: number): boolean {
    const core = this.#core;
    if (id !== 0) return core.fail(ERROR_CODE.protocolError, "GOAWAY on a stream");
    if (to - from < 8) return core.fail(ERROR_CODE.frameSizeError, "GOAWAY of a wrong size");
    if (!core.countIdleFrame()) return false;
    core.peerLastStreamId = readUint31(bytes, from);
    const code = readUint32(bytes, from + 4);
    core.sink.goAway(core.peerLastStreamId, code, latin1(bytes, from + 8, to));
    return core.failed === undefined;
  }

  // ---- the windows of what we send

  onWindowUpdate(id: number, bytes: Uint8Array, from: number, to: number): boolean {
    const core = this.#core;
    if (to - from !== 4) {
      return core.fail(ERROR_CODE.frameSizeError, "WINDOW_UPDATE of a wrong size");
    }
    const increment = readUint31(bytes, from);
    if (id === 0) return this.#openConnectionWindow(increment);
    const stream = core.streams.get(id);
    if (stream === undefined) {
      if (core.isIdle(id)) {
        return core.fail(ERROR_CODE.protocolError, "WINDOW_UPDATE on an idle stream");
      }
      // RFC 9113 §6.9: an increment of 0 is an error of the stream, also of one that has ended.
      if (increment === 0 && !core.resetByUs.has(id)) {
        writeRstStream(core.send.out, id, ERROR_CODE.protocolError);
      }
      return core.countIdleFrame(increment === 0 ? IDLE_FRAME_UNITS : LATE_FRAME_UNITS);
    }
    if (increment === 0) {
      return core.failStream(stream, ERROR_CODE.protocolError, "WINDOW_UPDATE of 0");
    }
    stream.sendWindow += increment;
    if (stream.sendWindow > MAX_WINDOW_BYTES) {
      return core.failStream(stream, ERROR_CODE.flowControlError, "a window beyond its limit");
    }
    if (stream.log !== undefined) core.sink.writable(stream);
    return core.failed === undefined;
  }

  #openConnectionWindow(increment: number): boolean {
    const core = this.#core;
    if (increment === 0) return core.fail(ERROR_CODE.protocolError, "WINDOW_UPDATE of 0");
    if (!core.send.addWindow(increment)) {
      return core.fail(ERROR_CODE.flowControlError, "a window beyond its limit");
    }
    core.resumeQueued();
    return core.failed === undefined;
  }

  /** RFC 9113 §6.9.2: a changed initial window changes that of every stream, even to below zero. */
  #shiftWindows(delta: number): boolean {
    if (delta === 0) return true;
    const core = this.#core;
    const opened: Stream<Owner>[] = [];
    for (const stream of core.streams.values()) {
      stream.sendWindow += delta;
      if (stream.sendWindow > MAX_WINDOW_BYTES) {
        return core.fail(ERROR_CODE.flowControlError, "a window beyond its limit");
      }
      if (delta > 0 && stream.log !== undefined) opened.push(stream);
    }
    for (const stream of opened) {
      if (!stream.closed && core.failed === undefined) core.sink.writable(stream);
    }
    return core.failed === undefined;
  }
}
