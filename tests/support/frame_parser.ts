/**
 * Frames read back into records, strictly: what no peer may send makes {@linkcode FrameParser} throw,
 * so every test that looks at output checks all of it.
 *
 * @module
 */

import {
  errorCodeName,
  FLAG,
  FRAME,
  HeaderCache,
  HpackDecoder,
  latin1,
  readUint24,
  readUint31,
  readUint32,
} from "../../lib/wire/mod.ts";
import { concat, type Pairs, pairsOf } from "./frames.ts";
import { toHex } from "./hex.ts";

/** One frame as it lies on the wire. */
export interface RawFrame {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  readonly payload: Uint8Array;
}

/** What one frame says, or a header block whatever frames it took. Error codes have their names. */
export type SeenFrame =
  | { type: "DATA"; streamId: number; text: string; endStream: boolean }
  | { type: "HEADERS"; streamId: number; fields: Pairs; endStream: boolean }
  | { type: "RST_STREAM"; streamId: number; code: string }
  | { type: "SETTINGS"; settings: [number, number][] }
  | { type: "SETTINGS ack" }
  | { type: "PING" | "PING ack"; opaque: string }
  | { type: "GOAWAY"; lastStreamId: number; code: string }
  | { type: "WINDOW_UPDATE"; streamId: number; increment: number };

/** Every peer must take frames this long, and no longer ones unless it said so. */
const MAX_FRAME_BYTES = 16_384;

/** Cuts whole frames; half a one at the end throws. */
export function splitFrames(bytes: Uint8Array): RawFrame[] {
  const frames: RawFrame[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = at + 9 <= bytes.length ? readUint24(bytes, at) : Infinity;
    if (at + 9 + length > bytes.length) throw new Error(`Cannot read half a frame at ${at}`);
    frames.push({
      type: bytes[at + 3]!,
      flags: bytes[at + 4]!,
      streamId: readUint31(bytes, at + 5),
      payload: bytes.slice(at + 9, at + 9 + length),
    });
    at += 9 + length;
  }
  return frames;
}

/** Reads one direction of a connection; its header compression has a state, so one for each. */
export class FrameParser {
  #decoder = new HpackDecoder(new HeaderCache(), { maxListBytes: Infinity });
  #block: { streamId: number; pieces: Uint8Array[]; endStream: boolean } | undefined;

  /** The frames of `bytes`, which must be whole. */
  read(bytes: Uint8Array): SeenFrame[] {
    const seen = splitFrames(bytes).flatMap((frame) => this.#see(frame) ?? []);
    if (this.#block !== undefined) throw new Error("Cannot read half a header block");
    return seen;
  }

  #see({ type, flags, streamId, payload }: RawFrame): SeenFrame | undefined {
    if (payload.length > MAX_FRAME_BYTES) throw new Error(`A frame of ${payload.length} bytes`);
    if (this.#block !== undefined && (type !== FRAME.continuation)) {
      throw new Error(`A frame of type ${type} within a header block`);
    }
    const onConnection = type === FRAME.settings || type === FRAME.ping || type === FRAME.goAway;
    if (type !== FRAME.windowUpdate && onConnection !== (streamId === 0)) {
      throw new Error(`A frame of type ${type} on stream ${streamId}`);
    }
    const endStream = (flags & FLAG.endStream) !== 0;
    switch (type) {
      case FRAME.data:
        return { type: "DATA", streamId, text: latin1(payload, 0, payload.length), endStream };
      case FRAME.headers:
        this.#block = { streamId, pieces: [payload], endStream };
        return this.#seeBlock(flags);
      case FRAME.continuation:
        if (this.#block?.streamId !== streamId) throw new Error("CONTINUATION of no block");
        this.#block.pieces.push(payload);
        return this.#seeBlock(flags);
      case FRAME.settings:
        return seeSettings(flags, payload);
      default:
        return seeControl({ type, flags, streamId, payload });
    }
  }

  #seeBlock(flags: number): SeenFrame | undefined {
    if ((flags & FLAG.endHeaders) === 0) return undefined;
    const { streamId, pieces, endStream } = this.#block!;
    this.#block = undefined;
    const bytes = concat(...pieces);
    const broken = this.#decoder.decode(bytes, 0, bytes.length);
    if (broken !== "") throw new Error(`A header block with ${broken}: ${toHex(bytes)}`);
    const fields = [...this.#decoder.list.fields, ...this.#decoder.perCall];
    return {
      type: "HEADERS",
      streamId,
      fields: pairsOf(fields),
      endStream,
    };
  }
}

function seeSettings(flags: number, payload: Uint8Array): SeenFrame {
  if ((flags & FLAG.ack) !== 0) {
    if (payload.length > 0) throw new Error("A SETTINGS acknowledgement with a payload");
    return { type: "SETTINGS ack" };
  }
  const settings: [number, number][] = [];
  for (let at = 0; at < payload.length; at += 6) {
    settings.push([(payload[at]! << 8) | payload[at + 1]!, readUint32(payload, at + 2)]);
  }
  return { type: "SETTINGS", settings };
}

function seeControl({ type, flags, streamId, payload }: RawFrame): SeenFrame {
  const sizes: Record<number, number> = { [FRAME.rstStream]: 4, [FRAME.ping]: 8 };
  sizes[FRAME.windowUpdate] = 4;
  if (payload.length !== (sizes[type] ?? payload.length)) throw new Error("A frame of wrong size");
  switch (type) {
    case FRAME.rstStream:
      return { type: "RST_STREAM", streamId, code: errorCodeName(readUint32(payload, 0)) };
    case FRAME.ping: {
      const ack = (flags & FLAG.ack) !== 0;
      return { type: ack ? "PING ack" : "PING", opaque: toHex(payload) };
    }
    case FRAME.goAway:
      return {
        type: "GOAWAY",
        lastStreamId: readUint31(payload, 0),
        code: errorCodeName(readUint32(payload, 4)),
      };
    case FRAME.windowUpdate: {
      const increment = readUint31(payload, 0);
      if (increment === 0) throw new Error("A WINDOW_UPDATE of 0");
      return { type: "WINDOW_UPDATE", streamId, increment };
    }
    default:
      throw new Error(`A frame of type ${type}, which we never send`);
  }
}
