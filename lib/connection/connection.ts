import {
  CLIENT_PREFACE,
  DEFAULT_WINDOW_BYTES,
  equalBytes,
  ERROR_CODE,
  type Field,
  FLAG,
  FRAME,
  type FrameLog,
  type HeaderCache,
  type HeaderList,
  HpackDecoder,
  latin1,
  MAX_WINDOW_BYTES,
  type OutputBuffer,
  putLatin1,
  readUint31,
  readUint32,
  SETTING,
  writeGoAway,
  writePing,
  writeRstStream,
  writeSettings,
  writeSettingsAck,
  writeWindowUpdate,
} from "../wire/mod.ts";
import type { Fault } from "./fault.ts";
import { type FrameHandler, FrameReader } from "./frame_reader.ts";
import { requestFault, responseFault, trailersFault } from "./header_rules.ts";
import { HeaderBlock } from "./header_block.ts";
import { RecentIds } from "./recent_ids.ts";
import { SendSide } from "./send_side.ts";
import { applySettings, initialPeerSettings } from "./settings.ts";
import { Stream, UNDECLARED } from "./stream.ts";
import { StreamTable } from "./stream_table.ts";
import { ILLEGAL, INPUT, nextState, STATE } from "./stream_state.ts";

/**
 * DATA a peer may have under way on the whole connection. Credit for it is returned on receipt, whoever reads:
 * what a slow reader holds is bounded by the streams' windows, and must not starve the other streams.
 */
const CONNECTION_WINDOW_BYTES = 2 ** 20;

/** DATA a peer may have under way on one stream: enough for a local hop, small enough to hold for many. */
const STREAM_WINDOW_BYTES = 262_144;

/** Half the window owed is worth a frame: few WINDOW_UPDATEs, and the peer never waits for us. */
const ANNOUNCE_SHARE = 2;

/** Largest list of fields accepted, as RFC 9113 §6.5.2 counts; metadata beyond it is refused stream by stream. */
const MAX_HEADER_LIST_BYTES = 65_536;

/** Streams a caller may have open at once; more are refused, which a gRPC client retries. */
const MAX_CONCURRENT_STREAMS = 16_384;

/** Ids announced in the first GOAWAY of a graceful end, when the last one is not known yet (RFC 9113 §6.8). */
const NO_LAST_STREAM = 2 ** 31 - 1;

/** Dependency and weight, in PRIORITY and where HEADERS has them (RFC 9113 §6.2, §6.3). */
const PRIORITY_BYTES = 5;

/** Opaque bytes of the PING that marks when the peer has seen our first GOAWAY. */
const DRAIN_PING = Uint8Array.from([0x64, 0x72, 0x61, 0x69, 0x6e, 0, 0, 0]);

/** A header block as the sink sees it; good until the sink returns. */
export interface ReceivedHeaders {
  /** The fields, those that differ from call to call left out. */
  readonly list: HeaderList;
  readonly perCall: readonly Field[];
  /** The list was larger than we accept and is not whole. */
  readonly tooLarge: boolean;
}

/**
 * What a connection tells its owner. Called from within {@linkcode Connection.receive}, after the bookkeeping of
 * the frame is complete, so any `send` or `reset` may be called back at once.
 */
export interface ConnectionSink<Owner> {
  /** A request head, a response head (interim ones included), or trailers. */
  headers(stream: Stream<Owner>, headers: ReceivedHeaders, endStream: boolean): void;
  /** `bytes[from, to)`, good until the sink returns; credit comes back by {@linkcode Connection.consumed}. */
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

export interface ConnectionOptions<Owner> {
  readonly role: "client" | "server";
  readonly sink: ConnectionSink<Owner>;
  /** Shared by the connections of one role. */
  readonly headerCache: HeaderCache;
}

/**
 * One side of one HTTP/2 connection (RFC 9113) without its socket: {@linkcode receive} takes what the peer sent,
 * the sink hears what it means, and {@linkcode takeOutput} hands over what must be written. Never throws for
 * anything a peer sent.
 */
export class Connection<Owner> implements FrameHandler {
  /** When the bytes came that are being received, by the caller's clock. */
  nowMs = 0;
  /** The peer's settings; the protocol's defaults until they come. */
  readonly peer = initialPeerSettings();
  /** The peer's SETTINGS have come. */
  ready = false;
  /** The connection is over; nothing more is read, the output may be written. */
  failed: Fault | undefined = undefined;
  /** Last stream the peer takes, once it has sent GOAWAY. */
  peerLastStreamId: number | undefined = undefined;

