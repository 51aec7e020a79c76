import { ERROR_CODE, writeGoAway, writeRstStream } from "../wire/mod.ts";
import type { Fault } from "./fault.ts";
import { writeHttp1Refusal } from "./http1.ts";
import {
  IDLE_FRAME_UNITS,
  IDLE_FRAMES,
  MAX_STREAM_ID,
  NO_LAST_STREAM,
  RAPID_RESET_UNITS,
  RESET_UNITS,
  RESETS,
  STREAM_WINDOW_BYTES,
  USEFUL_FRAME_UNITS,
} from "./limits.ts";
import { RecentIds } from "./recent_ids.ts";
import { SendSide } from "./send_side.ts";
import { initialPeerSettings } from "./settings.ts";
import type { ConnectionSink } from "./sink.ts";
import { Stream } from "./stream.ts";
import { ILLEGAL, INPUT, nextState, STATE } from "./stream_state.ts";
import { StreamTable } from "./stream_table.ts";
import { TokenBucket } from "./token_bucket.ts";

/**
 * What all of a connection's frames have in common: its streams, how they begin and end, which ids are used, and
 * how a fault is answered. Only `Connection` and the handlers of frames see it.
 */
export class Core<Owner> {
  readonly isServer: boolean;
  readonly sink: ConnectionSink<Owner>;
  readonly send = new SendSide<Owner>();
  readonly streams = new StreamTable<Owner>();
  readonly resetByUs = new RecentIds();
  /** The peer's settings; the protocol's defaults until they come. */
  readonly peer = initialPeerSettings();
  /** When the bytes came that are being received, by the caller's clock. */
  nowMs = 0;
  /** Streams begun and DATA received: see {@linkcode USEFUL_FRAME_UNITS}. */
  usefulFrames = 0;
  /** The peer's SETTINGS have come. */
  ready = false;
  /** The connection is over. */
  failed: Fault | undefined = undefined;
  /** Last stream the peer takes, once it has sent GOAWAY. */
  peerLastStreamId: number | undefined = undefined;
  /** We have sent GOAWAY. */
  draining = false;
  /** Last stream taken, once the final GOAWAY has named it. */
  lastAcceptedId = NO_LAST_STREAM;
  #nextStreamId = 1;
  #lastPeerStreamId = 0;
  #idleFrames = new TokenBucket(IDLE_FRAMES);
  /** What the useful frames so far have put into it. */
  #paidFrames = 0;
  #resets = new TokenBucket(RESETS);
  #answered = 0;

  constructor(isServer: boolean, sink: ConnectionSink<Owner>) {
    this.isServer = isServer;
    this.sink = sink;
  }

  // ---- ids

  /** The highest stream id that the peer has used. */
  get lastPeerStreamId(): number {
    return this.#lastPeerStreamId;
  }

  /** Whether neither side has used the id yet, so that only HEADERS (or PRIORITY) may come for it (RFC 9113 §5.1). */
  isIdle(id: number): boolean {
    const isOurs = (id % 2 === 1) !== this.isServer;
    return isOurs ? id >= this.#nextStreamId : id > this.#lastPeerStreamId;
  }

  /** Whether the peer has room for a stream of ours (RFC 9113 §5.1.2). */
  get canOpen(): boolean {
    return this.failed === undefined && this.peerLastStreamId === undefined && !this.draining &&
      this.streams.size < this.peer.maxConcurrentStreams && !this.isOutOfIds;
  }

  /** Every id that a stream of ours could have was used; the next one needs another connection (RFC 9113 §5.1.1). */
  get isOutOfIds(): boolean {
    return this.#nextStreamId > MAX_STREAM_ID;
  }

  /** Opens a stream of ours. */
  open(): Stream<Owner> {
    const stream = this.#add(this.#nextStreamId);
    this.#nextStreamId += 2;
    return stream;
  }

  /** Takes a stream of the peer's. */
  accept(id: number): Stream<Owner> {
    this.#lastPeerStreamId = id;
    return this.#add(id);
  }

  /** Answers a stream of the peer's, which is not taken, with RST_STREAM (RFC 9113 §8.7). */
  refuse(id: number): void {
    this.#lastPeerStreamId = id;
    this.resetId(id, ERROR_CODE.refusedStream);
    // Who has not heard of our GOAWAY yet is not to blame.
    if (!this.draining) this.countReset(RAPID_RESET_UNITS);
  }

