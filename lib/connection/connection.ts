import {
  type BufferedBytes,
  ERROR_CODE,
  type Field,
  FRAME,
  type FrameLog,
  type HeaderCache,
  type HeaderList,
  type OutputBuffer,
  writePing,
} from "../wire/mod.ts";
import { ControlFrames } from "./control_frames.ts";
import { Core } from "./core.ts";
import { DataFrames } from "./data_frames.ts";
import type { Fault } from "./fault.ts";
import { type FrameHandler, FrameReader } from "./frame_reader.ts";
import { HeaderFrames } from "./header_frames.ts";
import { OutputAccount } from "./output_account.ts";
import { Preface } from "./preface.ts";
import type { PeerSettings } from "./settings.ts";
import type { ConnectionSink } from "./sink.ts";
import type { Stream } from "./stream.ts";
import { INPUT } from "./stream_state.ts";

export interface ConnectionOptions<Owner> {
  readonly role: "client" | "server";
  readonly sink: ConnectionSink<Owner>;
  /** The cache of fields and lists that the connections of one role share. */
  readonly headerCache: HeaderCache;
  /** Tells this process from others, to whoever knows {@linkcode INSTANCE_SETTING}: 32 bits. @default 0, unsaid */
  readonly instance?: number;
  /** Hears of the output that waits for the socket, where that is much. @default none */
  readonly account?: BufferedBytes;
}

/**
 * One side of one HTTP/2 connection (RFC 9113) without its socket: {@linkcode receive} takes what the peer sent,
 * the sink hears what it means, and {@linkcode takeOutput} hands over what must be written. Never throws for
 * anything a peer sent.
 */
export class Connection<Owner> implements FrameHandler {
  readonly #core: Core<Owner>;
  readonly #output: OutputAccount;
  readonly #reader: FrameReader;
  readonly #data: DataFrames<Owner>;
  readonly #headers: HeaderFrames<Owner>;
  readonly #control: ControlFrames<Owner>;
  readonly #preface: Preface<Owner>;

  constructor(options: ConnectionOptions<Owner>) {
    const { role, sink, headerCache, instance = 0, account } = options;
    this.#core = new Core(role === "server", sink);
    this.#output = new OutputAccount(account);
    this.#reader = new FrameReader(this);
    this.#data = new DataFrames(this.#core);
    this.#headers = new HeaderFrames(this.#core, headerCache);
    this.#control = new ControlFrames(this.#core);
    this.#preface = new Preface(this.#core, instance);
  }

  // ---- what the transport calls

  /** Takes what the peer sent, the first `length` of `bytes`, which are not kept. `nowMs` is the caller's clock. */
  receive(bytes: Uint8Array, nowMs: number, length: number = bytes.length): void {
    this.#core.nowMs = nowMs;
    if (this.failed !== undefined) return;
    const from = this.#preface.isComplete ? 0 : this.#preface.read(bytes, length);
    if (from >= 0) this.#reader.read(bytes, from, length);
  }

  /** Bytes that wait to be written. */
  get outputBytes(): number {
    return this.#core.send.out.length;
  }

  /** What must be written now. The buffer is the connection's: clear it once it is written, before the next call. */
  takeOutput(): OutputBuffer {
    this.#preface.isGreetingUnsent = false;
    const output = this.#core.send.swap();
    this.outputWaits();
    return output;
  }

  /** The socket is not ready for what has been put into the output. */
  outputWaits(): void {
    this.#output.tell(this.#core.send.waitingBytes);
  }

  /** What the account was told of: output that waits, where that is much. */
  get countedOutputBytes(): number {
    return this.#output.bytes;
  }

  /** The socket is gone: what is in the output is for nobody. */
  discardOutput(): void {
    this.#output.close();
  }

  /** The output went out: streams that waited for room go on. */
  drained(): void {
    if (this.failed === undefined) this.#core.resumeQueued();
    this.outputWaits();
  }

  // ---- what the sink's owner asks

  /** When the bytes came that are being received, by the caller's clock. */
  get nowMs(): number {
    return this.#core.nowMs;
  }

  /** The peer's settings; the protocol's defaults until they come. */
  get peer(): Readonly<PeerSettings> {
    return this.#core.peer;
  }

  /** The peer's SETTINGS have come. */
  get ready(): boolean {
    return this.#core.ready;
  }

  /** The connection is over; nothing more is read, the output may be written. */
  get failed(): Fault | undefined {
    return this.#core.failed;
  }

  /** Last stream the peer takes, once it has sent GOAWAY. */
  get peerLastStreamId(): number | undefined {
    return this.#core.peerLastStreamId;
  }

  /** How many streams are not closed. */
  get openStreams(): number {
    return this.#core.streams.size;
  }

  /** The streams that are not closed. */
  streams(): Iterable<Stream<Owner>> {
    return this.#core.streams.values();
  }

  /** Whether {@linkcode openStream} may be called: client role, and the peer has room (RFC 9113 §5.1.2). */
  get canOpen(): boolean {
    return this.#core.canOpen;
  }

  /** No stream of ours can ever be opened here again: every id was used (RFC 9113 §5.1.1). */
  get isOutOfIds(): boolean {
    return this.#core.isOutOfIds;
  }

