import {
  Connection,
  type ConnectionSink,
  type Fault,
  type ReceivedHeaders,
  type Stream,
} from "../connection/mod.ts";
import { isOneMessage } from "../grpc/mod.ts";
import { Pump, type PumpOwner, type Socket, type Turn } from "../transport/mod.ts";
import type { HeaderCache } from "../wire/mod.ts";
import { Call } from "./call.ts";
import type { CallContext } from "./call_context.ts";
import { type Failure, statusOfFailure } from "./failure.ts";
import { failureReply, httpReply } from "./reply_fields.ts";
import type { Router } from "./request_route.ts";

const NO_BYTES = new Uint8Array(0);

/** What all connections of callers share. */
export interface CallerContext extends CallContext {
  readonly router: Router;
  readonly turn: Turn;
  /** Interns what callers send. */
  readonly requestHeaders: HeaderCache;
  /** A caller's connection is gone. */
  readonly sessionClosed: (session: CallerSession) => void;
}

/** One connection of a caller. */
export class CallerSession implements ConnectionSink<Call>, PumpOwner {
  readonly connection: Connection<Call>;
  readonly context: CallerContext;
  readonly remote: string;
  /** Reads of the socket so far. */
  reads = 0;
  #pump: Pump<Call>;
  /** Calls whose message was not in the read that brought their head. */
  #awaiting: Call[] = [];

  constructor(socket: Socket, options: { context: CallerContext; remote: string }) {
    this.context = options.context;
    this.remote = options.remote;
    const { requestHeaders, turn, timers } = options.context;
    this.connection = new Connection({ role: "server", sink: this, headerCache: requestHeaders });
    this.#pump = new Pump(socket, this.connection, {
      owner: this,
      turn,
      now: () => timers.refresh(),
    });
  }

  /** Resolves when the connection is gone. */
  run(): Promise<void> {
    return this.#pump.run();
  }

  /** The last read found less than it had room for. */
  get isDrained(): boolean {
    return this.#pump.isDrained;
  }

  flushSoon(): void {
    this.#pump.flushSoon();
  }

  /** The call waits for its message; it learns so when the read is over and the message was not in it. */
  awaitMessage(call: Call): void {
    this.#awaiting.push(call);
  }

  /** A call has ended. */
  callEnded(): void {
    if (this.connection.draining) this.closeWhenIdle();
  }

  /** Asks the caller to open no more streams. */
  drain(): void {
    this.connection.drain();
    this.flushSoon();
  }

  /** Ends the connection once the last GOAWAY was said and no call is left. */
  closeWhenIdle(): void {
    if (this.connection.drainFinished && this.connection.openStreams === 0) this.#pump.close();
  }

  /** Ends the calls that are left with 14, and the connection. */
  end(): void {
    for (const stream of [...this.connection.streams()]) {
      stream.owner?.failOwn({ kind: "draining" });
    }
    this.connection.finishDrain();
    this.#pump.close();
  }

  /** Something of ours failed on behalf of a call: it ends with 13, and nothing else does. */
  fault(stream: Stream<Call>, error: unknown): void {
    this.context.observer.faultOfOurs("serving a call", error);
    const failure: Failure = { kind: "faultOfOurs" };
    if (stream.owner !== undefined) return stream.owner.failOwn(failure);
    if (!stream.localEnded) this.connection.sendFinalHeaders(stream, failureReply(failure));
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
    if (stream.headersReceived && stream.localEnded) return;
    if (headers.tooLarge) {
      const failure: Failure = { kind: "headersTooLarge", whose: "request" };
      const path = headers.list.get(":path") ?? "";
      this.context.counters.countRejected(path, statusOfFailure(failure).code);
      return this.connection.sendFinalHeaders(stream, failureReply(failure));
    }
    const route = this.context.router.route(headers.list);
    if (route.httpStatus !== 0) {
      return this.connection.sendFinalHeaders(stream, httpReply(route.httpStatus));
    }
    const call = new Call(this, stream, {
      route,
      perCall: headers.perCall,
      nowMs: this.connection.nowMs,
    });
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
    if (call === undefined) return;
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
    stream.owner?.gone();
  }

  writable(stream: Stream<Call>): void {
    stream.owner?.readMoreOrFail();
  }

  settings(): void {}

  goAway(): void {} // a client that goes away ends its calls itself, or waits for them

  pong(): void {}

  failed(fault: Fault): void {
    this.context.counters.countConnectionError("caller", fault.code);
    this.context.observer.connectionFailed("caller", fault, this.remote);
  }

  // ---- what the pump tells

  received(): void {
    this.reads++;
    if (this.#awaiting.length > 0) {
      for (const call of this.#awaiting) if (call.isGathering) call.awaitQuiet();
      this.#awaiting = [];
    }
    if (this.connection.draining) this.closeWhenIdle();
  }

  closed(): void {
    for (const stream of [...this.connection.streams()]) stream.owner?.gone();
    this.context.sessionClosed(this);
  }
}
