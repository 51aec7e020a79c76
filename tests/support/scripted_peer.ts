/**
 * The other end of a {@linkcode Connection} under test, in memory. A test reads as a conversation:
 *
 *     const peer = new ScriptedPeer("server");
 *     peer.sends(headers(1, REQUEST, { endStream: true }));
 *     peer.connection.reset(peer.stream(1), ERROR_CODE.cancel);
 *     peer.expects(rstStream(1, ERROR_CODE.cancel));
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { Connection, type Stream } from "../../lib/connection/mod.ts";
import { errorCodeName, FrameLog, HeaderCache, type HeaderList } from "../../lib/wire/mod.ts";
import { FrameParser, type SeenFrame } from "./frame_parser.ts";
import { block, concat, PREFACE, REQUEST, settings } from "./frames.ts";
import { RecordingSink, type SinkEvent } from "./recording_sink.ts";

export interface PeerOptions {
  /** What the peer announces; "none" leaves all of the handshake to the test. */
  readonly settings?: readonly (readonly [id: number, value: number])[] | "none";
  /** Names of fields that differ from call to call. */
  readonly perCall?: readonly string[];
}

/** Drives a connection of either role. */
export class ScriptedPeer {
  readonly sink = new RecordingSink();
  readonly cache: HeaderCache;
  readonly connection: Connection<unknown>;
  readonly role: "client" | "server";
  #parser = new FrameParser();
  #prefaceRead = false;

  /** `role` is that of the connection under test; the peer plays the other one. */
  constructor(role: "client" | "server", options: PeerOptions = {}) {
    this.role = role;
    this.cache = new HeaderCache((name) => options.perCall?.includes(name) ?? false);
    this.connection = new Connection({ role, sink: this.sink, headerCache: this.cache });
    if (options.settings === "none") return;
    if (role === "server") this.sends(PREFACE);
    this.sends(settings(...options.settings ?? []));
    this.output();
    this.sink.take();
  }

  /** The peer sends these frames in one piece. */
  sends(...frames: Uint8Array[]): void {
    this.connection.receive(concat(...frames), 0);
  }

  /** All that the connection wrote since it was asked last, as bytes. */
  outputBytes(): Uint8Array {
    const out = this.connection.takeOutput();
    const bytes = out.bytes.slice(0, out.length);
    out.clear();
    if (this.role === "server" || this.#prefaceRead || bytes.length === 0) return bytes;
    this.#prefaceRead = true;
    assertEquals(bytes.subarray(0, PREFACE.length), PREFACE);
    return bytes.subarray(PREFACE.length);
  }

  /** All that the connection wrote since it was asked last, as records. */
  output(): SeenFrame[] {
    return this.reads(this.outputBytes());
  }

  /** The peer reads output that was taken by {@linkcode outputBytes}; each byte once, in order. */
  reads(bytes: Uint8Array): SeenFrame[] {
    return this.#parser.read(bytes);
  }

  /** The connection wrote these frames and nothing else. Their fields count, not how they are coded. */
  expects(...frames: Uint8Array[]): void {
    assertEquals(this.output(), new FrameParser().read(concat(...frames)), this.why);
  }

  /** The sink was told this and nothing else. */
  told(...events: SinkEvent[]): void {
    assertEquals(this.sink.take(), events, this.why);
  }

  /** The connection is over, by a GOAWAY with this code that comes last. */
  expectsFailure(code: number): void {
    const last = this.output().at(-1);
    const name = errorCodeName(code);
    assertEquals(last?.type === "GOAWAY" ? last.code : last, name, this.why);
    assertEquals(this.sink.take().at(-1), { event: "failed", code: name }, this.why);
    assertEquals(this.connection.failed?.code, code);
  }

  /** The stream is over, by an RST_STREAM with this code that comes last, and the connection is not. */
  expectsStreamFailure(streamId: number, code: number): void {
    const name = errorCodeName(code);
    assertEquals(this.output().at(-1), { type: "RST_STREAM", streamId, code: name }, this.why);
    const last = this.sink.take().at(-1);
    assertEquals(last, { event: "reset", streamId, code: name, byFault: true }, this.why);
    assertEquals(this.connection.failed, undefined);
    assertEquals(this.sink.streams.get(streamId)?.closed, true);
  }

  /** What was wrong with what the peer sent, for failure messages. */
  get why(): string {
    return this.sink.whys.join("; ");
  }

  /** A stream that the sink has met, or that {@linkcode opens} opened. */
  stream(id: number): Stream<unknown> {
    const stream = this.sink.streams.get(id);
    if (stream === undefined) throw new Error(`Cannot find stream ${id}: the sink never met it`);
    return stream;
  }

  /** The connection, a client, opens a stream; its HEADERS are taken from the output. */
  opens({ endStream = false }: { endStream?: boolean } = {}): Stream<unknown> {
    const stream = this.connection.openStream(this.list(REQUEST), { extra: [], endStream });
    this.sink.streams.set(stream.id, stream);
    this.output();
    return stream;
  }

  list(pairs: Iterable<readonly [string, string]>): HeaderList {
    return this.cache.list(pairs);
  }
}

/** One part of a reply or request, in the order of a log. */
export type LogPart =
  | { headers: Iterable<readonly [string, string]> }
  | { block: Uint8Array }
  | { data: Uint8Array | string };

/** A log of these parts, the last one ending the stream unless told otherwise. */
export function logOf(parts: readonly LogPart[], { ended = true } = {}): FrameLog {
  const log = new FrameLog();
  parts.forEach((part, i) => {
    const last = ended && i === parts.length - 1;
    if ("headers" in part) log.appendHeaders(block([...part.headers]), last);
    else if ("block" in part) log.appendHeaders(part.block, last);
    else {
      const bytes = typeof part.data === "string" ? new TextEncoder().encode(part.data) : part.data;
      log.appendData(bytes, 0, bytes.length, last);
    }
  });
  return log;
}
