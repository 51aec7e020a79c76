import {
  Connection,
  type ConnectionSink,
  type Fault,
  type ReceivedHeaders,
  type Stream,
} from "../connection/mod.ts";
import { CallbackAlarm, Pump, type PumpOwner, type Socket } from "../transport/mod.ts";
import { ERROR_CODE } from "../wire/mod.ts";
import { ContainedSink } from "./contained_sink.ts";
import type { UpstreamContext } from "./upstream_context.ts";
import type { Exchange } from "./exchange.ts";
import type { Failure } from "./failure.ts";
import { Keepalive, type Watched } from "./keepalive.ts";
import { listBytes } from "./list_bytes.ts";
import { type AttemptCarrier, StreamAttempt } from "./stream_attempt.ts";

/** A request of at most this many bytes is held until its reply begins, so that it can be sent once more. */
const REPEATABLE_BYTES = 65_536;

/** A connection that failed is given this long to read why. */
const LINGER_MS = 1_000;

const UNSEEN: Failure = { kind: "connectionLost", why: "the backend is going away" };
const REFUSED: Failure = { kind: "backendReset", code: ERROR_CODE.refusedStream };

/** The endpoint that a session belongs to, as the session sees it. */
export interface SessionOwner {
  /** A read is over, or SETTINGS came: calls that wait may be sent. */
  sessionHasRoom(session: UpstreamSession): void;
  /** The session takes no new calls; those it has go on. */
  sessionLeaves(session: UpstreamSession): void;
  /** The session is over; the calls that are left on it are the owner's to end. */
  sessionClosed(session: UpstreamSession, why: string): void;
  /** A call never reached the backend's application: it may be sent again. */
  repeat(exchange: Exchange, failure: Failure): void;
  /** The first of a reply's messages has begun to come. */
  exchangeAnswers(exchange: Exchange): void;
  /** A call has begun to stream: it may last for ever. */
  exchangeStreams(exchange: Exchange): void;
  /** A call has ended, by the status that its reply has or by a failure. */
  settle(exchange: Exchange, failure?: Failure): void;
}

/** One connection to a backend, with the calls that are under way on it. */
export class UpstreamSession implements ConnectionSink<StreamAttempt>, PumpOwner, AttemptCarrier {
  readonly connection: Connection<StreamAttempt>;
  readonly remote: string;
  readonly #owner: SessionOwner;
  readonly #context: UpstreamContext;
  readonly #sink: ContainedSink;
  #pump: Pump<StreamAttempt>;
  #keepalive: Keepalive;
  #linger = new CallbackAlarm(() => this.#pump.abort());
  #gone = false;
  #leaving = false;
  #hasAnswered = false;
  #why = "the backend closed it";
  /** Calls with news for their owners, told once everything that was read together is in. */
  #touched: StreamAttempt[] = [];

