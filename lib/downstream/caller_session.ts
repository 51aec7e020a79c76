import {
  Connection,
  type ConnectionSink,
  type Fault,
  type ReceivedHeaders,
  type Stream,
} from "../connection/mod.ts";
import { isOneMessage } from "../grpc/mod.ts";
import { CallbackAlarm, Pump, type PumpOwner, type Socket, type Turn } from "../transport/mod.ts";
import { ERROR_CODE, type HeaderCache } from "../wire/mod.ts";
import { Call } from "./call.ts";
import type { CallContext } from "./call_context.ts";
import type { CallerLink } from "./caller_link.ts";
import { type Failure, failureReply, statusOfFailure } from "../upstream/mod.ts";
import { GREETING_DELAY_MS, HANDSHAKE_MS, LINGER_MS, MAX_HELD_BYTES } from "./caller_limits.ts";
import { httpReply } from "./own_reply.ts";
import type { Router } from "./request_route.ts";
import { UnreadReplies } from "./unread_replies.ts";

const NO_BYTES = new Uint8Array(0);

/** What all connections of callers share. */
export interface CallerContext extends CallContext {
  readonly router: Router;
  readonly turn: Turn;
  /** Interns what callers send. */
  readonly requestHeaders: HeaderCache;
  /** What callers' connections say, so that one which is our own backend's is known for what it is. */
  readonly instance: number;
  /** A caller's connection is gone. */
  readonly sessionClosed: (session: CallerSession) => void;
}

/** One connection of a caller. */
export class CallerSession implements ConnectionSink<Call>, PumpOwner, CallerLink<Call> {
  readonly connection: Connection<Call>;
  readonly context: CallerContext;
  readonly remote: string;
  /** Reads of the socket so far. */
  reads = 0;
  #pump: Pump<Call>;
  /** Watches the beginning and the end of the connection; in between it may be idle as long as it likes. */
  #patience = new CallbackAlarm((nowMs) => this.#patienceIsOver(nowMs));
  #hasGreeted = false;
  #heldBytes = 0;
  /** More than {@linkcode MAX_HELD_BYTES} wait, or did a moment ago: nothing more is gathered. */
  isFull = false;
  #mustMakeRoom = false;
  /** Made when a reply first waits for its caller: most never do. */
  #unread: UnreadReplies<Call> | undefined = undefined;
  /** Calls whose message was not in the read that brought their head. */
  #awaiting: Call[] = [];

