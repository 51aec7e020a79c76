import type { ConnectionSink, Fault, ReceivedHeaders, Stream } from "../connection/mod.ts";
import type { UpstreamObserver } from "../observe/mod.ts";
import type { Exchange } from "./exchange.ts";
import type { Failure } from "./failure.ts";
import type { StreamAttempt } from "./stream_attempt.ts";

type Sink = ConnectionSink<StreamAttempt>;

/** What contains a fault: whoever ends the calls of a session, and whoever hears of its faults. */
export interface Containment {
  readonly owner: { settle(exchange: Exchange, failure: Failure): void };
  readonly observer: Pick<UpstreamObserver, "faultOfOurs">;
}

/**
 * A session as its connection sees it, with a fault of ours contained: it costs the call on whose behalf it happened,
 * which ends with 13, and not the connection with all that are on it.
 */
export class ContainedSink implements Sink {
  readonly #sink: Sink;
  readonly #containment: Containment;

  constructor(sink: Sink, containment: Containment) {
    this.#sink = sink;
    this.#containment = containment;
  }

  headers(stream: Stream<StreamAttempt>, headers: ReceivedHeaders, endStream: boolean): void {
    const { owner } = stream;
    try {
      this.#sink.headers(stream, headers, endStream);
    } catch (error) {
      this.#fault(owner, error);
    }
  }

  data(
    stream: Stream<StreamAttempt>,
    bytes: Uint8Array,
    from: number,
    to: number,
    endStream: boolean,
  ): void {
    const { owner } = stream;
    try {
      this.#sink.data(stream, bytes, from, to, endStream);
    } catch (error) {
      this.#fault(owner, error);
    }
  }

  reset(stream: Stream<StreamAttempt>, code: number, fault?: Fault): void {
    this.contain(stream.owner, () => this.#sink.reset(stream, code, fault));
  }

  writable(stream: Stream<StreamAttempt>): void {
    const { owner } = stream;
    try {
      this.#sink.writable(stream);
    } catch (error) {
      this.#fault(owner, error);
    }
  }

  settings(): void {
    this.contain(undefined, () => this.#sink.settings());
  }

  goAway(lastStreamId: number, code: number, debug: string): void {
    this.contain(undefined, () => this.#sink.goAway(lastStreamId, code, debug));
  }

  pong(): void {
    this.#sink.pong();
  }

  failed(fault: Fault): void {
    this.#sink.failed(fault);
  }

  /** Does something on behalf of a call, or of none, that is not done for each frame. */
  contain(attempt: StreamAttempt | undefined, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#fault(attempt, error);
    }
  }

  #fault(attempt: StreamAttempt | undefined, error: unknown): void {
    const { owner, observer } = this.#containment;
    observer.faultOfOurs("taking a reply", error);
    if (attempt === undefined) return;
    try {
      owner.settle(attempt.exchange, { kind: "faultOfOurs" });
    } catch (again) {
      observer.faultOfOurs("ending a backend call", again);
    }
  }
}
