import type { KeyHead, Reply } from "./flight.ts";

/**
 * Bytes of heads with nothing under them: what a new call would only have to work out again. Callers choose how long a
 * head is, so their number would bound nothing; these are some 5,000 with usual metadata.
 */
const MAX_IDLE_BYTES = 4 * 2 ** 20;

/** How long a head is kept with nothing under it: longer than callers with a key of their own come back after a pause. */
const MAX_IDLE_MS = 60_000;

/** Heads with nothing under them, in the order in which they became so; the oldest leave for bytes and for time. */
export class IdleHeads<R extends Reply> {
  /** Bytes of all that are here. */
  bytes = 0;
  readonly #onGone: (head: KeyHead<R>) => void;
  #newest: KeyHead<R> | undefined = undefined;
  #oldest: KeyHead<R> | undefined = undefined;

  /** `onGone` hears of every head that leaves for want of room or time. */
  constructor(onGone: (head: KeyHead<R>) => void) {
    this.#onGone = onGone;
  }

  add(head: KeyHead<R>, nowMs: number): void {
    head.idleSinceMs = nowMs;
    head.olderIdle = this.#newest;
    if (this.#newest !== undefined) this.#newest.newerIdle = head;
    this.#newest = head;
    this.#oldest ??= head;
    this.bytes += head.heldBytes;
    while (this.bytes > MAX_IDLE_BYTES) this.#letGo(this.#oldest);
  }

  /** Takes a head out that is idle no more, or is retired. */
  remove(head: KeyHead<R>): void {
    if (head.idleSinceMs < 0) return;
    const { olderIdle, newerIdle } = head;
    if (olderIdle !== undefined) olderIdle.newerIdle = newerIdle;
    if (newerIdle !== undefined) newerIdle.olderIdle = olderIdle;
    if (this.#oldest === head) this.#oldest = newerIdle;
    if (this.#newest === head) this.#newest = olderIdle;
    head.olderIdle = head.newerIdle = undefined;
    head.idleSinceMs = -1;
    this.bytes -= head.heldBytes;
  }

  /** Lets go of heads that have been idle for too long. */
  sweep(nowMs: number): void {
    while (this.#oldest !== undefined && nowMs - this.#oldest.idleSinceMs >= MAX_IDLE_MS) {
      this.#letGo(this.#oldest);
    }
  }

  #letGo(head: KeyHead<R>): void {
    this.remove(head);
    this.#onGone(head);
  }
}