  /** We have sent GOAWAY. */
  get draining(): boolean {
    return this.#core.draining;
  }

  /** The last stream has been named. */
  get drainFinished(): boolean {
    return this.#control.drainFinished;
  }

  // ---- what the sink's owner does

  /** Opens a stream with its head: client role. The fields of `extra` are those that belong to this call alone. */
  openStream(
    head: HeaderList,
    options: { extra: readonly Field[]; endStream: boolean },
  ): Stream<Owner> {
    const core = this.#core;
    if (!core.canOpen) throw new Error("Cannot open a stream: the connection has no room for one");
    const stream = core.open();
    core.apply(stream, INPUT.sendHeaders);
    core.send.writeHeaders(stream.id, head, options);
    if (options.endStream) core.apply(stream, INPUT.sendEnd);
    return stream;
  }

  /**
   * Sends a whole reply, or its end, in one HEADERS frame: server role. What is still to come of the request is asked
   * not to, unless it `readsOn`.
   */
  sendFinalHeaders(
    stream: Stream<Owner>,
    fields: Iterable<Field>,
    { readsOn = false } = {},
  ): void {
    const core = this.#core;
    if (core.failed !== undefined) return;
    core.apply(stream, INPUT.sendHeaders);
    core.send.writeStateless(stream.id, fields, true);
    core.endLocal(stream, readsOn);
  }

  /**
   * Sends of the stream's log what may go now, from `stream.position` on. Call it when the log has grown and
   * when the sink is told that the stream is writable.
   */
  relay(stream: Stream<Owner>, log: FrameLog): void {
    const core = this.#core;
    if (stream.localEnded || core.failed !== undefined) return;
    stream.log = log;
    if (core.send.relay(stream)) core.endLocal(stream);
  }

  /** Ends the stream at once (RFC 9113 §6.4). Nothing happens when it is closed already. */
  reset(stream: Stream<Owner>, code: number): void {
    this.#core.reset(stream, code);
  }

  /** The sink is done with `count` DATA bytes of the stream: the peer may send as many more. */
  consumed(stream: Stream<Owner>, count: number): void {
    this.#data.consumed(stream, count);
  }

  /** Makes the peer wait with DATA of all streams, or go on: what the sink holds of it is too much, or no more so. */
  pauseData(isPaused: boolean): void {
    this.#data.pause(isPaused);
  }

  /** Asks the peer for a sign of life; `opaque` is eight bytes. */
  ping(opaque: Uint8Array): void {
    writePing(this.#core.send.out, false, opaque);
  }

  /**
   * Begins a graceful end (RFC 9113 §6.8): the peer is told to open no more streams, what it opened before it
   * heard of that is still served, and after its answer to a PING the last stream is named.
   */
  drain(): void {
    this.#control.drain();
  }

  /** Names the last stream taken, and takes no more. */
  finishDrain(): void {
    this.#control.finishDrain();
  }

  /** Ends the connection for a fault: GOAWAY goes into the output, and the sink is told. */
  fail(code: number, why: string): false {
    return this.#core.fail(code, why);
  }

  // ---- what the reader of frames calls

  /** Handles a frame that {@linkcode FrameReader} cut out; returns false to stop reading. */
  frame(
    type: number,
    flags: number,
    id: number,
    bytes: Uint8Array,
    from: number,
    to: number,
  ): boolean {
    if (!this.ready && type !== FRAME.settings) {
      return this.fail(ERROR_CODE.protocolError, "a connection that does not begin with SETTINGS");
    }
    const { blockStreamId } = this.#headers;
    if (blockStreamId !== 0 && (type !== FRAME.continuation || id !== blockStreamId)) {
      return this.fail(ERROR_CODE.protocolError, "another frame within a header block");
    }
    switch (type) {
      case FRAME.data:
        return this.#data.onData(flags, id, bytes, from, to);
      case FRAME.headers:
        return this.#headers.onHeaders(flags, id, bytes, from, to);
      case FRAME.priority:
        return this.#control.onPriority(id, bytes, from, to);
      case FRAME.rstStream:
        return this.#control.onReset(id, bytes, from, to);
      case FRAME.settings:
        return this.#control.onSettings(flags, id, bytes, from, to);
      case FRAME.pushPromise:
        // RFC 9113 §8.4: a client may not push, and we told servers not to.
        return this.fail(ERROR_CODE.protocolError, "PUSH_PROMISE");
      case FRAME.ping:
        return this.#control.onPing(flags, id, bytes, from, to);
      case FRAME.goAway:
        return this.#control.onGoAway(id, bytes, from, to);
      case FRAME.windowUpdate:
        return this.#control.onWindowUpdate(id, bytes, from, to);
      case FRAME.continuation:
        return this.#headers.onContinuation(flags, id, bytes, from, to);
      default:
        return this.#core.countIdleFrame(); // RFC 9113 §5.5: types that are not known are ignored
    }
  }

  /** Ends the connection, since {@linkcode FrameReader} met a frame longer than we allow. */
  frameTooLong(_type: number, _streamId: number, length: number): void {
    // RFC 9113 §4.2: it could alter the state of the connection, so the connection has to end.
    this.fail(ERROR_CODE.frameSizeError, `a frame of ${length} bytes`);
  }
}