  constructor(
    socket: Socket,
    options: { owner: SessionOwner; context: UpstreamContext; remote: string },
  ) {
    this.#owner = options.owner;
    this.#context = options.context;
    this.remote = options.remote;
    this.#sink = new ContainedSink(this, { owner: this.#owner, observer: this.#context.observer });
    const { replyHeaders: headerCache, buffered: account, instance, turn, timers } = this.#context;
    this.connection = new Connection({
      role: "client",
      sink: this.#sink,
      headerCache,
      ...{ account, instance },
    });
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

  /** The connection was good for something: a call was answered, or is going to be after a farewell. */
  get wasOfUse(): boolean {
    return this.#hasAnswered || (this.connection.peerLastStreamId ?? 0) > 0;
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
    return maxHeaderListBytes === Infinity || listBytes(target.list, perCall) <= maxHeaderListBytes;
  }

  /** The calls that are under way on it. */
  exchanges(): Exchange[] {
    return [...this.connection.streams()].flatMap(({ owner }) => owner?.exchange ?? []);
  }

  /** Sends the call's head and what there is of its body. */
  open(exchange: Exchange): void {
    const { nowMs } = this.#context.timers;
    if (this.connection.openStreams === 0) this.#keepalive.begin();
    const stream = this.connection.openStream(exchange.target.list, {
      extra: exchange.fieldsToSend(nowMs),
      endStream: exchange.headEndsStream,
    });
    const attempt = new StreamAttempt(exchange, stream, this, nowMs);
    stream.owner = attempt;
    exchange.attempt = attempt;
    exchange.attempts++;
    this.sendBody(attempt);
    if (!this.connection.isOutOfIds) return;
    this.#leaving = true;
    this.#owner.sessionLeaves(this);
  }

  sendBody({ exchange, stream }: StreamAttempt): void {
    const { body } = exchange;
    if (stream.closed) return;
    if (body.end > stream.position) this.connection.relay(stream, body);
    const isNeededAgain = exchange.keepsBody ||
      body.end <= REPEATABLE_BYTES && !exchange.reply.hasBegun;
    if (!isNeededAgain) body.dropBefore(stream.position);
    exchange.bodyMoved();
    this.#pump.flushSoon();
  }

  credit(stream: Stream<StreamAttempt>, bytes: number): void {
    this.connection.consumed(stream, bytes);
    if (this.connection.outputBytes > 0) this.#pump.flushSoon();
  }

  letGo(stream: Stream<StreamAttempt>): void {
    if (stream.closed) return;
    this.connection.reset(stream, ERROR_CODE.cancel);
    this.#pump.flushSoon();
    this.#closeWhenIdle();
  }

  /** Takes no new calls from now on; the connection is closed once those it has are over. */
  leave(): void {
    this.#leaving = true;
    this.#closeWhenIdle();
  }

  /** Ends the connection once its output is written. A client need not send GOAWAY: it opens no more streams. */
  close(): void {
    if (this.connection.openStreams === 0) this.#keepalive.stop(); // nobody waits, and nobody will
    this.#pump.close(); // GOAWAY crashes an http2 server on Deno 2.9 that has answered many calls
  }

  /** Ends the connection at once, for a reason of ours; `why` is what its calls are told. */
  abandon(why: string): void {
    this.#leaving = true;
    this.#why = why;
    this.#pump.abort();
  }

  // ---- what the connection tells

  headers(stream: Stream<StreamAttempt>, headers: ReceivedHeaders, endStream: boolean): void {
    this.#keepalive.hasFlowed = true;
    this.#hasAnswered = true;
    const attempt = stream.owner;
    if (attempt === undefined) return;
    const { reply } = attempt.exchange;
    const failure = reply.takeHeaders(headers, endStream);
    if (failure !== undefined || reply.ended) this.#end(attempt, failure);
    else this.#touch(attempt);
  }

  data(
    stream: Stream<StreamAttempt>,
    bytes: Uint8Array,
    from: number,
    to: number,
    endStream: boolean,
  ): void {
    this.#keepalive.hasFlowed = true;
    const attempt = stream.owner;
    if (attempt === undefined) return;
    const { exchange } = attempt;
    if (to > from) {
      if (exchange.reply.receivedBytes === 0) this.#owner.exchangeAnswers(exchange);
      exchange.reply.lastByteMs = this.connection.nowMs;
      if (exchange.reply.receive(bytes, from, to)) this.#owner.exchangeStreams(exchange);
    }
    if (endStream) this.#end(attempt, { kind: "noStatus" });
    else this.#touch(attempt);
  }

  reset(stream: Stream<StreamAttempt>, code: number, fault?: Fault): void {
    const attempt = stream.owner;
    if (attempt === undefined) return;
    // REFUSED_STREAM says that nothing was done (RFC 9113 §8.7).
    if (fault === undefined && code === ERROR_CODE.refusedStream) {
      attempt.isRefused = true; // a farewell may come with it: what to do is seen once all is in
      this.#touch(attempt);
    } else if (fault === undefined) this.#end(attempt, { kind: "backendReset", code });
    else this.#end(attempt, { kind: "malformedReply", why: fault.why });
  }

  writable(stream: Stream<StreamAttempt>): void {
    if (stream.owner !== undefined) this.sendBody(stream.owner);
  }

  settings(): void {
    this.#owner.sessionHasRoom(this);
  }

  goAway(lastStreamId: number, code: number, debug: string): void {
    const { counters, observer } = this.#context;
    counters.countGoAway("backend", code);
    if (code !== ERROR_CODE.noError) observer.goneAway("backend", { code, debug }, this.remote);
    this.#owner.sessionLeaves(this);
    for (const { id, owner: attempt } of [...this.connection.streams()]) {
      if (id > lastStreamId && attempt !== undefined) this.#repeat(attempt, UNSEEN);
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
    const touched = this.#touched;
    if (touched.length > 0) this.#touched = [];
    for (const attempt of touched) {
      attempt.isTouched = false;
      if (attempt.isRefused) this.#repeat(attempt, REFUSED);
      else attempt.exchange.tell(this.connection.nowMs, this.#context.observer);
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

  #touch(attempt: StreamAttempt): void {
    if (attempt.isTouched) return;
    attempt.isTouched = true;
    this.#touched.push(attempt);
  }

  #end(attempt: StreamAttempt, failure?: Failure): void {
    this.#touch(attempt); // so that the owner hears of it when the read is over
    this.#owner.settle(attempt.exchange, failure);
  }

  #repeat(attempt: StreamAttempt, failure: Failure): void {
    this.#sink.contain(attempt, () => this.#owner.repeat(attempt.exchange, failure));
  }

  #closeWhenIdle(): void {
    const isLeaving = this.#leaving || this.connection.peerLastStreamId !== undefined;
    if (isLeaving && this.connection.openStreams === 0) this.close();
  }
}
