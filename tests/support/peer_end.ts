/**
 * One end of a connection with a proxy under test, played by the test frame by frame: it keeps what it saw, and
 * nothing in it answers by itself.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { frameMessage } from "../../lib/grpc/mod.ts";
import {
  DEFAULT_MAX_FRAME_BYTES,
  DEFAULT_WINDOW_BYTES,
  MAX_WINDOW_BYTES,
  SETTING,
} from "../../lib/wire/mod.ts";
import { FrameParser, type SeenFrame } from "./frame_parser.ts";
import { ascii, concat, data, type Pairs, windowUpdate } from "./frames.ts";
import { MemorySocket } from "./memory_socket.ts";

/** Settings as they go into a SETTINGS frame. */
export type SettingPairs = readonly (readonly [id: number, value: number])[];

/** Windows that hold nothing back. */
export const WIDE: SettingPairs = [[SETTING.initialWindowSize, MAX_WINDOW_BYTES]];
export const WIDE_CONNECTION = MAX_WINDOW_BYTES - DEFAULT_WINDOW_BYTES;

/** One direction of a stream as the peer has seen it so far. */
export class SeenStream {
  readonly id: number;
  /** Header blocks in order, interim ones and trailers included. */
  readonly blocks: Pairs[] = [];
  /** All DATA, one character a byte. */
  text = "";
  /** What carried END_STREAM. */
  endedBy: "HEADERS" | "DATA" | undefined = undefined;
  /** The error code's name, when the other side reset the stream. */
  reset: string | undefined = undefined;
  /** Credit the other side gave by WINDOW_UPDATE, all in all. */
  granted = 0;

  constructor(id: number) {
    this.id = id;
  }

  /** All whole messages so far, without their prefixes. */
  get messages(): string[] {
    const found: string[] = [];
    for (let at = 0; at + 5 <= this.text.length;) {
      const length = Number.parseInt(
        [...this.text.slice(at + 1, at + 5)].map((c) =>
          c.charCodeAt(0).toString(16).padStart(2, "0")
        ).join(""),
        16,
      );
      if (at + 5 + length > this.text.length) break;
      found.push(this.text.slice(at + 5, at + 5 + length));
      at += 5 + length;
    }
    return found;
  }

  see(frame: SeenFrame): void {
    if (frame.type === "HEADERS") this.blocks.push(frame.fields);
    else if (frame.type === "DATA") this.text += frame.text;
    else if (frame.type === "RST_STREAM") this.reset = frame.code;
    else if (frame.type === "WINDOW_UPDATE") this.granted += frame.increment;
    if ((frame.type === "HEADERS" || frame.type === "DATA") && frame.endStream) {
      assertEquals(this.endedBy, undefined, `stream ${this.id} ends twice`);
      this.endedBy = frame.type;
    }
  }
}

/** The first value of a name. */
export function valueOf(fields: Pairs | undefined, name: string): string | undefined {
  return fields?.find(([known]) => known === name)?.[1];
}

/** A gRPC message with its prefix. */
export function framed(text: string | Uint8Array): Uint8Array {
  return frameMessage(typeof text === "string" ? ascii(text) : text);
}

/** A gRPC message as DATA, in as many frames as it takes. */
export function message(
  streamId: number,
  text: string | Uint8Array,
  { endStream = false }: { endStream?: boolean } = {},
): Uint8Array {
  const bytes = framed(text);
  const frames: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += DEFAULT_MAX_FRAME_BYTES) {
    const isLast = at + DEFAULT_MAX_FRAME_BYTES >= bytes.length;
    const piece = bytes.subarray(at, at + DEFAULT_MAX_FRAME_BYTES);
    frames.push(data(streamId, piece, { endStream: endStream && isLast }));
  }
  return concat(...frames);
}

/** Either end of a connection with the proxy. */
export abstract class PeerEnd {
  readonly socket: MemorySocket;
  /** Every frame that the proxy wrote, in order. */
  readonly frames: SeenFrame[] = [];
  /** The same as it came. */
  readonly wire: Uint8Array[] = [];
  /** What was wrong with what the proxy wrote. */
  trouble: unknown = undefined;
  #parser = new FrameParser();

  constructor() {
    this.socket = new MemorySocket({ written: (bytes) => this.#read(bytes) });
  }

  /** These frames come together. */
  sends(...frames: Uint8Array[]): void {
    this.socket.sends(concat(...frames));
  }

  /** Frames of one type that the proxy wrote. */
  seen<T extends SeenFrame["type"]>(type: T): Extract<SeenFrame, { type: T }>[] {
    return this.frames.filter((frame) => frame.type === type) as Extract<SeenFrame, { type: T }>[];
  }

  /** More DATA may come on the whole connection. */
  grants(bytes: number): void {
    this.sends(windowUpdate(0, bytes));
  }

  /** Throws what was wrong with what the proxy wrote, once. */
  expectsNoTrouble(): void {
    const { trouble } = this;
    this.trouble = undefined;
    if (trouble !== undefined) throw trouble;
  }

  protected abstract see(frame: SeenFrame): void;

  /** Bytes that come before the first frame. */
  protected preface(bytes: Uint8Array): Uint8Array {
    return bytes;
  }

  #read(bytes: Uint8Array): void {
    this.wire.push(bytes);
    try {
      for (const frame of this.#parser.read(this.preface(bytes))) {
        this.frames.push(frame);
        this.see(frame);
      }
    } catch (error) {
      this.trouble ??= error; // thrown here it would be the proxy's, as a failure to write
    }
  }
}
