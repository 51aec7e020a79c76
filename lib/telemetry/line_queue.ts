/**
 * Most characters that wait to be written: some thousands of lines, which a reader who is merely slow catches up
 * with. Beyond it the newest lines are dropped, since the oldest tell what began it.
 */
export const MAX_QUEUED_CHARS = 1_048_576;

/** Takes one line, without its line end; a promise when that takes time. */
export type WriteLine = (line: string) => void | Promise<void>;

interface Entry {
  readonly line: string;
  /** How many lines are lost when this one is: itself, or all that it reports. */
  readonly worth: number;
}

/**
 * Lines on their way to a writer that may stall. Nobody waits for it: what does not fit is dropped and counted, and
 * a line in its place says how many, once lines flow again.
 */
export class LineQueue {
  readonly #write: WriteLine;
  readonly #reportLost: (lost: number) => string;
  #entries: Entry[] = [];
  #queuedChars = 0;
  #lost = 0;
  #writing = false;
  #idle: Promise<void> = Promise.resolve();

  /** A queue before `write`; `reportLost` makes the line that says how many lines were lost. */
  constructor(write: WriteLine, reportLost: (lost: number) => string) {
    this.#write = write;
    this.#reportLost = reportLost;
  }

  push(line: string): void {
    if (this.#queuedChars + line.length > MAX_QUEUED_CHARS) {
      this.#lost++;
      return;
    }
    this.#enqueueReport();
    this.#enqueue({ line, worth: 1 });
    this.#start();
  }

  /** Resolves when everything pushed so far was written, or after `timeoutMs` when nobody reads it. */
  async flush(timeoutMs: number): Promise<void> {
    if (!this.#writing) return;
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, timeoutMs);
    await Promise.race([this.#idle, late]);
    clearTimeout(timer);
  }

  #start(): void {
    if (this.#writing) return;
    this.#writing = true;
    this.#idle = this.#drain();
  }

  async #drain(): Promise<void> {
    let written = true;
    while (this.#entries.length > 0) {
      const batch = this.#entries;
      this.#entries = [];
      for (const entry of batch) {
        const pending = this.#tryWrite(entry);
        // A writer that is done at once keeps the line in the same turn as the call that logged it.
        written = typeof pending === "boolean" ? pending : await pending;
        this.#queuedChars -= entry.line.length;
      }
      // Not after a failure: the report would fail too, for ever.
      if (this.#entries.length === 0 && written) this.#enqueueReport();
    }
    this.#writing = false;
  }

  #tryWrite(entry: Entry): boolean | Promise<boolean> {
    try {
      const pending = this.#write(entry.line);
      if (pending === undefined) return true;
      return pending.then(() => true, () => this.#lose(entry));
    } catch {
      return this.#lose(entry);
    }
  }

  /**
   * Counts lines that could not be written. No place is better to tell of them than the log, once it can be written.
   */
  #lose(entry: Entry): false {
    this.#lost += entry.worth;
    return false;
  }

  #enqueueReport(): void {
    if (this.#lost === 0) return;
    this.#enqueue({ line: this.#reportLost(this.#lost), worth: this.#lost });
    this.#lost = 0;
  }

  #enqueue(entry: Entry): void {
    this.#entries.push(entry);
    this.#queuedChars += entry.line.length;
  }
}