  readonly #isServer: boolean;
  readonly #sink: ConnectionSink<Owner>;
  readonly #decoder: HpackDecoder;
  readonly #reader: FrameReader;
  readonly #send = new SendSide<Owner>();
  readonly #streams = new StreamTable<Owner>();
  readonly #resetByUs = new RecentIds();
  readonly #block = new HeaderBlock();
  #prefaceRead = 0;
  #nextStreamId = 1;
  #lastPeerStreamId = 0;
  #recvWindow = CONNECTION_WINDOW_BYTES;
  #recvOwed = 0;
  #draining = false;
  /** After the final GOAWAY: streams above are not taken. */
  #lastAcceptedId = NO_LAST_STREAM;

  constructor({ role, sink, headerCache }: ConnectionOptions<Owner>) {
    this.#isServer = role === "server";
    this.#sink = sink;
    this.#decoder = new HpackDecoder(headerCache, { maxListBytes: MAX_HEADER_LIST_BYTES });
    this.#reader = new FrameReader(this);
    const { out } = this.#send;
    if (!this.#isServer) {
      const at = out.extend(CLIENT_PREFACE.length);
      putLatin1(CLIENT_PREFACE, out.bytes, at);
    }
    writeSettings(out, [
      this.#isServer
        ? [SETTING.maxConcurrentStreams, MAX_CONCURRENT_STREAMS]
        : [SETTING.enablePush, 0],
      [SETTING.initialWindowSize, STREAM_WINDOW_BYTES],
      [SETTING.maxHeaderListSize, MAX_HEADER_LIST_BYTES],
    ]);
    writeWindowUpdate(out, 0, CONNECTION_WINDOW_BYTES - DEFAULT_WINDOW_BYTES);
  }

  // ---- what the transport calls

  /** Takes what the peer sent, the first `length` of `bytes`, which are not kept. `nowMs` is the caller's clock. */
  receive(bytes: Uint8Array, nowMs: number, length: number = bytes.length): void {
    this.nowMs = nowMs;
    if (this.failed !== undefined) return;
    const readsPreface = this.#isServer && this.#prefaceRead < CLIENT_PREFACE.length;
    const from = readsPreface ? this.#readPreface(bytes, length) : 0;
    if (from >= 0) this.#reader.read(bytes, from, length);
  }

  /** Bytes that wait to be written. */
  get outputBytes(): number {
    return this.#send.out.length;
  }

  /** What must be written now. The buffer is the connection's: clear it once it is written, before the next call. */
  takeOutput(): OutputBuffer {
    return this.#send.swap();
  }

  /** The output went out: streams that waited for room go on. */
  drained(): void {
    if (this.failed === undefined) this.#resumeQueued();
  }

  // ---- what the sink's owner calls

  get openStreams(): number {
    return this.#streams.size;
  }

  /** The streams that are not closed. */
  streams(): Iterable<Stream<Owner>> {
    return this.#streams.values();
  }

  /** Whether {@linkcode openStream} may be called: client role, and the peer has room (RFC 9113 §5.1.2). */
  get canOpen(): boolean {
    return this.failed === undefined && this.peerLastStreamId === undefined && !this.#draining &&
      this.#streams.size < this.peer.maxConcurrentStreams && this.#nextStreamId < MAX_WINDOW_BYTES;
  }

