import {
  Connection,
  type ConnectionSink,
  type Fault,
  type ReceivedHeaders,
  type Stream,
} from "../connection/mod.ts";
import { CallbackAlarm, Pump, type PumpOwner, type Socket } from "../transport/mod.ts";
import { ERROR_CODE, statelessBlock } from "../wire/mod.ts";
import type { UpstreamContext } from "./upstream_context.ts";
import type { Carrier, Exchange } from "./exchange.ts";
import type { Failure } from "./failure.ts";
import { Keepalive, type Watched } from "./keepalive.ts";
import { listBytes } from "./list_bytes.ts";
import { replyHead } from "./reply_head.ts";

/** A request of at most this many bytes is held until its reply begins, so that it can be sent once more. */
const REPEATABLE_BYTES = 65_536;

/** A connection that failed is given this long to read why. */
const LINGER_MS = 1_000;

const REFUSED: Failure = { kind: "backendReset", code: ERROR_CODE.refusedStream };

/** What a session tells the backend it belongs to. */
export interface SessionOwner {
  /** SETTINGS came, or a stream ended: calls that wait may be sent. */
  sessionHasRoom(session: UpstreamSession): void;
  /** It takes no new calls; those at most `lastStreamId` go on. */
  sessionLeaves(session: UpstreamSession): void;
  /** It is over; its calls are the receiver's to send again or to fail. */
  sessionClosed(session: UpstreamSession, why: string): void;
  /** A call never reached the backend's application: it may be sent again. */
  repeat(exchange: Exchange, failure: Failure): void;
  /** A call has begun to stream: it may last for ever. */
  exchangeStreams(exchange: Exchange): void;
  /** A call has ended. */
  exchangeEnded(exchange: Exchange): void;
}

/** One connection to a backend, with the calls that are under way on it. */
export class UpstreamSession implements ConnectionSink<Exchange>, PumpOwner, Carrier {
  readonly connection: Connection<Exchange>;
  readonly remote: string;
  #owner: SessionOwner;
  #context: UpstreamContext;
  #pump: Pump<Exchange>;
  #keepalive: Keepalive;
  #linger = new CallbackAlarm(() => this.#pump.abort());
  #gone = false;
  #leaving = false;
  #why = "the backend closed it";
  /** Calls with news for their owners, told once everything that was read together is in. */
  #touched: Exchange[] = [];

