import type { CallerSession } from "../downstream/mod.ts";
import { CallbackAlarm, type Timers } from "../transport/mod.ts";

/** How long a drain waits for callers to say that they have seen GOAWAY; who is silent does not hold up the end. */
const DRAIN_ANSWER_MS = 500;

/** Callers' connections that are open, and their end. */
export class CallerSessions implements Iterable<CallerSession> {
  readonly #all = new Set<CallerSession>();
  readonly #timers: Timers;
  #whenEmpty: (() => void) | undefined = undefined;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  get size(): number {
    return this.#all.size;
  }

  [Symbol.iterator](): Iterator<CallerSession> {
    return this.#all.values();
  }

  add(session: CallerSession): void {
    this.#all.add(session);
  }

  /** Returns whether it was there. */
  delete(session: CallerSession): boolean {
    const wasThere = this.#all.delete(session);
    if (wasThere && this.#all.size === 0) this.#whenEmpty?.();
    return wasThere;
  }

  /** Tells every caller to go elsewhere, and takes no call more; those under way go on. */
  sendElsewhere(): void {
    for (const session of [...this.#all]) session.drain({ atOnce: true });
  }

  /**
   * Tells every caller to go, and resolves when all calls have ended or `timeoutMs` is over; what is left then has
   * been ended with 14. Returns how many calls that were.
   */
  async drain(timeoutMs: number): Promise<number> {
    const silence = new CallbackAlarm(() => this.#finishDrain());
    for (const session of this.#all) session.drain();
    this.#timers.set(silence, this.#timers.refresh() + Math.min(DRAIN_ANSWER_MS, timeoutMs));
    const isEmpty = await this.#emptyWithin(timeoutMs);
    this.#timers.cancel(silence);
    let left = 0;
    if (isEmpty) return left;
    for (const session of [...this.#all]) {
      left += session.connection.openStreams;
      session.end();
    }
    if (!await this.#emptyWithin(DRAIN_ANSWER_MS)) {
      for (const session of [...this.#all]) session.abort();
    }
    return left;
  }

  /** Callers that never answered the PING are told the last stream now; who has no calls is let go. */
  #finishDrain(): void {
    for (const session of [...this.#all]) {
      session.connection.finishDrain();
      session.flushSoon();
      session.closeWhenIdle();
    }
  }

  #emptyWithin(timeoutMs: number): Promise<boolean> {
    if (this.#all.size === 0) return Promise.resolve(true);
    return new Promise((resolve) => {
      const alarm = new CallbackAlarm(() => resolve(false));
      this.#timers.set(alarm, this.#timers.refresh() + timeoutMs);
      this.#whenEmpty = () => {
        this.#timers.cancel(alarm);
        resolve(true);
      };
    });
  }
}