  constructor(socket: Socket, options: { context: CallerContext; remote: string }) {
    this.context = options.context;
    this.remote = options.remote;
    const { requestHeaders, turn, timers, instance } = options.context;
    this.connection = new Connection({
      role: "server",
      sink: this,
      headerCache: requestHeaders,
      instance,
      account: options.context.buffered,
    });
    this.#pump = new Pump(socket, this.connection, {
      owner: this,
      turn,
      now: () => timers.refresh(),
      speaksFirst: false,
      lingers: timers,
    });
  }

  /** Resolves when the connection is gone. */
  run(): Promise<void> {
    const { timers } = this.context;
    timers.set(this.#patience, timers.refresh() + GREETING_DELAY_MS);
    return this.#pump.run();
  }

  /** The last read found less than it had room for. */
  get isDrained(): boolean {
    return this.#pump.isDrained;
  }

  flushSoon(): void {
    this.#pump.flushSoon();
  }

  /** The replies that callers do not take. */
  get unread(): UnreadReplies<Call> {
    return this.#unread ??= new UnreadReplies(this);
  }

  /** Times that the socket was given something: it has taken what it was given before. */
  get writes(): number {
    return this.#pump.writes;
  }

  /** The call waits for its message; it learns so when the read is over and the message was not in it. */
  awaitMessage(call: Call): void {
    this.#awaiting.push(call);
  }

  /** Bytes of requests that calls of the connection say they hold. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** A call holds so many bytes of its request more than before. */
  held(moreBytes: number): void {
    this.#heldBytes += moreBytes;
    const isFull = this.#heldBytes > (this.isFull ? MAX_HELD_BYTES / 2 : MAX_HELD_BYTES);
    if (isFull === this.isFull) return;
    this.isFull = isFull;
    this.connection.pauseData(isFull);
    if (isFull) this.#mustMakeRoom = true;
    else this.flushSoon();
  }

  /** Calls that wait for the rest of their message might wait for one another: they go on as they are. */
  #makeRoom(): void {
    this.#mustMakeRoom = false;
    for (const { owner } of [...this.connection.streams()]) {
      if (owner?.isGathering) owner.guard(() => owner.passUnfinished());
    }
  }

  /** A call has ended. */
  callEnded(): void {
    if (this.connection.draining) this.closeWhenIdle();
  }

  /** Asks the caller to open no more streams; `atOnce` takes none of those either that are under way to us by then. */
  drain({ atOnce = false } = {}): void {
    if (atOnce) this.connection.finishDrain();
    else this.connection.drain();
    for (const stream of [...this.connection.streams()]) {
      if (stream.owner === undefined) this.connection.reset(stream, ERROR_CODE.noError); // it was turned away
    }
    this.flushSoon();
    if (atOnce) this.closeWhenIdle();
  }

  /** Ends the connection once the last GOAWAY was said and no call is left. */
  closeWhenIdle(): void {
    if (this.connection.drainFinished && this.connection.openStreams === 0) this.#pump.close();
  }

  /** Ends the calls that are left, and the connection. */
  end(failure: Failure = { kind: "draining" }): void {
    for (const stream of [...this.connection.streams()]) stream.owner?.failOwn(failure);
    this.connection.finishDrain();
    this.#pump.close();
  }

  /** Ends the connection now, whatever has not arrived. */
  abort(): void {
    this.#pump.abort();
  }

  /** Something of ours failed on behalf of a call: it ends with 13, and nothing else does. */
  fault(stream: Stream<Call>, error: unknown): void {
    this.context.observer.faultOfOurs("serving a call", error);
    const failure: Failure = { kind: "faultOfOurs" };
    try {
      if (stream.owner !== undefined) stream.owner.failOwn(failure);
      else if (!stream.localEnded) this.connection.sendFinalHeaders(stream, failureReply(failure));
    } catch (again) {
      this.context.observer.faultOfOurs("ending a call", again); // which must cost no other call anything
    }
  }

  // ---- what the connection tells

  headers(stream: Stream<Call>, headers: ReceivedHeaders, endStream: boolean): void {
    try {
      this.#headers(stream, headers, endStream);
    } catch (error) {
      this.fault(stream, error);
    }
  }

  #headers(stream: Stream<Call>, headers: ReceivedHeaders, endStream: boolean): void {
    const known = stream.owner;
    if (known !== undefined) return known.data(NO_BYTES, 0, 0, endStream); // gRPC requests have no trailers of meaning
    if (stream.localEnded) return; // trailers of a request that was turned away
    if (headers.tooLarge) {
      const failure: Failure = { kind: "headersTooLarge", whose: "request" };
      const path = headers.list.get(":path") ?? "";
      this.context.counters.countRejected(path, statusOfFailure(failure).code);
      return this.connection.sendFinalHeaders(stream, failureReply(failure));
    }
    const route = this.context.router.route(headers.list);
    if (route.httpStatus !== 0) {
      return this.connection.sendFinalHeaders(stream, httpReply(route.httpStatus), {
        readsOn: true, // what is still to come is checked like any request
      });
    }
    const call = new Call(this, stream, route, headers.perCall, this.connection.nowMs);
    stream.owner = call;
    call.begin(endStream);
  }

  data(
    stream: Stream<Call>,
    bytes: Uint8Array,
    from: number,
    to: number,
    endStream: boolean,
  ): void {
    const call = stream.owner;
    if (call === undefined) return this.connection.consumed(stream, to - from); // it was turned away
    try {
      if (
        endStream && call.isGathering && stream.receivedBytes === to - from &&
        isOneMessage(bytes, from, to)
      ) {
        call.answer(bytes, from, to);
      } else {
        call.data(bytes, from, to, endStream);
      }
    } catch (error) {
      this.fault(stream, error);
    }
  }

  reset(stream: Stream<Call>): void {
    try {
      stream.owner?.gone();
    } catch (error) {
      this.fault(stream, error);
    }
  }

  writable(stream: Stream<Call>): void {
    stream.owner?.readMoreOrFail();
  }

  settings(): void {
    if (this.#patience.isSet) this.context.timers.cancel(this.#patience);
  }

  goAway(_lastStreamId: number, code: number, debug: string): void { // its calls it ends itself, or waits for them
    const { counters, observer } = this.context;
    counters.countGoAway("caller", code);
    if (code !== ERROR_CODE.noError) observer.goneAway("caller", { code, debug }, this.remote);
  }

  pong(): void {}

  failed(fault: Fault): void {
    this.context.counters.countConnectionError("caller", fault.code);
    this.context.observer.connectionFailed("caller", fault, this.remote);
    const { timers } = this.context;
    timers.set(this.#patience, timers.nowMs + LINGER_MS);
  }

  #patienceIsOver(nowMs: number): void {
    const { connection } = this;
    if (connection.failed !== undefined) return this.#pump.abort(); // it does not read either
    if (connection.ready) return;
    if (this.#hasGreeted) {
      const why = `no preface and SETTINGS within ${HANDSHAKE_MS / 1_000} s`;
      connection.fail(ERROR_CODE.settingsTimeout, why);
    } else {
      this.#hasGreeted = true;
      this.context.timers.set(this.#patience, nowMs + HANDSHAKE_MS - GREETING_DELAY_MS);
    }
    this.flushSoon();
  }

  // ---- what the pump tells

  received(): void {
    this.reads++;
    if (this.#awaiting.length > 0) {
      for (const call of this.#awaiting) if (call.isGathering) call.awaitQuiet();
      this.#awaiting = [];
    }
    if (this.#mustMakeRoom) this.#makeRoom();
    if (this.connection.draining) this.closeWhenIdle();
    if (this.connection.failed !== undefined) this.#endCalls(); // the socket is closed a while later
  }

  closed(): void {
    this.context.timers.cancel(this.#patience);
    this.#unread?.end();
    this.#endCalls();
    this.context.sessionClosed(this);
  }

  /** The caller hears nothing any more: its calls wait for nothing. */
  #endCalls(): void {
    for (const stream of [...this.connection.streams()]) this.reset(stream);
  }
}