  constructor(
    socket: Socket,
    options: { owner: SessionOwner; context: UpstreamContext; remote: string },
  ) {
    this.#owner = options.owner;
    this.#context = options.context;
    this.remote = options.remote;
    this.connection = new Connection({
      role: "client",
      sink: this,
      headerCache: options.context.replyHeaders,
    });
    const { turn, timers } = options.context;
    this.#pump = new Pump(socket, this.connection, {
      owner: this,
      turn,
      now: () => timers.refresh(),
    });
    this.#keepalive = new Keepalive(this.#watched(), timers);
  }

  /** Resolves when the connection is gone. */
  run(): Promise<void> {
    return this.#pump.run();
  }

  get canOpen(): boolean {
    return !this.#gone && !this.#leaving && this.connection.ready && this.connection.canOpen;
  }

  #watched(): Watched {
    const { connection } = this;
    return {
      get isBusy(): boolean {
        return connection.openStreams > 0;
      },
      get lastReadMs(): number {
        return connection.nowMs;
      },
      ping: (opaque) => {
        connection.ping(opaque);
        this.#pump.flushSoon();
      },
      giveUp: (silentMs) => this.abandon(`no sign of life for ${Math.round(silentMs / 1_000)} s`),
    };
  }

  /** The backend accepts a head as large as the call's (RFC 9113 §6.5.2). */
  takesHead({ target, perCall }: Exchange): boolean {
    const { maxHeaderListBytes } = this.connection.peer;
    if (maxHeaderListBytes === Infinity) return true;
    return listBytes(target.list, perCall) <= maxHeaderListBytes;
  }

  /** Sends the call's head and what there is of its body. */
  open(exchange: Exchange): void {
    const nowMs = this.#context.timers.nowMs;
    exchange.attempts++;
    exchange.startedMs = nowMs;
    exchange.session = this;
    if (this.connection.openStreams === 0) this.#keepalive.begin();
    const stream = this.connection.openStream(exchange.target.list, {
      extra: exchange.fieldsToSend(nowMs),
      endStream: exchange.headEndsStream,
    });
    exchange.stream = stream;
    stream.owner = exchange;
    this.sendBody(exchange);
  }

  /** Sends what there is of the body and has not been sent. */
  sendBody(exchange: Exchange): void {
    const { stream, body } = exchange;
    if (stream === undefined || stream.closed) return;
    if (body.end > stream.position) this.connection.relay(stream, body);
    const isNeededAgain = exchange.keepsBody ||
      body.end <= REPEATABLE_BYTES && exchange.log.end === 0;
    if (!isNeededAgain) body.dropBefore(stream.position);
    exchange.owner.bodyMoved();
    this.#pump.flushSoon();
  }

  credit(stream: Stream<Exchange>, bytes: number): void {
    this.connection.consumed(stream, bytes);
    if (this.connection.outputBytes > 0) this.#pump.flushSoon();
  }

  /** Nobody waits for the call any more. */
  cancel(exchange: Exchange): void {
    const { stream } = exchange;
    if (stream === undefined || stream.closed) return;
    this.connection.reset(stream, ERROR_CODE.cancel);
    this.#pump.flushSoon();
    this.#closeWhenIdle();
  }

  /** It takes no new calls, and is closed once those it has are over. */
  leave(): void {
    this.#leaving = true;
    this.#closeWhenIdle();
  }

  /**
   * Ends it once its output is written. Without GOAWAY, which a client need not send: it opens no more streams, and
   * an http2 server on Deno 2.9 that has answered many calls crashes on one.
   */
  close(): void {
    this.#pump.close();
  }

  /** Ends it at once, for a reason of ours. */
  abandon(why: string): void {
    this.#why = why;
    this.#pump.abort();
  }

  // ---- what the connection tells

  headers(stream: Stream<Exchange>, headers: ReceivedHeaders, endStream: boolean): void {
    this.#keepalive.hasFlowed = true;
    const exchange = stream.owner;
    if (exchange === undefined || exchange.ended) return;
    if (headers.tooLarge) return this.#fail(exchange, { kind: "headersTooLarge", whose: "reply" });
    const head = replyHead(headers.list);
    if (head.interim) return;
    const isFirst = exchange.log.end === 0;
    if (isFirst && !endStream && !head.isGrpc || endStream && head.grpcStatus === undefined) {
      return this.#fail(
        exchange,
        isFirst && !head.isGrpc
          ? { kind: "notGrpc", httpStatus: head.httpStatus }
          : { kind: "noStatus" },
      );
    }
    if (head.cache !== undefined) exchange.restrict(head.cache);
    exchange.log.appendHeaders(statelessBlock(headers.list, headers.perCall), endStream);
    exchange.countList(listBytes(headers.list, headers.perCall));
    this.#touch(exchange);
    if (endStream) this.#end(exchange, head.grpcStatus!);
  }

  data(
    stream: Stream<Exchange>,
    bytes: Uint8Array,
    from: number,
    to: number,
    endStream: boolean,
  ): void {
    this.#keepalive.hasFlowed = true;
    const exchange = stream.owner;
    if (exchange === undefined || exchange.ended) return;
    if (to > from && exchange.receive(bytes, from, to)) this.#owner.exchangeStreams(exchange);
    if (endStream) this.#fail(exchange, { kind: "noStatus" });
    else this.#touch(exchange);
  }

  reset(stream: Stream<Exchange>, code: number, fault?: Fault): void {
    const exchange = stream.owner;
    if (exchange === undefined || exchange.ended) return;
    // REFUSED_STREAM says that nothing was done (RFC 9113 §8.7).
    if (fault === undefined && code === ERROR_CODE.refusedStream) {
      exchange.isRefused = true; // a farewell may come with it: what to do is seen once all is in
      this.#touch(exchange);
    } else if (fault === undefined) this.#fail(exchange, { kind: "backendReset", code });
    else this.#fail(exchange, { kind: "malformedReply", why: fault.why });
  }

  writable(stream: Stream<Exchange>): void {
    if (stream.owner !== undefined) this.sendBody(stream.owner);
  }

  settings(): void {
    this.#owner.sessionHasRoom(this);
  }

  goAway(lastStreamId: number): void {
    this.#owner.sessionLeaves(this);
    for (const stream of [...this.connection.streams()]) {
      const exchange = stream.owner;
      if (stream.id <= lastStreamId || exchange === undefined) continue;
      stream.owner = undefined;
      this.connection.reset(stream, ERROR_CODE.cancel);
      this.#owner.repeat(exchange, { kind: "connectionLost", why: "the backend is going away" });
    }
    this.#closeWhenIdle();
  }

  pong(): void {}

  failed(fault: Fault): void {
    this.#context.counters.countConnectionError("backend", fault.code);
    this.#context.observer.connectionFailed("backend", fault, this.remote);
    const { timers } = this.#context;
    timers.set(this.#linger, timers.nowMs + LINGER_MS); // it may not read, and its calls wait
  }

  // ---- what the pump tells

  received(): void {
    if (this.#touched.length === 0) return;
    const touched = this.#touched;
    this.#touched = [];
    for (const exchange of touched) {
      exchange.touched = false;
      if (exchange.isRefused) this.#owner.repeat(exchange, REFUSED);
      else exchange.tell(this.connection.nowMs, this.#context.observer);
    }
    this.#owner.sessionHasRoom(this);
    this.#closeWhenIdle();
  }

  closed(trouble: Error | undefined): void {
    this.#gone = true;
    this.#context.timers.cancel(this.#linger);
    this.#keepalive.stop();
    this.received();
    this.#owner.sessionClosed(this, this.connection.failed?.why ?? trouble?.message ?? this.#why);
  }

  #touch(exchange: Exchange): void {
    if (exchange.touched) return;
    exchange.touched = true;
    this.#touched.push(exchange);
  }

  #end(exchange: Exchange, status: number): void {
    exchange.end(status);
    this.#touch(exchange);
    this.#owner.exchangeEnded(exchange);
  }

  #fail(exchange: Exchange, failure: Failure): void {
    exchange.fail(failure);
    this.cancel(exchange);
    this.#touch(exchange);
    this.#owner.exchangeEnded(exchange);
  }

  #closeWhenIdle(): void {
    const isLeaving = this.#leaving || this.connection.peerLastStreamId !== undefined;
    if (isLeaving && this.connection.openStreams === 0) this.close();
  }
}
