import type { Stream } from "../connection/mod.ts";
import type { Attempt, Exchange } from "./exchange.ts";

/** The connection's session, as an attempt sees it. */
export interface AttemptCarrier {
  sendBody(attempt: StreamAttempt): void;
  credit(stream: Stream<StreamAttempt>, bytes: number): void;
  /** Resets the stream where it is open. */
  letGo(stream: Stream<StreamAttempt>): void;
}

/** An exchange's stream on one connection. */
export class StreamAttempt implements Attempt {
  readonly exchange: Exchange;
  readonly stream: Stream<StreamAttempt>;
  readonly startedMs: number;
  isTouched = false;
  /** The backend has refused the stream: the call can be sent again. */
  isRefused = false;
  readonly #carrier: AttemptCarrier;

  constructor(
    exchange: Exchange,
    stream: Stream<StreamAttempt>,
    carrier: AttemptCarrier,
    nowMs: number,
  ) {
    this.exchange = exchange;
    this.stream = stream;
    this.startedMs = nowMs;
    this.#carrier = carrier;
  }

  get sentTo(): number {
    return this.stream.position;
  }

  sendBody(): void {
    this.#carrier.sendBody(this);
  }

  credit(bytes: number): void {
    this.#carrier.credit(this.stream, bytes);
  }

  abandon(): void {
    this.stream.owner = undefined; // what comes now is for nobody, and what is dead keeps nothing alive
    this.#carrier.letGo(this.stream);
  }
}
