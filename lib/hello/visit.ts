import type { EventEmitter } from "node:events";
import type { CallLedger } from "./call_ledger.ts";
import { Metadata } from "./grpc.ts";

/** One call being answered: its number, and whether anybody still waits for the answer. */
export class Visit {
  /** Which of the backend's calls this is, from 1. */
  readonly number: number;
  readonly #ledger: CallLedger;
  #open = true;
  #onEnd: (() => void) | undefined;

  constructor(ledger: CallLedger, { path, call }: { path: string; call: EventEmitter }) {
    this.#ledger = ledger;
    this.number = ledger.enter(path);
    call.once("cancelled", () => this.end());
  }

  get open(): boolean {
    return this.#open;
  }

  /** Initial metadata of the answer. */
  get head(): Metadata {
    return metadataOf("x-hello-call", this.number);
  }

  /** Trailing metadata of the answer, whatever its status. */
  get trailers(): Metadata {
    return metadataOf("x-hello", this.number);
  }

  /** Takes the call off the ledger, once: it was answered, or its caller has gone. */
  end(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#ledger.leave();
    this.#onEnd?.();
  }

  /** Waits, and says whether the caller is still there; a caller who goes ends the wait. */
  pause(delayMs: number): Promise<boolean> {
    if (delayMs === 0 || !this.#open) return Promise.resolve(this.#open);
    return this.#wait((done) => {
      const timer = setTimeout(done, delayMs);
      return () => clearTimeout(timer);
    });
  }

  /** Waits until a stream that was full takes more; ends and answers as `pause` does. */
  drained(stream: EventEmitter): Promise<boolean> {
    if (!this.#open) return Promise.resolve(false);
    return this.#wait((done) => {
      stream.once("drain", done);
      return () => stream.off("drain", done);
    });
  }

  /** One wait at a time: a call's answer is one sequence of steps. */
  #wait(arm: (done: () => void) => () => void): Promise<boolean> {
    return new Promise((resolve) => {
      const finish = () => {
        this.#onEnd = undefined;
        disarm();
        resolve(this.#open);
      };
      const disarm = arm(finish);
      this.#onEnd = finish;
    });
  }
}

function metadataOf(name: string, number: number): Metadata {
  const metadata = new Metadata();
  metadata.set(name, String(number));
  return metadata;
}