  /** Opens a stream with its head: client role. The fields of `extra` are those that belong to this call alone. */
  openStream(
    head: HeaderList,
    options: { extra: readonly Field[]; endStream: boolean },
  ): Stream<Owner> {
    if (!this.canOpen) throw new Error("Cannot open a stream: the connection has no room for one");
    const stream = this.#add(this.#nextStreamId);
    this.#nextStreamId += 2;
    this.#apply(stream, INPUT.sendHeaders);
    this.#send.writeHeaders(stream.id, head, options);
    if (options.endStream) this.#apply(stream, INPUT.sendEnd);
    return stream;
  }

  /** Sends a whole reply, or its end, in one HEADERS frame: server role. */
  sendFinalHeaders(stream: Stream<Owner>, fields: Iterable<Field>): void {
    if (this.failed !== undefined) return;
    this.#apply(stream, INPUT.sendHeaders);
    this.#send.writeStateless(stream.id, fields, true);
    this.#endLocal(stream);
  }

  /**
   * Sends of the stream's log what may go now, from `stream.position` on. Call it when the log has grown and
   * when the sink is told that the stream is writable.
   */
  relay(stream: Stream<Owner>, log: FrameLog): void {
    if (stream.localEnded || this.failed !== undefined) return;
    stream.log = log;
    if (this.#send.relay(stream)) this.#endLocal(stream);
  }

  /** Ends the stream at once (RFC 9113 §6.4). Nothing happens when it is closed already. */
  reset(stream: Stream<Owner>, code: number): void {
    if (stream.closed || this.failed !== undefined) return;
    writeRstStream(this.#send.out, stream.id, code);
    this.#resetByUs.add(stream.id);
    this.#apply(stream, INPUT.sendReset);
    this.#close(stream);
  }

  /** The sink is done with `count` DATA bytes of the stream: the peer may send as many more. */
  consumed(stream: Stream<Owner>, count: number): void {
    if (stream.remoteEnded || this.failed !== undefined) return;
    stream.recvOwed += count;
    if (stream.recvOwed * ANNOUNCE_SHARE < STREAM_WINDOW_BYTES) return;
    writeWindowUpdate(this.#send.out, stream.id, stream.recvOwed);
    stream.recvWindow += stream.recvOwed;
    stream.recvOwed = 0;
  }

  /** Asks the peer for a sign of life; `opaque` is eight bytes. */
  ping(opaque: Uint8Array): void {
    writePing(this.#send.out, false, opaque);
  }

  /**
   * Begins a graceful end (RFC 9113 §6.8): the peer is told to open no more streams, what it opened before it
   * heard of that is still served, and after its answer to a PING the last stream is named.
   */
  drain(): void {
    if (this.#draining || this.failed !== undefined) return;
    this.#draining = true;
    writeGoAway(this.#send.out, NO_LAST_STREAM, ERROR_CODE.noError);
    writePing(this.#send.out, false, DRAIN_PING);
  }

  get draining(): boolean {
    return this.#draining;
  }

  /** The last stream has been named. */
  get drainFinished(): boolean {
    return this.#lastAcceptedId !== NO_LAST_STREAM;
  }

  /** Names the last stream taken, and takes no more. */
  finishDrain(): void {
    if (this.#lastAcceptedId !== NO_LAST_STREAM || this.failed !== undefined) return;
    this.#draining = true;
    this.#lastAcceptedId = this.#lastPeerStreamId;
    writeGoAway(this.#send.out, this.#lastAcceptedId, ERROR_CODE.noError);
  }

  /** Ends the connection for a fault: GOAWAY goes into the output, and the sink is told. */
  fail(code: number, why: string): false {
    if (this.failed !== undefined) return false;
    this.failed = { scope: "connection", streamId: 0, code, why };
    writeGoAway(this.#send.out, this.#lastPeerStreamId, code, why.replace(/[^\x20-\x7e]/g, "?"));
    this.#sink.failed(this.failed);
    return false;
  }

  // ---- frames

  /** Returns where the frames begin, or -1. */
  #readPreface(bytes: Uint8Array, length: number): number {
    let at = 0;
    for (; at < length && this.#prefaceRead < CLIENT_PREFACE.length; at++, this.#prefaceRead++) {
      if (bytes[at] !== CLIENT_PREFACE.charCodeAt(this.#prefaceRead)) {
        this.fail(ERROR_CODE.protocolError, "no HTTP/2 preface");
        return -1;
      }
    }
    return at;
  }

  frameTooLong(_type: number, _streamId: number, length: number): void {
    // RFC 9113 §4.2: it could alter the state of the connection, so the connection has to end.
    this.fail(ERROR_CODE.frameSizeError, `a frame of ${length} bytes`);
  }

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
    if (
      this.#block.streamId !== 0 && (type !== FRAME.continuation || id !== this.#block.streamId)
    ) {
      return this.fail(ERROR_CODE.protocolError, "another frame within a header block");
    }
    switch (type) {
      case FRAME.data:
        return this.#onData(flags, id, bytes, from, to);
      case FRAME.headers:
        return this.#onHeaders(flags, id, bytes, from, to);
      case FRAME.priority:
        return this.#onPriority(id, bytes, from, to);
      case FRAME.rstStream:
        return this.#onReset(id, bytes, from, to);
      case FRAME.settings:
        return this.#onSettings(flags, id, bytes, from, to);
      case FRAME.pushPromise:
        // RFC 9113 §8.4: a client may not push, and we told servers not to.
        return this.fail(ERROR_CODE.protocolError, "PUSH_PROMISE");
      case FRAME.ping:
        return this.#onPing(flags, id, bytes, from, to);
      case FRAME.goAway:
        return this.#onGoAway(id, bytes, from, to);
      case FRAME.windowUpdate:
        return this.#onWindowUpdate(id, bytes, from, to);
      case FRAME.continuation:
        return this.#onContinuation(flags, id, bytes, from, to);
      default:
        return true; // RFC 9113 §5.5: types that are not known are ignored
    }
  }

  #onData(flags: number, id: number, bytes: Uint8Array, from: number, to: number): boolean {
    const counted = to - from; // padding and its length byte are counted too (RFC 9113 §6.9.1)
    if (id === 0) return this.fail(ERROR_CODE.protocolError, "DATA on stream 0");
    if ((flags & FLAG.padded) !== 0) {
      if (counted === 0) {
        return this.fail(ERROR_CODE.frameSizeError, "DATA too short for its flags");
      }
      const padding = bytes[from]!;
      if (padding >= counted) {
        return this.fail(ERROR_CODE.protocolError, "padding longer than its frame");
      }
      from++;
      to -= padding;
    }
    if (!this.#creditConnection(counted)) return false;
    const stream = this.#streams.get(id);
    if (stream === undefined) return this.#onDataOfClosed(id);
    const endStream = (flags & FLAG.endStream) !== 0;
    if (nextState(stream.state, INPUT.recvData) === ILLEGAL) {
      return this.#failStream(stream, ERROR_CODE.streamClosed, "DATA after the end of the stream");
    }
    if (!stream.headersReceived) {
      return this.#failStream(stream, ERROR_CODE.protocolError, "DATA before HEADERS");
    }
    stream.recvWindow -= counted;
    if (stream.recvWindow < 0) {
      return this.#failStream(stream, ERROR_CODE.flowControlError, "DATA beyond the window");
    }
    stream.receivedBytes += to - from;
    if (!this.#lengthAgrees(stream, endStream)) {
      return this.#failStream(
        stream,
        ERROR_CODE.protocolError,
        "DATA that differs from content-length",
      );
    }
    if (endStream) this.#endRemote(stream);
    if (counted > to - from) this.consumed(stream, counted - (to - from));
    this.#sink.data(stream, bytes, from, to, endStream);
    return this.failed === undefined;
  }

  #onDataOfClosed(id: number): boolean {
    if (this.#isIdle(id)) return this.fail(ERROR_CODE.protocolError, "DATA on an idle stream");
    // What was under way when we reset the stream is not the peer's fault (RFC 9113 §5.4.2).
    if (!this.#resetByUs.has(id) && id <= this.#lastAcceptedId) {
      writeRstStream(this.#send.out, id, ERROR_CODE.streamClosed);
      this.#resetByUs.add(id);
    }
    return true;
  }

  /** Counts DATA against the connection's window and gives it back: see CONNECTION_WINDOW_BYTES. */
  #creditConnection(count: number): boolean {
    this.#recvWindow -= count;
    if (this.#recvWindow < 0) {
      return this.fail(ERROR_CODE.flowControlError, "DATA beyond the connection's window");
    }
    this.#recvOwed += count;
    if (this.#recvOwed * ANNOUNCE_SHARE >= CONNECTION_WINDOW_BYTES) {
      writeWindowUpdate(this.#send.out, 0, this.#recvOwed);
      this.#recvWindow += this.#recvOwed;
      this.#recvOwed = 0;
    }
    return true;
  }

  #lengthAgrees(stream: Stream<Owner>, endStream: boolean): boolean {
    const { declaredBytes, receivedBytes } = stream;
    if (declaredBytes === UNDECLARED) return true;
    return endStream ? receivedBytes === declaredBytes : receivedBytes <= declaredBytes;
  }

  #onHeaders(flags: number, id: number, bytes: Uint8Array, from: number, to: number): boolean {
    if (id === 0) return this.fail(ERROR_CODE.protocolError, "HEADERS on stream 0");
    let dependsOn = 0;
    if ((flags & (FLAG.padded | FLAG.priority)) !== 0) {
      const isPadded = (flags & FLAG.padded) !== 0;
      const hasPriority = (flags & FLAG.priority) !== 0;
      if (to - from < (isPadded ? 1 : 0) + (hasPriority ? PRIORITY_BYTES : 0)) {
        return this.fail(ERROR_CODE.frameSizeError, "HEADERS too short for its flags");
      }
      if (isPadded) to -= bytes[from++]!;
      if (hasPriority) {
        dependsOn = readUint31(bytes, from);
        from += PRIORITY_BYTES;
      }
      if (from > to) return this.fail(ERROR_CODE.protocolError, "padding longer than its frame");
    }
    const endStream = (flags & FLAG.endStream) !== 0;
    // A stream that depends on itself was a stream error (RFC 7540 §5.3.1), and is still sent as a probe.
    const selfDependent = dependsOn === id;
    if ((flags & FLAG.endHeaders) !== 0) {
      return this.#onBlock(id, bytes, { from, to, endStream, selfDependent });
    }
    this.#block.begin(id, { endStream, selfDependent });
    return this.#addToBlock(bytes, from, to);
  }

  #onContinuation(flags: number, id: number, bytes: Uint8Array, from: number, to: number): boolean {
    if (this.#block.streamId === 0) {
      return this.fail(ERROR_CODE.protocolError, "CONTINUATION without HEADERS");
    }
    if (!this.#addToBlock(bytes, from, to)) return false;
    if ((flags & FLAG.endHeaders) === 0) return true;
    const { bytes: block, length, endStream, selfDependent } = this.#block.take();
    return this.#onBlock(id, block, { from: 0, to: length, endStream, selfDependent });
  }

  #addToBlock(bytes: Uint8Array, from: number, to: number): boolean {
    if (this.#block.append(bytes, from, to)) return true;
    return this.fail(ERROR_CODE.enhanceYourCalm, "a header block without end");
  }

  /** A whole header block. It is decoded whatever becomes of it, to keep the table right (RFC 9113 §4.3). */
  #onBlock(
    id: number,
    bytes: Uint8Array,
    block: { from: number; to: number; endStream: boolean; selfDependent: boolean },
  ): boolean {
    const broken = this.#decoder.decode(bytes, block.from, block.to);
    if (broken !== "") return this.fail(ERROR_CODE.compressionError, broken);
    const known = this.#streams.get(id);
    const stream = known ?? this.#accept(id);
    if (stream === undefined) return this.failed === undefined;
    if (nextState(stream.state, INPUT.recvHeaders) === ILLEGAL) {
      return this.#failStream(
        stream,
        ERROR_CODE.streamClosed,
        "HEADERS after the end of the stream",
      );
    }
    this.#apply(stream, INPUT.recvHeaders);
    if (block.selfDependent) {
      return this.#failStream(stream, ERROR_CODE.protocolError, "a stream that depends on itself");
    }
    const fault = this.#headersFault(stream, block.endStream);
    if (fault !== "") return this.#failStream(stream, ERROR_CODE.protocolError, fault);
    if (block.endStream) {
      if (!this.#lengthAgrees(stream, true)) {
        return this.#failStream(
          stream,
          ERROR_CODE.protocolError,
          "an end that differs from content-length",
        );
      }
      this.#endRemote(stream);
    }
    this.#sink.headers(stream, this.#decoder, block.endStream);
    return this.failed === undefined;
  }

  /** Checks the decoded block against RFC 9113 §8 and notes what it says of the stream. */
  #headersFault(stream: Stream<Owner>, endStream: boolean): string {
    const { list, perCall, fault } = this.#decoder;
    if (fault !== "") return fault;
    if (this.#decoder.tooLarge) { // it is cut off, so the rules cannot be asked; the sink refuses it
      stream.headersReceived = true;
      return "";
    }
    if (stream.headersReceived) {
      return endStream ? trailersFault(list) : "trailers that do not end the stream";
    }
    const illegal = this.#isServer ? requestFault(list) : responseFault(list);
    if (illegal !== "") return illegal;
    if (!this.#isServer && list.get(":status")!.startsWith("1")) { // interim, RFC 9113 §8.1
      return endStream ? "an interim response that ends the stream" : "";
    }
    stream.headersReceived = true;
    for (const { name, value } of perCall) {
      if (name !== "content-length") continue;
      if (!/^\d{1,15}$/.test(value)) return "a content-length that is no number";
      if (stream.declaredBytes !== UNDECLARED && stream.declaredBytes !== Number(value)) {
        return "two content-lengths";
      }
      stream.declaredBytes = Number(value);
    }
    return "";
  }

  /** The stream that a block of headers opens, or undefined when it opens none. */
  #accept(id: number): Stream<Owner> | undefined {
    if (!this.#isIdle(id)) {
      // A server may answer any number of streams before it hears that we reset them, more than are remembered.
      if (!this.#isServer || this.#resetByUs.has(id)) return undefined;
      this.fail(ERROR_CODE.streamClosed, "HEADERS on a closed stream");
      return undefined;
    }
    if (!this.#isServer || id % 2 === 0) {
      this.fail(ERROR_CODE.protocolError, "HEADERS on a stream that the peer may not open");
      return undefined;
    }
    this.#lastPeerStreamId = id;
    if (id > this.#lastAcceptedId || this.#streams.size >= MAX_CONCURRENT_STREAMS) {
      writeRstStream(this.#send.out, id, ERROR_CODE.refusedStream);
      this.#resetByUs.add(id);
      return undefined;
    }
    return this.#add(id);
  }

  #onPriority(id: number, bytes: Uint8Array, from: number, to: number): boolean {
    if (id === 0) return this.fail(ERROR_CODE.protocolError, "PRIORITY on stream 0");
    const wrongSize = to - from !== PRIORITY_BYTES;
    if (!wrongSize && readUint31(bytes, from) !== id) return true;
    const stream = this.#streams.get(id);
    const code = wrongSize ? ERROR_CODE.frameSizeError : ERROR_CODE.protocolError;
    if (stream !== undefined) return this.#failStream(stream, code, "a malformed PRIORITY");
    writeRstStream(this.#send.out, id, code);
    return true;
  }

  #onReset(id: number, bytes: Uint8Array, from: number, to: number): boolean {
    if (id === 0) return this.fail(ERROR_CODE.protocolError, "RST_STREAM on stream 0");
    if (to - from !== 4) return this.fail(ERROR_CODE.frameSizeError, "RST_STREAM of a wrong size");
    if (this.#isIdle(id)) {
      return this.fail(ERROR_CODE.protocolError, "RST_STREAM on an idle stream");
    }
    const stream = this.#streams.get(id);
    if (stream === undefined) return true;
    this.#apply(stream, INPUT.recvReset);
    this.#close(stream);
    this.#sink.reset(stream, readUint32(bytes, from));
    return this.failed === undefined;
  }

  #onSettings(flags: number, id: number, bytes: Uint8Array, from: number, to: number): boolean {
    if (id !== 0) return this.fail(ERROR_CODE.protocolError, "SETTINGS on a stream");
    if ((flags & FLAG.ack) !== 0) {
      if (to !== from) {
        return this.fail(ERROR_CODE.frameSizeError, "SETTINGS acknowledgement with a payload");
      }
      if (!this.ready) {
        return this.fail(
          ERROR_CODE.protocolError,
          "a connection that begins with an acknowledgement",
        );
      }
      return true;
    }
    if ((to - from) % 6 !== 0) {
      return this.fail(ERROR_CODE.frameSizeError, "SETTINGS of a wrong size");
    }
    const windowBefore = this.peer.initialWindowBytes;
    const { encoder } = this.#send;
    const fromServer = !this.#isServer;
    const fault = applySettings(this.peer, { bytes, from, to, fromServer, encoder });
    if (fault !== undefined) return this.fail(fault.code, fault.why);
    writeSettingsAck(this.#send.out);
    this.ready = true;
    if (!this.#shiftWindows(this.peer.initialWindowBytes - windowBefore)) return false;
    this.#sink.settings();
    return this.failed === undefined;
  }

  /** RFC 9113 §6.9.2: a changed initial window changes that of every stream, even to below zero. */
  #shiftWindows(delta: number): boolean {
    if (delta === 0) return true;
    const opened: Stream<Owner>[] = [];
    for (const stream of this.#streams.values()) {
      stream.sendWindow += delta;
      if (stream.sendWindow > MAX_WINDOW_BYTES) {
        return this.fail(ERROR_CODE.flowControlError, "a window beyond its limit");
      }
      if (delta > 0 && stream.log !== undefined) opened.push(stream);
    }
    for (const stream of opened) if (!stream.closed) this.#sink.writable(stream);
    return this.failed === undefined;
  }

  #onPing(flags: number, id: number, bytes: Uint8Array, from: number, to: number): boolean {
    if (id !== 0) return this.fail(ERROR_CODE.protocolError, "PING on a stream");
    if (to - from !== 8) return this.fail(ERROR_CODE.frameSizeError, "PING of a wrong size");
    if ((flags & FLAG.ack) === 0) {
      writePing(this.#send.out, true, bytes, from);
    } else if (this.#draining && equalBytes(bytes, from, DRAIN_PING, 0, 8)) {
      this.finishDrain();
    } else {
      this.#sink.pong();
    }
    return true;
  }

  #onGoAway(id: number, bytes: Uint8Array, from: number, to: number): boolean {
    if (id !== 0) return this.fail(ERROR_CODE.protocolError, "GOAWAY on a stream");
    if (to - from < 8) return this.fail(ERROR_CODE.frameSizeError, "GOAWAY of a wrong size");
    this.peerLastStreamId = readUint31(bytes, from);
    this.#sink.goAway(
      this.peerLastStreamId,
      readUint32(bytes, from + 4),
      latin1(bytes, from + 8, to),
    );
    return this.failed === undefined;
  }

  #onWindowUpdate(id: number, bytes: Uint8Array, from: number, to: number): boolean {
    if (to - from !== 4) {
      return this.fail(ERROR_CODE.frameSizeError, "WINDOW_UPDATE of a wrong size");
    }
    const increment = readUint31(bytes, from);
    if (id === 0) {
      if (increment === 0) return this.fail(ERROR_CODE.protocolError, "WINDOW_UPDATE of 0");
      if (!this.#send.addWindow(increment)) {
        return this.fail(ERROR_CODE.flowControlError, "a window beyond its limit");
      }
      this.#resumeQueued();
      return this.failed === undefined;
    }
    const stream = this.#streams.get(id);
    if (stream === undefined) {
      return this.#isIdle(id)
        ? this.fail(ERROR_CODE.protocolError, "WINDOW_UPDATE on an idle stream")
        : true;
    }
    if (increment === 0) {
      return this.#failStream(stream, ERROR_CODE.protocolError, "WINDOW_UPDATE of 0");
    }
    stream.sendWindow += increment;
    if (stream.sendWindow > MAX_WINDOW_BYTES) {
      return this.#failStream(stream, ERROR_CODE.flowControlError, "a window beyond its limit");
    }
    if (stream.log !== undefined) this.#sink.writable(stream);
    return this.failed === undefined;
  }