  #add(id: number): Stream<Owner> {
    const stream = new Stream<Owner>(id, this.peer.initialWindowBytes, STREAM_WINDOW_BYTES);
    stream.openedMs = this.nowMs;
    this.usefulFrames++;
    this.streams.add(stream);
    return stream;
  }

  // ---- states

  /**
   * Moves the stream to its next state. Misuse by our own side throws; what a peer sent must have been checked before.
   */
  apply(stream: Stream<Owner>, input: number): void {
    const next = nextState(stream.state, input);
    if (next === ILLEGAL) {
      throw new Error(
        `Cannot apply input ${input} to stream ${stream.id}: its state is ${stream.state}`,
      );
    }
    stream.state = next;
  }

  /** The peer ended its side of the stream. */
  endRemote(stream: Stream<Owner>): void {
    const abandoned = !this.isServer && stream.state === STATE.open;
    this.apply(stream, INPUT.recvEnd);
    // A server that has answered needs no more of the request (RFC 9113 §8.1); ending our side frees its stream.
    if (abandoned) this.reset(stream, ERROR_CODE.noError);
    else if (stream.closed) this.close(stream);
  }

  /**
   * We ended our side of the stream. A server that `readsOn` takes, and checks, the rest of a request that it has
   * answered.
   */
  endLocal(stream: Stream<Owner>, readsOn = false): void {
    this.apply(stream, INPUT.sendEnd);
    this.#answered++;
    if (stream.closed) this.close(stream);
    // RFC 9113 §8.1: a server that has answered before the request ended may ask for no more of it.
    else if (this.isServer && !readsOn) this.reset(stream, ERROR_CODE.noError);
  }

  /** Ends the stream at once (RFC 9113 §6.4). Nothing happens when it is closed already. */
  reset(stream: Stream<Owner>, code: number): void {
    if (stream.closed || this.failed !== undefined) return;
    this.resetId(stream.id, code);
    this.apply(stream, INPUT.sendReset);
    this.close(stream);
  }

  /** Sends RST_STREAM for an id that has no stream, or will have none. */
  resetId(id: number, code: number): void {
    writeRstStream(this.send.out, id, code);
    this.resetByUs.add(id);
  }

  /** Lets go of a stream whose state is closed. */
  close(stream: Stream<Owner>): void {
    stream.log = undefined;
    if (stream.queued) this.send.waiting.delete(stream); // else a peer that resets what waits would fill the queue
    this.streams.delete(stream.id);
  }

  /** Streams that waited for window or output room go on, as far as there is some. */
  resumeQueued(): void {
    if (this.send.waiting.isEmpty) return;
    for (const stream of this.send.waiting.resumable(this.send)) {
      this.sink.writable(stream);
      if (this.failed !== undefined) return;
    }
  }

  // ---- faults of the peer's; what they return is whether to read on

  /** Ends one stream for a fault, and tells the sink. */
  failStream(stream: Stream<Owner>, code: number, why: string): boolean {
    this.reset(stream, code);
    this.sink.reset(stream, code, { scope: "stream", streamId: stream.id, code, why });
    return this.failed === undefined && this.countReset(this.resetUnits(stream));
  }

  /** Counts a frame that asks for nothing: too many of them end the connection. */
  countIdleFrame(units: number = IDLE_FRAME_UNITS): boolean {
    const useful = this.usefulFrames + this.send.dataFrames;
    this.#idleFrames.earn((useful - this.#paidFrames) * USEFUL_FRAME_UNITS);
    this.#paidFrames = useful;
    if (this.#idleFrames.take(units, this.nowMs)) return true;
    return this.fail(ERROR_CODE.enhanceYourCalm, "a flood of frames that ask for nothing");
  }

  /**
   * Counts a stream that the peer reset, or had us reset: too many end the connection. A backend ends only what we
   * began, so it is not counted.
   */
  countReset(units: number): boolean {
    if (!this.isServer) return true;
    this.#resets.earn(this.#answered);
    this.#answered = 0;
    if (this.#resets.take(units, this.nowMs)) return true;
    return this.fail(ERROR_CODE.enhanceYourCalm, "a flood of streams that are reset");
  }

  /** What the reset of the stream counts for. */
  resetUnits(stream: Stream<Owner>): number {
    return stream.openedMs === this.nowMs ? RAPID_RESET_UNITS : RESET_UNITS;
  }

  /** Ends the connection for a fault: GOAWAY goes into the output, and the sink is told. */
  fail(code: number, why: string): false {
    if (this.failed !== undefined) return false;
    this.failed = { scope: "connection", streamId: 0, code, why };
    // Never above what the final GOAWAY of a graceful end said (RFC 9113 §6.8).
    const last = Math.min(this.#lastPeerStreamId, this.lastAcceptedId);
    writeGoAway(this.send.out, last, code, why.replace(/[^\x20-\x7e]/g, "?"));
    this.sink.failed(this.failed);
    return false;
  }

  /** Ends the connection of a peer that speaks HTTP/1, which must be told in place of all that was not written yet. */
  failInHttp1(why: string): void {
    if (this.failed !== undefined) return;
    this.failed = { scope: "connection", streamId: 0, code: ERROR_CODE.http11Required, why };
    writeHttp1Refusal(this.send.out);
    this.sink.failed(this.failed);
  }
}
