import { MessageScanner } from "../grpc/mod.ts";
import type { FrameLog } from "../wire/mod.ts";
import type { Call } from "./call.ts";
import { Exchange, type ExchangeOwner } from "./exchange.ts";

/** The backend call that a passed call has to itself: both directions are relayed as they come, with back-pressure. */
export class OwnExchange implements ExchangeOwner {
  readonly exchange: Exchange;
  #call: Call;
  #scanner: MessageScanner;
  /** DATA bytes taken from the caller, and those it was given credit for. */
  #takenBytes: number;
  #creditedBytes: number;

  /** `body` is what there is of the request, credited already; `scanner` has followed it. */
  constructor(
    call: Call,
    request: { body: FrameLog; scanner: MessageScanner | undefined; headEndsStream: boolean },
  ) {
    this.#call = call;
    this.#scanner = request.scanner ?? new MessageScanner();
    this.#takenBytes = this.#creditedBytes = request.body.dataBytes;
    this.exchange = new Exchange(this, {
      route: call.route,
      perCall: call.perCall,
      body: request.body,
      headEndsStream: request.headEndsStream,
      deadlineMs: call.deadlineMs,
    });
    this.exchange.streaming = this.#scanner.started > 1;
  }

  start(): void {
    this.#call.session.context.backend.start(this.exchange);
    this.#holdWhilePending();
  }

  /** More of the request. */
  push(bytes: Uint8Array, from: number, to: number, endStream: boolean): void {
    const { exchange } = this;
    if (exchange.ended || from === to && !endStream) return; // frames without bytes cost no credit, so none are kept
    this.#takenBytes += to - from;
    this.#scanner.scan(bytes, from, to);
    if (this.#scanner.started > 1) exchange.streaming = true;
    const isOnly = endStream && exchange.body.end === 0;
    exchange.body.appendData(bytes, from, to, endStream);
    const { context } = this.#call.session;
    if (isOnly && !exchange.route.method.verdict.eligible) context.missed.passed(exchange);
    context.backend.bodyGrew(exchange);
    this.#holdWhilePending();
  }

  #holdWhilePending(): void {
    const { body, stream } = this.exchange;
    if (stream === undefined) this.#call.holds(body.end);
  }

  /** The caller has read up to `position`, and what is before it is not needed any more. */
  progressed(position: number): void {
    const { log } = this.exchange;
    this.exchange.credit(log.end - position);
    log.dropBefore(position);
  }

  /** Nobody waits for it any more. */
  cancel(): void {
    this.#call.session.context.backend.cancel(this.exchange);
  }

  bodyMoved(): void {
    const { body, stream } = this.exchange;
    const waiting = body.end - stream!.position; // no less than its DATA
    this.#call.holds(waiting);
    const due = this.#takenBytes - this.#creditedBytes - waiting;
    if (due <= 0) return;
    this.#creditedBytes += due;
    const { session, stream: callersStream } = this.#call;
    session.connection.consumed(callersStream, due);
    session.flushSoon();
  }

  replyGrew(): void {
    this.#call.readMore();
  }

  replyEnded(): void {
    this.#call.readMore();
  }

  timeIsUp(): void {} // the call's own deadline bounds it

  faulted(): void {
    this.#call.failOwn({ kind: "faultOfOurs" });
  }
}
