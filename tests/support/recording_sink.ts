import type { ConnectionSink, Fault, ReceivedHeaders, Stream } from "../../lib/connection/mod.ts";
import { errorCodeName, latin1 } from "../../lib/wire/mod.ts";
import { type Pairs, pairsOf } from "./frames.ts";

/** What a sink was told, as plain records; error codes have their names. */
export type SinkEvent =
  | {
    event: "headers";
    streamId: number;
    fields: Pairs;
    perCall?: Pairs;
    tooLarge?: true;
    endStream: boolean;
  }
  | { event: "data"; streamId: number; text: string; endStream: boolean }
  | { event: "reset"; streamId: number; code: string; byFault: boolean }
  | { event: "writable"; streamId: number }
  | { event: "settings" }
  | { event: "goAway"; lastStreamId: number; code: string; debug: string }
  | { event: "pong" }
  | { event: "failed"; code: string };

/** What a test wants done at once, from within the call. */
export type Reactions = Partial<Omit<ConnectionSink<unknown>, "settings" | "pong">>;

/** A sink that keeps what it is told, and does what the test wants done about it. */
export class RecordingSink implements ConnectionSink<unknown> {
  /** What happened since {@linkcode take}. */
  events: SinkEvent[] = [];
  /** Every stream met, also those that are closed. */
  readonly streams = new Map<number, Stream<unknown>>();
  /** Why the streams and the connection failed, in words. */
  readonly whys: string[] = [];
  reactions: Reactions = {};

  /** The events so far, which are forgotten. */
  take(): SinkEvent[] {
    const { events } = this;
    this.events = [];
    return events;
  }

  headers(stream: Stream<unknown>, received: ReceivedHeaders, endStream: boolean): void {
    const { streamId } = this.#meet(stream);
    this.events.push({
      event: "headers",
      streamId,
      fields: pairsOf(received.list.fields),
      ...(received.perCall.length > 0 && { perCall: pairsOf(received.perCall) }),
      ...(received.tooLarge && { tooLarge: true as const }),
      endStream,
    });
    this.reactions.headers?.(stream, received, endStream);
  }

  data(
    stream: Stream<unknown>,
    bytes: Uint8Array,
    from: number,
    to: number,
    endStream: boolean,
  ): void {
    const { streamId } = this.#meet(stream);
    this.events.push({ event: "data", streamId, text: latin1(bytes, from, to), endStream });
    this.reactions.data?.(stream, bytes, from, to, endStream);
  }

  reset(stream: Stream<unknown>, code: number, fault?: Fault): void {
    const { streamId } = this.#meet(stream);
    const byFault = fault !== undefined;
    this.events.push({ event: "reset", streamId, code: errorCodeName(code), byFault });
    if (fault !== undefined) this.whys.push(fault.why);
    this.reactions.reset?.(stream, code, fault);
  }

  writable(stream: Stream<unknown>): void {
    this.events.push({ event: "writable", ...this.#meet(stream) });
    this.reactions.writable?.(stream);
  }

  settings(): void {
    this.events.push({ event: "settings" });
  }

  goAway(lastStreamId: number, code: number, debug: string): void {
    this.events.push({ event: "goAway", lastStreamId, code: errorCodeName(code), debug });
    this.reactions.goAway?.(lastStreamId, code, debug);
  }

  pong(): void {
    this.events.push({ event: "pong" });
  }

  failed(fault: Fault): void {
    this.events.push({ event: "failed", code: errorCodeName(fault.code) });
    this.whys.push(fault.why);
    this.reactions.failed?.(fault);
  }

  #meet(stream: Stream<unknown>): { streamId: number } {
    this.streams.set(stream.id, stream);
    return { streamId: stream.id };
  }
}
