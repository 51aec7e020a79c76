import type { KeyHead, PrivateKey, Reply } from "./flight.ts";

/**
 * Bytes of keys that are remembered as private, their heads included: a backend whose every answer is private says so
 * again at the next one, which then costs those who ask at the same time one wait for each other.
 */
const MAX_PRIVATE_BYTES = 2 ** 20;

/** What a mark costs besides its key. */
const MARK_OVERHEAD_BYTES = 128;

/** How long after its time a mark waits for the trial that decides about it; then nobody asks for that key any more. */
const TRIAL_WITHIN_MS = 60_000;

/** Keys whose answers turned out to be private, bounded in bytes over all heads; the oldest leave first. */
export class PrivateKeys<R extends Reply> {
  bytes = 0;
  /** Marks in the order in which they were made. */
  readonly #marks = new Set<PrivateKey<R>>();
  readonly #onLast: (head: KeyHead<R>) => void;

  /** `onLast` hears of heads that have lost their last mark. */
  constructor(onLast: (head: KeyHead<R>) => void) {
    this.#onLast = onLast;
  }

  mark(head: KeyHead<R>, bodyKey: string, untilMs: number): void {
    if (head.privateKeys === undefined) {
      head.privateKeys = new Map();
      this.bytes += head.heldBytes;
    }
    const before = head.privateKeys.get(bodyKey);
    if (before === undefined) this.bytes += bodyKey.length + MARK_OVERHEAD_BYTES;
    else this.#marks.delete(before);
    const made = { head, bodyKey, untilMs };
    this.#marks.add(made);
    head.privateKeys.set(bodyKey, made);
    for (const oldest of this.#marks) {
      if (this.bytes <= MAX_PRIVATE_BYTES) return;
      this.#remove(oldest);
    }
  }

  unmark(head: KeyHead<R>, bodyKey: string): void {
    const mark = head.privateKeys?.get(bodyKey);
    if (mark !== undefined) this.#remove(mark);
  }

  /** Lets go of the marks of a head that is one no more. */
  forget(head: KeyHead<R>): void {
    for (const mark of head.privateKeys?.values() ?? []) this.#remove(mark);
  }

  /** Lets go of marks that nobody has asked about for long after their time. */
  sweep(nowMs: number): void {
    for (const mark of this.#marks) {
      if (nowMs - mark.untilMs >= TRIAL_WITHIN_MS) this.#remove(mark);
    }
  }

  #remove(mark: PrivateKey<R>): void {
    const { head, bodyKey } = mark;
    this.#marks.delete(mark);
    this.bytes -= bodyKey.length + MARK_OVERHEAD_BYTES;
    head.privateKeys!.delete(bodyKey);
    if (head.privateKeys!.size > 0) return;
    head.privateKeys = undefined;
    this.bytes -= head.heldBytes;
    this.#onLast(head);
  }
}
