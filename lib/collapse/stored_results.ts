import type { Flight, Reply } from "./flight.ts";

/** What a stored result costs besides its bytes and its part of the key: the flight, its log, and their places in maps. */
const ENTRY_OVERHEAD_BYTES = 512;

/** Expired results let go of for each one that is added: more than one, so that what has piled up goes as well. */
const EXPIRED_PER_ADDED = 2;

/** Results kept for repeats, bounded in number and bytes, the heads of their keys included; the least recently used leave first. */
export class StoredResults<R extends Reply> {
  entries = 0;
  bytes = 0;
  #maxEntries: number;
  #maxBytes: number;
  #onGone: (flight: Flight<R>) => void;
  #newest: Flight<R> | undefined = undefined;
  #oldest: Flight<R> | undefined = undefined;

  /** Results within `limits`; `onGone` hears of every one that leaves, or is not kept at all. */
  constructor(
    limits: { maxCacheEntries: number; maxCacheBytes: number },
    onGone: (flight: Flight<R>) => void,
  ) {
    this.#maxEntries = limits.maxCacheEntries;
    this.#maxBytes = limits.maxCacheBytes;
    this.#onGone = onGone;
  }

  /** The result used last; those used before hang on it. */
  get newest(): Flight<R> | undefined {
    return this.#newest;
  }

  /**
   * Keeps the flight's reply until `ttlMs` from now, and stale for `staleMs` more, or for `errorMs` where it cannot be
   * fetched anew; one that is larger than the whole bound leaves at once, and nothing
   * goes for it. The least recently used results have mostly expired, so each new one lets go of a few: under load nothing
   * dead is left for the sweep.
   */
  add(flight: Flight<R>, nowMs: number, ttlMs: number, staleMs: number, errorMs: number): void {
    for (
      let i = 0;
      i < EXPIRED_PER_ADDED && this.#oldest !== undefined && nowMs >= this.#oldest.keptUntilMs;
      i++
    ) {
      this.remove(this.#oldest);
    }
    flight.storedMs = nowMs;
    flight.storedBytes = flight.reply.heldBytes + flight.bodyKey.length + ENTRY_OVERHEAD_BYTES;
    const { head } = flight;
    const headBytes = head.storedCount === 0 ? head.heldBytes : 0; // once, however many stand under it
    if (flight.storedBytes + headBytes > this.#maxBytes) return this.#letGo(flight);
    flight.expiresAtMs = nowMs + ttlMs;
    flight.staleUntilMs = flight.expiresAtMs + staleMs;
    flight.errorUntilMs = flight.expiresAtMs + errorMs;
    this.entries++;
    head.storedCount++;
    this.bytes += flight.storedBytes + headBytes;
    this.#link(flight);
    while (this.entries > this.#maxEntries || this.bytes > this.#maxBytes) {
      this.remove(this.#oldest!);
    }
  }

  /** The result was used just now. */
  touch(flight: Flight<R>): void {
    if (flight === this.#newest) return;
    this.#unlink(flight);
    this.#link(flight);
  }

  remove(flight: Flight<R>): void {
    this.#unlink(flight);
    this.entries--;
    this.bytes -= flight.storedBytes;
    if (--flight.head.storedCount === 0) this.bytes -= flight.head.heldBytes;
    this.#letGo(flight);
  }

  /** Removes what may not even answer stale any more. */
  sweep(nowMs: number): void {
    for (let flight = this.#oldest; flight !== undefined;) {
      const { newer } = flight;
      if (nowMs >= flight.keptUntilMs) this.remove(flight);
      flight = newer;
    }
  }

  clear(): void {
    while (this.#oldest !== undefined) this.remove(this.#oldest);
  }

  #letGo(flight: Flight<R>): void {
    flight.expiresAtMs = 0;
    flight.sealed = true;
    this.#onGone(flight);
  }

  #link(flight: Flight<R>): void {
    flight.older = this.#newest;
    if (this.#newest !== undefined) this.#newest.newer = flight;
    this.#newest = flight;
    this.#oldest ??= flight;
  }

  #unlink(flight: Flight<R>): void {
    const { older, newer } = flight;
    if (older !== undefined) older.newer = newer;
    if (newer !== undefined) newer.older = older;
    if (this.#oldest === flight) this.#oldest = newer;
    if (this.#newest === flight) this.#newest = older;
    flight.older = undefined;
    flight.newer = undefined;
  }
}
