/** What the ledger knew at one moment. */
export interface CallCounts {
  /** Calls by method path, as "/hello.v1.Hello/GetGreeting". */
  readonly calls: Record<string, number>;
  readonly total: number;
  readonly inFlight: number;
  /** The most calls that were ever in flight together. */
  readonly peakInFlight: number;
}

/** Counts every call that reaches the backend: the number that all of collapser's claims are held against. */
export class CallLedger {
  readonly #calls = new Map<string, number>();
  #total = 0;
  #inFlight = 0;
  #peakInFlight = 0;

  /** Enters a call; returns its number, counted from 1 over all methods. */
  enter(path: string): number {
    this.#calls.set(path, (this.#calls.get(path) ?? 0) + 1);
    this.#inFlight++;
    if (this.#inFlight > this.#peakInFlight) this.#peakInFlight = this.#inFlight;
    return ++this.#total;
  }

  /** Ends a call that was entered, answered or not. */
  leave(): void {
    if (this.#inFlight === 0) throw new Error("Cannot end a call: none is in flight");
    this.#inFlight--;
  }

  report(): CallCounts {
    return {
      calls: Object.fromEntries(this.#calls),
      total: this.#total,
      inFlight: this.#inFlight,
      peakInFlight: this.#peakInFlight,
    };
  }
}
