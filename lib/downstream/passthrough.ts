import type { Stream } from "../connection/mod.ts";
import { MessageScanner } from "../grpc/mod.ts";
import type { Field, FrameLog } from "../wire/mod.ts";
import {
  Exchange,
  type ExchangeOwner,
  type Failure,
  type GatheredReply,
  type MayQueue,
} from "../upstream/mod.ts";
import type { CallContext } from "./call_context.ts";
import type { RequestRoute } from "./request_route.ts";

/** A caller's call, as its passthrough sees it. */
export interface PassedCall {
  readonly route: RequestRoute;
  /** The fields that belong to this call alone. */
  readonly perCall: readonly Field[];
  readonly deadlineMs: number;
  /** See `FlightWaiter`. */
  readonly mayQueue: MayQueue;
  /** The caller's stream. */
  readonly stream: Stream<unknown>;
  readonly session: {
    readonly context: Pick<
      CallContext,
      "backend" | "counters" | "missed" | "timers"
    >;
    readonly connection: { consumed(stream: Stream<unknown>, bytes: number): void };
    flushSoon(): void;
  };
  /** So much of the request is still to be taken by the backend. */
  holds(bytes: number): void;
  /** Relays what there is of the reply. */
  readMore(): void;
  /** Ends this call alone. */
  failOwn(failure: Failure): void;
}

/** Somebody who looks on while a reply comes by, and whom nobody waits for. */
export interface Witness {
  /** More of the reply is in its log, from which it may be dropped when this returns. */
  grew(reply: GatheredReply): void;
  /** The reply has its end; `backend` is the name of who gave it. */
  ended(reply: GatheredReply, backend: string): void;
  /** The caller has gone before the end. */
  left(): void;
}

/** The backend call that a passed call has to itself: both directions are relayed as they come, with back-pressure. */
export class Passthrough implements ExchangeOwner {
  readonly exchange: Exchange;
  #call: PassedCall;
  #scanner: MessageScanner;
  /** DATA bytes taken from the caller, and those it was given credit for. */
  #takenBytes: number;
  #creditedBytes: number;
  /** DATA of the reply that was handed on. */
  #seenBytes = 0;
  #hasEnded = false;
  readonly #witness: Witness | undefined;

  /** `body` is what there is of the request, credited already; `scanner` has followed it. */
  constructor(
    call: PassedCall,
    body: FrameLog,
    scanner: MessageScanner | undefined,
    { headEndsStream, witness }: { headEndsStream: boolean; witness?: Witness | undefined },
  ) {
    this.#call = call;
    this.#witness = witness;
    this.#scanner = scanner ?? new MessageScanner();
    this.#takenBytes = this.#creditedBytes = body.dataBytes;
    this.exchange = new Exchange(this, {
      target: call.route,
      perCall: call.perCall,
      body,
      headEndsStream,
      deadlineMs: call.deadlineMs,
      mayQueue: call.mayQueue,
    });
    this.exchange.isStreaming = this.#scanner.started > 1;
  }

  start(): void {
    this.#call.session.context.backend.start(this.exchange);
  }

  /** More of the request. */
  push(bytes: Uint8Array, from: number, to: number, endStream: boolean): void {
    const { exchange } = this;
    if (exchange.reply.ended || from === to && !endStream) return; // frames without bytes cost no credit, so none are kept
    this.#takenBytes += to - from;
    this.#scanner.scan(bytes, from, to);
    if (this.#scanner.started > 1) exchange.isStreaming = true;
    const isOnly = endStream && exchange.body.end === 0;
    exchange.body.appendData(bytes, from, to, endStream);
    const { route, session: { context } } = this.#call;
    if (isOnly && !route.method.verdict.eligible) context.missed.passed(route, exchange.body);
    context.backend.bodyGrew(exchange);
    this.#holdWhilePending();
  }

  #holdWhilePending(): void {
    const { attempt, unsentBytes } = this.exchange;
    if (attempt === undefined) this.#call.holds(unsentBytes);
  }

  /** The caller has read up to `position`, and what is before it is not needed any more. */
  progressed(position: number): void {
    const { log } = this.exchange.reply;
    this.exchange.credit(log.end - position);
    log.dropBefore(position);
  }

  /** Nobody waits for it any more. */
  cancel(): void {
    this.#call.session.context.backend.cancel(this.exchange);
  }

  bodyMoved(): void {
    const waiting = this.exchange.unsentBytes; // no less than its DATA
    this.#call.holds(waiting);
    const due = this.#takenBytes - this.#creditedBytes - waiting;
    if (due <= 0) return;
    this.#creditedBytes += due;
    const { session, stream } = this.#call;
    session.connection.consumed(stream, due);
    session.flushSoon();
  }

  replyGrew(): void {
    const { reply, body, headEndsStream } = this.exchange;
    if (reply.receivedBytes > this.#seenBytes) {
      this.#seenBytes = reply.receivedBytes;
      this.#changes();
      const { route: { method }, session: { context } } = this.#call;
      if (!body.ended && !headEndsStream) method.behaviour.saw("streaming", context.timers.nowMs);
    }
    this.#witness?.grew(reply);
    this.#call.readMore();
  }

  replyEnded(): void {
    this.#hasEnded = true;
    this.#witness?.ended(this.exchange.reply, this.exchange.servedBy);
    this.#changes();
    this.exchange.clearBody(); // a backend may answer what it has not taken, or was not sent
    this.#call.holds(0);
    this.#call.readMore();
  }

  /** The call is over, its reply or no: nothing reads the logs any more. */
  release(): void {
    if (!this.#hasEnded) {
      this.#changes();
      this.#witness?.left();
    }
    this.exchange.release();
  }

  /**
   * Something may have been changed, so what was answered before must not hide it: from this caller, or from whoever
   * learns of it by the answer. Told before the answer is handed on.
   */
  #changes(): void {
    const { route: { method: { invalidates, scope, service } }, session: { context } } = this.#call;
    const { attempts, isStreaming } = this.exchange;
    if (attempts === 0 || invalidates === "no" || invalidates === "streaming" && !isStreaming) {
      return;
    }
    scope.generation++;
    context.counters.countInvalidation(service.name);
  }

  timeIsUp(): void {} // the call's own deadline bounds it

  faulted(): void {
    this.#call.failOwn({ kind: "faultOfOurs" });
  }
}
