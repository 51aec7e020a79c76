import type { Field, HeaderList } from "../wire/mod.ts";
import type { Fault } from "./fault.ts";
import type { Stream } from "./stream.ts";

/** A header block as the sink sees it: good until the sink returns, though its list and `perCall` may be kept. */
export interface ReceivedHeaders {
  /** The fields, those that differ from call to call left out. */
  readonly list: HeaderList;
  readonly perCall: readonly Field[];
  /** The list was larger than we accept and is not whole. */
  readonly tooLarge: boolean;
}

/**
 * What a connection tells its owner. Called from within `Connection.receive`, after the bookkeeping of the frame
 * is complete, so any `send` or `reset` may be called back at once.
 */
export interface ConnectionSink<Owner> {
  /** A request head, a response head (interim ones included), or trailers. */
  headers(stream: Stream<Owner>, headers: ReceivedHeaders, endStream: boolean): void;
  /** DATA of the stream: `bytes[from, to)`, good until the sink returns; credit comes back by `Connection.consumed`. */
  data(
    stream: Stream<Owner>,
    bytes: Uint8Array,
    from: number,
    to: number,
    endStream: boolean,
  ): void;
  /** The stream was reset, by the peer or (with a reason) for a fault of the peer's. It is closed already. */
  reset(stream: Stream<Owner>, code: number, fault?: Fault): void;
  /** The stream's log may be relayed further. */
  writable(stream: Stream<Owner>): void;
  /** The peer's SETTINGS came; the first time this makes a connection usable. */
  settings(): void;
  /** The peer takes no streams above `lastStreamId`. */
  goAway(lastStreamId: number, code: number, debug: string): void;
  /** A PING of ours was answered, other than the one of a graceful end. */
  pong(): void;
  /** The connection is over for a fault of the peer's; GOAWAY is in the output. Its streams get no `reset`. */
  failed(fault: Fault): void;
}
