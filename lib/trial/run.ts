import { STATUS } from "../grpc/mod.ts";
import type { AnswerPrint, IgnoredFields } from "../trust/mod.ts";
import { Exchange, type ExchangeOwner, type PlacementKey } from "../upstream/mod.ts";
import type { FrameLog } from "../wire/mod.ts";
import { AnswerReader } from "./answer_reader.ts";
import type { Asker } from "./asker.ts";
import type { TrialMethod } from "./method_trial.ts";
import type { TrialContext } from "./trial_context.ts";

/** Statuses that are no answer: the call was ended, or could not be made. */
const NO_ANSWER: readonly number[] = [
  STATUS.cancelled,
  STATUS.deadlineExceeded,
  STATUS.resourceExhausted,
  STATUS.unavailable,
];

/** A question that the sidecar asks once more, for somebody who has been answered. */
export interface RunQuestion {
  readonly method: TrialMethod;
  readonly asker: Asker;
  /** Shared with whoever else asks it. */
  readonly message: FrameLog;
  /** The key of the question, which decides where it goes. */
  readonly key: PlacementKey;
  /** How long it may take, in ms. */
  readonly patienceMs: number;
  readonly ignored: IgnoredFields | undefined;
}

/** What a run came to: the print of its answer, or that it has none, or one that is too large to be compared. */
export type RunResult = AnswerPrint | "error" | "size";

/**
 * One call that nobody waits for: with somebody's question and metadata, never before callers' calls, and bounded in time.
 * It is not sent at all where the backend has no place for it.
 */
export class Run implements ExchangeOwner {
  readonly #context: TrialContext;
  readonly #exchange: Exchange;
  readonly #reader: AnswerReader;
  readonly #maxBytes: number;
  readonly #ended: (result: RunResult) => void;
  #isTooLarge = false;

  constructor(
    context: TrialContext,
    { method, asker, message, key, patienceMs, ignored }: RunQuestion,
    ended: (result: RunResult) => void,
  ) {
    this.#context = context;
    this.#ended = ended;
    this.#reader = new AnswerReader(ignored);
    this.#maxBytes = method.settings.maxMessageBytes;
    this.#exchange = new Exchange(this, {
      target: { list: asker.list, method },
      key,
      perCall: asker.perCall,
      body: message.share(),
      deadlineMs: context.timers.nowMs + patienceMs,
      mayQueue: "no",
    });
  }

  start(): void {
    this.#context.timers.set(this.#exchange, this.#exchange.deadlineMs);
    this.#context.backend.start(this.#exchange);
  }

  replyGrew(): void {
    const { reply } = this.#exchange;
    this.#reader.read(reply);
    reply.log.dropBefore(reply.log.end);
    this.#exchange.credit(0); // all of it is read as it comes
    if (reply.receivedBytes <= this.#maxBytes || this.#isTooLarge) return;
    this.#isTooLarge = true;
    this.#context.backend.settle(this.#exchange, { kind: "callerGone" });
  }

  replyEnded(): void {
    const { reply } = this.#exchange;
    this.#context.timers.cancel(this.#exchange);
    const isNone = NO_ANSWER.includes(reply.status) || reply.failure !== undefined;
    const result = this.#isTooLarge ? "size" : isNone ? "error" : this.#reader.end(reply);
    this.#exchange.release();
    this.#ended(result);
  }

  timeIsUp(): void {
    this.#context.backend.settle(this.#exchange, { kind: "deadline" });
  }

  /** A fault of ours in telling of it: nothing is known of the answer. */
  faulted(): void {
    this.#context.timers.cancel(this.#exchange);
    this.#exchange.release();
    this.#ended("error");
  }

  bodyMoved(): void {}
}
