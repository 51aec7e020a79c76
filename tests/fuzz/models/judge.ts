/**
 * What must come of each frame that a peer sends, after RFC 9113, with the choices that the RFC leaves made as
 * `lib/connection` says it makes them. A second opinion: it shares nothing with the code that it judges.
 *
 * @module
 */

import { ERROR_CODE, FLAG, FRAME, MAX_WINDOW_BYTES } from "../../../lib/wire/mod.ts";
import type { RawFrame } from "../../support/frame_parser.ts";
import { toHex } from "../../support/hex.ts";
import {
  connectionFault,
  type ConnectionState,
  FINE,
  FLOW_CONTROL,
  FRAME_SIZE,
  PROTOCOL,
  strayFault,
  streamFault,
  sumOf,
  tells,
  type Verdict,
} from "./connection_state.ts";
import { HeadersJudge } from "./headers_judge.ts";
import { numberAt } from "./number_at.ts";
import { faultOfSetting, readSettings } from "./settings_frame.ts";

/** Judges the frames of one connection in the order they come. */
export class Judge {
  readonly state: ConnectionState;
  readonly #headers: HeadersJudge;
  /** What our PING in a graceful end carries: its answer is told to nobody. */
  drainOpaque: string | undefined = undefined;

  constructor(state: ConnectionState) {
    this.state = state;
    this.#headers = new HeadersJudge(state);
  }

  /** A block has begun and not ended: its CONTINUATION alone may follow. */
  get isWithinBlock(): boolean {
    return this.#headers.blocks.isOpen;
  }

  judge(frame: RawFrame): Verdict {
    const { type, flags, streamId, payload } = frame;
    if (!this.state.isReady && (type !== FRAME.settings || (flags & FLAG.ack) !== 0)) {
      return streamId !== 0 || payload.length === 0 || type !== FRAME.settings
        ? PROTOCOL
        : connectionFault(ERROR_CODE.protocolError, ERROR_CODE.frameSizeError);
    }
    if (!this.#headers.blocks.admits(frame)) return PROTOCOL;
    switch (type) {
      case FRAME.data:
        return this.#data(frame);
      case FRAME.headers:
        return this.#headers.onHeaders(frame);
      case FRAME.continuation:
        return this.#headers.onContinuation(frame);
      case FRAME.priority:
        return this.#priority(frame);
      case FRAME.rstStream:
        return this.#reset(frame);
      case FRAME.settings:
        return this.#settings(frame);
      case FRAME.pushPromise:
        return PROTOCOL;
      case FRAME.ping:
        return this.#ping(frame);
      case FRAME.goAway:
        return this.#goAway(frame);
      case FRAME.windowUpdate:
        return this.#windowUpdate(frame);
      default:
        return FINE;
    }
  }

  #data({ flags, streamId, payload }: RawFrame): Verdict {
    const { state } = this;
    let [from, to] = [0, payload.length];
    if (streamId === 0) return PROTOCOL;
    if ((flags & FLAG.padded) !== 0) {
      if (payload.length === 0) return FRAME_SIZE;
      if (payload[0]! >= payload.length) return PROTOCOL;
      [from, to] = [1, payload.length - payload[0]!];
    }
    state.recvWindow -= payload.length;
    state.receivedBytes += payload.length;
    if (state.recvWindow < 0) return FLOW_CONTROL;
    const stream = state.live(streamId);
    if (stream === undefined) {
      if (state.isIdle(streamId)) return PROTOCOL;
      const isLate = state.resetByUs.has(streamId) || streamId > state.lastAcceptedId;
      return isLate ? FINE : strayFault(streamId, ERROR_CODE.streamClosed);
    }
    if (stream.peerEnded) return streamFault(stream, ERROR_CODE.streamClosed);
    if (!stream.headIn) return streamFault(stream, ERROR_CODE.protocolError);
    stream.recvWindow -= payload.length;
    stream.receivedBytes += payload.length;
    if (stream.recvWindow < 0) return streamFault(stream, ERROR_CODE.flowControlError);
    stream.payloadBytes += to - from;
    const endStream = (flags & FLAG.endStream) !== 0;
    if (stream.lengthDiffers(endStream)) return streamFault(stream, ERROR_CODE.protocolError);
    if (endStream) stream.peerEnded = true;
    const sum = sumOf(payload, from, to);
    return tells({ what: "data", id: streamId, length: to - from, sum, endStream });
  }

