import type { Flight, Reply } from "./flight.ts";

/** Calls are counted over the window under way and the one before it, so that what was hot an hour ago is not shown. */
const WINDOW_MS = 60_000;

/** Keys that stay when there are too many; a person reads a few dozen. */
const KEPT_KEYS = 256;

/** Keys after which the least asked for are let go: each costs a sort, so many come between two of them. */
const MAX_KEYS = 2 * KEPT_KEYS;

/** Of flights that one caller alone asked for, one in so many is looked at: mostly their keys never come again. */
const SINGLES_PER_LOOK = 16;

/** A key that is asked for often, and how often of late. */
export class HotKey {
  readonly headText: string;
  readonly bodyKey: string;
  /** Calls in the window under way, and in the one before. */
  calls = 0;
  callsBefore = 0;
  /** For whoever shows it. */
  digest: string | undefined = undefined;

  constructor(headText: string, bodyKey: string) {
    this.headText = headText;
    this.bodyKey = bodyKey;
  }

  get total(): number {
    return this.calls + this.callsBefore;
  }
}

/**
 * The keys that are asked for most, bounded. Calls are counted on their flights, which costs a call an increment, and
 * are added up here when a flight is let go of, or when somebody wants to know.
 *
 * What many callers asked for at once is always counted; what comes alone each time is found by chance, soon when it
 * comes often, and is counted from then on.
 */
export class HotKeys<R extends Reply> {
  /** By the head's text, then by the message's part of the key. */
  #keys = new Map<string, Map<string, HotKey>>();
  #size = 0;
  /** Says which singles are looked at: a simple sequence (xorshift), since each so many-th could miss what comes in turn. */
  #dice = 1;
  #windowBeganMs: number | undefined = undefined;
  #firstWindow = true;

  /** Adds the calls of a flight that were not added before. */
  note(flight: Flight<R>): void {
    const { asked, head: { text }, bodyKey } = flight;
    const ofHead = this.#keys.get(text);
    const known = ofHead?.get(bodyKey);
    if (known !== undefined) {
      known.calls += asked;
    } else {
      if (asked < 2 && !this.#isLookedAt()) return;
      const made = new HotKey(text, bodyKey);
      made.calls = asked;
      if (ofHead === undefined) this.#keys.set(text, new Map([[bodyKey, made]]));
      else ofHead.set(bodyKey, made);
      if (++this.#size > MAX_KEYS) this.#keep(this.#sorted().slice(0, KEPT_KEYS));
    }
    flight.asked = 0;
  }

  /** Begins a new window when the one under way is over. */
  turn(nowMs: number): void {
    this.#windowBeganMs ??= nowMs;
    const sinceMs = nowMs - this.#windowBeganMs;
    if (sinceMs < WINDOW_MS) return;
    const isLate = sinceMs >= 2 * WINDOW_MS; // nobody looked for so long that the window before is over as well
    for (const key of this.#all()) {
      key.callsBefore = isLate ? 0 : key.calls;
      key.calls = 0;
    }
    this.#keep(this.#all().filter(({ callsBefore }) => callsBefore > 0));
    this.#windowBeganMs = nowMs;
    this.#firstWindow = isLate;
  }

  /** The hottest, most asked for first, and for how long calls were counted. */
  hottest(nowMs: number, limit: number): { readonly sinceMs: number; readonly keys: HotKey[] } {
    this.turn(nowMs);
    const inWindowMs = nowMs - this.#windowBeganMs!;
    const sinceMs = this.#firstWindow ? inWindowMs : inWindowMs + WINDOW_MS;
    return { sinceMs, keys: this.#sorted().slice(0, limit) };
  }

  #isLookedAt(): boolean {
    let dice = this.#dice;
    dice ^= dice << 13;
    dice ^= dice >>> 17;
    dice ^= dice << 5;
    this.#dice = dice;
    return (dice >>> 0) % SINGLES_PER_LOOK === 0;
  }

  #all(): HotKey[] {
    return [...this.#keys.values()].flatMap((ofHead) => [...ofHead.values()]);
  }

  #sorted(): HotKey[] {
    return this.#all().sort((a, b) => b.total - a.total);
  }

  #keep(keys: readonly HotKey[]): void {
    this.#keys.clear();
    this.#size = keys.length;
    for (const key of keys) {
      const ofHead = this.#keys.get(key.headText);
      if (ofHead === undefined) this.#keys.set(key.headText, new Map([[key.bodyKey, key]]));
      else ofHead.set(key.bodyKey, key);
    }
  }
}
