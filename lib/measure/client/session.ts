import {
  Connection,
  type ConnectionSink,
  type Fault,
  type ReceivedHeaders,
  type Stream,
} from "../../connection/mod.ts";
import { formatTimeout, STATUS, statusOfHttp, statusOfReset } from "../../grpc/mod.ts";
import {
  CallbackAlarm,
  Pump,
  type PumpOwner,
  type Socket,
  type Timers,
  type Turn,
} from "../../transport/mod.ts";
import { ERROR_CODE, errorCodeName, Field, type HeaderCache, readUint32 } from "../../wire/mod.ts";
import type { CallCarrier, ClientCall } from "./call.ts";
import { replyFields } from "./reply_fields.ts";

/** Compressed-Flag and Message-Length before a message (PROTOCOL-HTTP2 "Requests"). */
const PREFIX_BYTES = 5;

/** A call that waited longer than this before it was sent is given what is left of its deadline. */
const WAITED_MS = 1;

/** Longest that an orderly end may take: whoever does not read must not keep us. */
const CLOSE_TIMEOUT_MS = 1_000;

const HEAD_ALONE = { extra: [], endStream: false } as const;

/** The owner of a session, as far as the session tells it things. */
export interface SessionOwner {
  /** The session's SETTINGS came, or a call ended: calls that wait may be sent. */
  sessionHasRoom(session: ClientSession): void;
  /** The session takes no new calls. */
  sessionLeaves(session: ClientSession): void;
  /** The session is over, and its calls have been ended. */
  sessionClosed(session: ClientSession, why: string): void;
}

/** Everything that the connections of a client share. */
export interface SessionContext {
  readonly owner: SessionOwner;
  readonly timers: Timers;
  readonly turn: Turn;
  readonly replyHeaders: HeaderCache;
}

/** One connection of a client and the calls that are under way on it. */
export class ClientSession implements ConnectionSink<ClientCall>, PumpOwner, CallCarrier {
  readonly connection: Connection<ClientCall>;
  /** Whether SETTINGS have come: the session was usable once. */
  wasReady = false;
  #context: SessionContext;
  #pump: Pump<ClientCall>;
  #gone = false;
  #why = "the other side closed the connection";
  /** Ends the wait for a connection that is not usable yet, or is being closed. */
  #patience = new CallbackAlarm(() => this.#loseIt());

