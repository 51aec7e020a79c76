import { STATUS } from "../../grpc/mod.ts";
import { Alarm } from "../../transport/mod.ts";
import type { FrameLog } from "../../wire/mod.ts";
import type { Client, Method } from "../client/mod.ts";

/** Hears how a call ended: a gRPC status, and when by the client's clock. */
export type OnAnswer = (status: number, endedMs: number) => void;

export interface PlacesOptions {
  /** Calls under way at once. */
  readonly places: number;
  /** Calls that wait for a place; more are refused. */
  readonly waiting: number;
}

/** A client's pool: so many calls at once, so many that wait, each no longer than its deadline. */
export class Places {
  #client: Client;
  #options: PlacesOptions;
  #underWay = 0;
  #queue = new Set<WaitingCall>();

  constructor(client: Client, options: PlacesOptions) {
    this.#client = client;
    this.#options = options;
  }

  /** Positional, as `Client.call`: the latency and the deadline count from `dueMs`. */
  call(method: Method, body: FrameLog, dueMs: number, onAnswer: OnAnswer): void {
    const { timers } = this.#client;
    const call = new WaitingCall({ method, body, dueMs, onAnswer }, (nowMs) => {
      this.#queue.delete(call);
      onAnswer(STATUS.deadlineExceeded, nowMs);
    });
    if (this.#underWay < this.#options.places) return this.#send(call);
    if (this.#queue.size >= this.#options.waiting) {
      return onAnswer(STATUS.resourceExhausted, timers.clock.now());
    }
    this.#queue.add(call);
    timers.set(call, dueMs + method.deadlineMs);
  }

  #send({ asked }: WaitingCall): void {
    this.#underWay++;
    const { method, body, dueMs, onAnswer } = asked;
    this.#client.call(method, body, ({ status, endedMs }) => {
      this.#underWay--;
      onAnswer(status, endedMs);
      this.#sendNext();
    }, dueMs);
  }

  #sendNext(): void {
    for (const next of this.#queue) { // one at most
      this.#queue.delete(next);
      this.#client.timers.cancel(next);
      return this.#send(next);
    }
  }
}

interface AskedCall {
  readonly method: Method;
  readonly body: FrameLog;
  readonly dueMs: number;
  readonly onAnswer: OnAnswer;
}

class WaitingCall extends Alarm {
  readonly asked: AskedCall;
  #expire: (nowMs: number) => void;

  constructor(asked: AskedCall, expire: (nowMs: number) => void) {
    super();
    this.asked = asked;
    this.#expire = expire;
  }

  override wake(nowMs: number): void {
    this.#expire(nowMs);
  }
}