  #priority({ streamId, payload }: RawFrame): Verdict {
    if (streamId === 0) return PROTOCOL;
    const isWrongSize = payload.length !== 5;
    if (!isWrongSize && (numberAt(payload, 0) & 0x7fffffff) !== streamId) return FINE;
    const code = isWrongSize ? ERROR_CODE.frameSizeError : ERROR_CODE.protocolError;
    const stream = this.state.live(streamId);
    if (stream !== undefined) return streamFault(stream, code);
    if (this.state.isIdle(streamId)) return connectionFault(code);
    return strayFault(streamId, code, { isForgotten: true });
  }

  #reset({ streamId, payload }: RawFrame): Verdict {
    if (streamId === 0) return PROTOCOL;
    if (payload.length !== 4) return FRAME_SIZE;
    if (this.state.isIdle(streamId)) return PROTOCOL;
    const stream = this.state.live(streamId);
    if (stream === undefined) return FINE;
    stream.peerReset = true;
    return tells({ what: "reset", id: streamId, code: numberAt(payload, 0), byFault: false });
  }

  #settings(frame: RawFrame): Verdict {
    const { state } = this;
    const read = readSettings(frame);
    if (read.says === "nothing") return connectionFault(read.fault);
    if (read.says === "ack") return FINE;
    const before = state.peer.initialWindowBytes;
    for (const pair of read.pairs) {
      const fault = faultOfSetting(pair, state.role === "server" ? "client" : "server");
      if (fault !== undefined) return connectionFault(fault);
      this.#setting(...pair);
    }
    state.isReady = true;
    state.settingsOwed++;
    for (const stream of state.open) {
      stream.sendWindow += state.peer.initialWindowBytes - before;
      if (stream.sendWindow > MAX_WINDOW_BYTES) return FLOW_CONTROL;
    }
    return tells({ what: "settings" });
  }

  #setting(id: number, value: number): void {
    const { peer, decoderOut } = this.state;
    if (id === 1) decoderOut.allow(value);
    else if (id === 3) peer.maxConcurrentStreams = value;
    else if (id === 4) peer.initialWindowBytes = value;
  }

  #ping({ flags, streamId, payload }: RawFrame): Verdict {
    if (streamId !== 0) return PROTOCOL;
    if (payload.length !== 8) return FRAME_SIZE;
    if ((flags & FLAG.ack) === 0) {
      this.state.pingsOwed.push(toHex(payload));
      return FINE;
    }
    return toHex(payload) === this.drainOpaque ? FINE : tells({ what: "pong" });
  }

  #goAway({ streamId, payload }: RawFrame): Verdict {
    if (streamId !== 0) return PROTOCOL;
    if (payload.length < 8) return FRAME_SIZE;
    this.state.peerGoesAway = true;
    const lastStreamId = numberAt(payload, 0) & 0x7fffffff;
    return tells({ what: "goAway", lastStreamId, code: numberAt(payload, 4) });
  }

  #windowUpdate({ streamId, payload }: RawFrame): Verdict {
    const { state } = this;
    if (payload.length !== 4) return FRAME_SIZE;
    const increment = numberAt(payload, 0) & 0x7fffffff;
    if (streamId === 0) {
      state.sendWindow += increment;
      if (increment === 0) return PROTOCOL;
      return state.sendWindow > MAX_WINDOW_BYTES ? FLOW_CONTROL : FINE;
    }
    const stream = state.live(streamId);
    if (stream === undefined) {
      if (state.isIdle(streamId)) return PROTOCOL;
      if (increment > 0 || state.resetByUs.has(streamId)) return FINE;
      return strayFault(streamId, ERROR_CODE.protocolError, { isForgotten: true });
    }
    if (increment === 0) return streamFault(stream, ERROR_CODE.protocolError);
    stream.sendWindow += increment;
    if (stream.sendWindow > MAX_WINDOW_BYTES) {
      return streamFault(stream, ERROR_CODE.flowControlError);
    }
    return FINE;
  }
}