  /** SETTINGS must have come by `usableByMs`. */
  constructor(socket: Socket, context: SessionContext, usableByMs: number) {
    this.#context = context;
    const { timers, turn, replyHeaders } = context;
    this.connection = new Connection({ role: "client", sink: this, headerCache: replyHeaders });
    this.#pump = new Pump(socket, this.connection, {
      owner: this,
      turn,
      now: () => timers.clock.now(),
    });
    timers.set(this.#patience, usableByMs);
  }

  /** Resolves when the connection is gone. */
  run(): Promise<void> {
    return this.#pump.run();
  }

  get canOpen(): boolean {
    return this.wasReady && !this.#gone && this.connection.canOpen;
  }

  open(call: ClientCall): void {
    const stream = this.#openStream(call);
    call.carrier = this;
    call.stream = stream;
    stream.owner = call;
    this.connection.relay(stream, call.body);
    this.#pump.flushSoon();
  }

  cancel(call: ClientCall): void {
    if (call.stream === undefined || call.stream.closed) return;
    this.connection.reset(call.stream, ERROR_CODE.cancel);
    this.#pump.flushSoon();
  }

  /** Ends its calls with CANCELLED, and the connection once that is said. */
  close(why: string): void {
    const { timers } = this.#context;
    timers.set(this.#patience, timers.clock.now() + CLOSE_TIMEOUT_MS);
    this.#why = why;
    this.#endAll(STATUS.cancelled, why);
    // No GOAWAY, which a client that leaves owes nobody (no server of ours pushes): a node:http2 server on Deno 2.9
    // that has answered a few thousand calls dies of it.
    this.#pump.close();
  }

  // ---- what the connection tells

  headers(
    stream: Stream<ClientCall>,
    { list, tooLarge }: ReceivedHeaders,
    endStream: boolean,
  ): void {
    const call = stream.owner;
    if (call === undefined) return;
    if (tooLarge) return this.#fail(call, STATUS.internal, "the reply's metadata is too large");
    const fields = replyFields(list);
    if (fields.interim) return;
    if (call.httpStatus === 0) {
      call.httpStatus = fields.httpStatus;
      if (!fields.isGrpc && fields.grpcStatus === undefined) {
        return this.#fail(call, statusOfHttp(fields.httpStatus), notGrpc(fields.httpStatus));
      }
    }
    if (!endStream) return;
    call.outcome = fields.outcome;
    const { grpcStatus, grpcMessage } = fields;
    if (grpcStatus === undefined) this.#fail(call, STATUS.internal, "the reply has no grpc-status");
    else if (grpcStatus === STATUS.ok && !isWhole(call)) {
      this.#fail(call, STATUS.internal, "the reply is not one whole message");
    } else call.end(grpcStatus, grpcMessage, this.connection.nowMs);
  }

  data(
    stream: Stream<ClientCall>,
    bytes: Uint8Array,
    from: number,
    to: number,
    endStream: boolean,
  ): void {
    this.connection.consumed(stream, to - from);
    const call = stream.owner;
    if (call === undefined) return;
    if (call.bodyBytes === 0 && to - from >= PREFIX_BYTES) {
      call.promisedBytes = PREFIX_BYTES + readUint32(bytes, from + 1);
    }
    call.bodyBytes += to - from;
    call.pieces?.push(bytes.slice(from, to));
    if (endStream) this.#fail(call, STATUS.internal, "the reply has no trailers");
  }

  reset(stream: Stream<ClientCall>, code: number, fault?: Fault): void {
    const call = stream.owner;
    if (call === undefined) return;
    if (fault !== undefined) this.#fail(call, STATUS.internal, fault.why);
    else this.#fail(call, statusOfReset(code), `the stream was reset: ${errorCodeName(code)}`);
  }

  writable(stream: Stream<ClientCall>): void {
    if (stream.owner !== undefined) this.connection.relay(stream, stream.owner.body);
  }

  settings(): void {
    if (this.wasReady) return;
    this.wasReady = true;
    this.#context.timers.cancel(this.#patience);
  }

  goAway(lastStreamId: number, code: number): void {
    this.#context.owner.sessionLeaves(this);
    for (const stream of [...this.connection.streams()]) {
      if (stream.id <= lastStreamId || stream.owner === undefined) continue;
      this.#fail(
        stream.owner,
        STATUS.unavailable,
        `the other side goes away: ${errorCodeName(code)}`,
      );
    }
  }

  pong(): void {}

  failed(fault: Fault): void {
    this.#why = `the other side broke the protocol: ${fault.why}`;
  }

  // ---- what the pump tells

  received(): void {
    this.#context.owner.sessionHasRoom(this);
    if (this.connection.peerLastStreamId !== undefined && this.connection.openStreams === 0) {
      this.#pump.close();
    }
  }

  closed(trouble: Error | undefined): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#context.timers.cancel(this.#patience);
    const why = trouble === undefined ? this.#why : trouble.message;
    this.#endAll(STATUS.unavailable, why);
    this.#context.owner.sessionClosed(this, why);
  }

  #openStream(call: ClientCall): Stream<ClientCall> {
    const { head, headWithoutTimeout, deadlineMs } = call.method;
    if (deadlineMs !== Infinity) {
      const waitedMs = this.#context.timers.clock.now() - call.startedMs;
      if (waitedMs > WAITED_MS) {
        const left = formatTimeout(deadlineMs - waitedMs);
        const extra = [new Field("grpc-timeout", left, { perCall: true })];
        return this.connection.openStream(headWithoutTimeout, { extra, endStream: false });
      }
    }
    return this.connection.openStream(head, HEAD_ALONE);
  }

  /** Ends a call for a reason that is not the other side's last word: the stream may still be open. */
  #fail(call: ClientCall, status: number, message: string): void {
    this.cancel(call);
    call.end(status, message, this.connection.nowMs);
  }

  #endAll(status: number, why: string): void {
    const nowMs = this.#context.timers.clock.now();
    for (const stream of [...this.connection.streams()]) {
      stream.owner?.end(status, why, nowMs);
    }
  }

  #loseIt(): void {
    if (!this.wasReady) this.#why = "no SETTINGS came in time";
    this.#pump.abort();
  }
}

/** A reply with status OK must hold its message, and all of it. */
function isWhole(call: ClientCall): boolean {
  return call.bodyBytes >= PREFIX_BYTES &&
    (call.promisedBytes === 0 || call.promisedBytes === call.bodyBytes);
}

function notGrpc(httpStatus: number): string {
  return `the reply is not gRPC: HTTP status ${httpStatus}`;
}
