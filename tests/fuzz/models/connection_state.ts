import { CLIENT_PREFACE, ERROR_CODE, MAX_WINDOW_BYTES } from "../../../lib/wire/mod.ts";
import { type ModelBlock, ModelDecoder, type ModelField } from "./hpack.ts";
import { ModelStream } from "./stream_model.ts";

export { CLIENT_PREFACE };

/** What the protocol begins with (RFC 9113 §6.5.2, §6.9.2). */
const DEFAULT_WINDOW_BYTES = 65_535;

/** Of the connection under test, which is "we"; the other side is "the peer". */
export type Role = "client" | "server";

/** Both sides of a connection as far as the frames tell that went over it. */
export class ConnectionState {
  readonly role: Role;
  readonly streams = new Map<number, ModelStream>();
  /** What the peer announced. */
  readonly peer = {
    initialWindowBytes: DEFAULT_WINDOW_BYTES,
    maxConcurrentStreams: Infinity,
  };
  /** What we did. */
  readonly our = { initialWindowBytes: DEFAULT_WINDOW_BYTES };
  /** The peer's SETTINGS came. */
  isReady = false;
  sendWindow = DEFAULT_WINDOW_BYTES;
  recvWindow = DEFAULT_WINDOW_BYTES;
  receivedBytes = 0;
  announcedBytes = 0;
  /** The highest ids that either side has used. */
  lastPeerId = 0;
  lastOurId = 0;
  /** The peer's GOAWAY came: we open no more streams. */
  peerGoesAway = false;
  /** The last stream that our GOAWAYs leave. */
  lastAcceptedId = MAX_WINDOW_BYTES;
  /** A GOAWAY that names an error was sent: nothing may follow. */
  hasFailed = false;
  /** Streams that we reset, so that what comes late for them is no fault (§5.4.2). */
  readonly resetByUs = new Set<number>();
  /** Their answers are owed, in this order. */
  readonly pingsOwed: string[] = [];
  settingsOwed = 0;
  readonly decoderIn = new ModelDecoder();
  readonly decoderOut = new ModelDecoder();

  constructor(role: Role) {
    this.role = role;
  }

  /** The stream, unless it is over (or never was). */
  live(id: number): ModelStream | undefined {
    const stream = this.streams.get(id);
    return stream === undefined || stream.isClosed ? undefined : stream;
  }

  get open(): ModelStream[] {
    return [...this.streams.values()].filter((stream) => !stream.isClosed);
  }

  isIdle(id: number): boolean {
    const isOurs = (id % 2 === 1) === (this.role === "client");
    return id > (isOurs ? this.lastOurId : this.lastPeerId);
  }

  add(id: number): ModelStream {
    const stream = new ModelStream(id, {
      send: this.peer.initialWindowBytes,
      recv: this.our.initialWindowBytes,
    });
    this.streams.set(id, stream);
    return stream;
  }

  decodeIn(block: Uint8Array): ModelBlock {
    return this.decoderIn.decode(block);
  }
}

/** What must come of a frame that the peer sent. */
export interface Verdict {
  readonly scope: "fine" | "stream" | "connection";
  readonly streamId: number;
  /** Error codes that say so. */
  readonly codes: readonly number[];
  /** What the sink must be told, but for `writable`. */
  readonly told: readonly Told[];
  /** The stream has no state, so that the RST_STREAM that answers a fault leaves no memory. */
  readonly isForgotten?: boolean;
}

/** What a sink is told. */
export type Told =
  | {
    what: "headers";
    id: number;
    fields: readonly ModelField[];
    isCut: boolean;
    endStream: boolean;
  }
  | { what: "data"; id: number; length: number; sum: number; endStream: boolean }
  | { what: "reset"; id: number; code: number; byFault: boolean }
  | { what: "settings" }
  | { what: "goAway"; lastStreamId: number; code: number }
  | { what: "pong" }
  | { what: "failed"; code: number };

export const FINE: Verdict = { scope: "fine", streamId: 0, codes: [], told: [] };

export function tells(...told: Told[]): Verdict {
  return { ...FINE, told };
}

/** The connection must end, with one of these codes. */
export function connectionFault(...codes: number[]): Verdict {
  return { scope: "connection", streamId: 0, codes, told: [] };
}

/** The stream must be reset; the sink learns of it where it may know the stream. */
export function streamFault(stream: ModelStream, code: number): Verdict {
  const told: Told[] = [{ what: "reset", id: stream.id, code, byFault: true }];
  return { scope: "stream", streamId: stream.id, codes: [code], told };
}

/** A stream that has no state must be answered with RST_STREAM. */
export function strayFault(streamId: number, code: number, { isForgotten = false } = {}): Verdict {
  return { scope: "stream", streamId, codes: [code], told: [], isForgotten };
}

export const PROTOCOL = connectionFault(ERROR_CODE.protocolError);
export const FRAME_SIZE = connectionFault(ERROR_CODE.frameSizeError);
export const FLOW_CONTROL = connectionFault(ERROR_CODE.flowControlError);

/** A sum that tells bytes apart from what they should have been. */
export function sumOf(bytes: Uint8Array, from: number, to: number): number {
  let sum = 0;
  for (let i = from; i < to; i++) sum = (Math.imul(sum, 31) + bytes[i]!) | 0;
  return sum;
}