  // ---- streams

  /** Never used by either side, so that only HEADERS (or PRIORITY) may come for it (RFC 9113 §5.1). */
  #isIdle(id: number): boolean {
    const isOurs = (id % 2 === 1) !== this.#isServer;
    return isOurs ? id >= this.#nextStreamId : id > this.#lastPeerStreamId;
  }

  #add(id: number): Stream<Owner> {
    const stream = new Stream<Owner>(id, this.peer.initialWindowBytes, STREAM_WINDOW_BYTES);
    this.#streams.add(stream);
    return stream;
  }

  #apply(stream: Stream<Owner>, input: number): void {
    const next = nextState(stream.state, input);
    if (next === ILLEGAL) {
      throw new Error(
        `Cannot apply input ${input} to stream ${stream.id}: its state is ${stream.state}`,
      );
    }
    stream.state = next;
  }

  #endRemote(stream: Stream<Owner>): void {
    const abandoned = !this.#isServer && stream.state === STATE.open;
    this.#apply(stream, INPUT.recvEnd);
    // A server that has answered needs no more of the request (RFC 9113 §8.1); ending our side frees its stream.
    if (abandoned) this.reset(stream, ERROR_CODE.noError);
    else if (stream.closed) this.#close(stream);
  }

  #endLocal(stream: Stream<Owner>): void {
    this.#apply(stream, INPUT.sendEnd);
    // RFC 9113 §8.1: a server that has answered before the request ended asks for no more of it.
    if (this.#isServer && !stream.closed) this.reset(stream, ERROR_CODE.noError);
    else if (stream.closed) this.#close(stream);
  }

  #close(stream: Stream<Owner>): void {
    stream.log = undefined;
    if (stream.queued) this.#send.dequeue(stream); // else a peer that resets what waits would fill the queue
    this.#streams.delete(stream.id);
  }

  #failStream(stream: Stream<Owner>, code: number, why: string): boolean {
    this.reset(stream, code);
    this.#sink.reset(stream, code, { scope: "stream", streamId: stream.id, code, why });
    return this.failed === undefined;
  }

  #resumeQueued(): void {
    for (const stream of this.#send.queued) {
      if (this.#send.isBlocked) return;
      this.#send.dequeue(stream);
      this.#sink.writable(stream);
    }
  }
}
