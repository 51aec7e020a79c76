import type { Flight, Reply } from "./flight.ts";

/** Calls are counted over the window under way and the one before it, so that what was hot an hour ago is not shown. */
const WINDOW_MS = 60_000;

/** Keys that stay when there are too many; a person reads a few dozen. */
const KEPT_KEYS = 256;

/** Keys after which the least asked for are let go: each costs a sort, so many come between two of them. */
const MAX_KEYS = 2 * KEPT_KEYS;

/** Bytes that stay when there are too many, and after which there are: whoever calls chooses how long a key is. */
const KEPT_BYTES = 2 ** 18;
const MAX_BYTES = 2 * KEPT_BYTES;

/** What a key costs besides its text, and what the first one of a head costs besides the head's. */
const OVERHEAD_BYTES = 256;

/** Of flights that one caller alone asked for, one in so many is looked at: mostly their keys never come again. */
const SINGLES_PER_LOOK = 64;

/** A key that is asked for often, and how often of late. */
export class HotKey {
  readonly headText: string;
  readonly bodyKey: string;
  /** Calls in the window under way, and in the one before. */
  calls = 0;
  callsBefore = 0;
  /** The key's digest, once somebody has shown it. */
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
 * The keys that are asked for most, bounded in number and bytes. Calls are counted on their flights, which costs a call an
 * increment, and are added up here when a flight is let go of, or when somebody wants to know.
 *
 * What several callers had from one flight is counted exactly. Calls that had a flight each for themselves, which saved
 * nothing, are estimated from a sample: leading one must not cost more for being counted.
 */
export class HotKeys<R extends Reply> {
  /** The keys by the head's text, then by the message's part. */
  #keys = new Map<string, Map<string, HotKey>>();
  #size = 0;
  #bytes = 0;
  /** Says which singles are looked at: a simple sequence (xorshift), since each so many-th could miss what comes in turn. */
  #dice = 1;
  #windowBeganMs: number | undefined = undefined;
  #firstWindow = true;

  /** Adds the calls of a flight that were not added before. */
  note(flight: Flight<R>): void {
    const { asked } = flight;
    const isSingle = asked < 2;
    if (isSingle && !this.#isLookedAt()) return;
    flight.asked = 0;
    const { head: { text }, bodyKey } = flight;
    const ofHead = this.#keys.get(text);
    const known = ofHead?.get(bodyKey);
    if (known !== undefined) {
      known.calls += isSingle ? asked * SINGLES_PER_LOOK : asked; // for those that were not looked at
      return;
    }
    const made = new HotKey(text, bodyKey);
    made.calls = asked;
    if (ofHead === undefined) this.#keys.set(text, new Map([[bodyKey, made]]));
    else ofHead.set(bodyKey, made);
    this.#size++;
    this.#bytes += costOf(bodyKey) + (ofHead === undefined ? costOf(text) : 0);
    if (this.#size > MAX_KEYS || this.#bytes > MAX_BYTES) this.#dropCold();
  }

  /** Begins a new window when the one under way is over. */
  turn(nowMs: number): void {
    this.#windowBeganMs ??= nowMs;
    const sinceMs = nowMs - this.#windowBeganMs;
    if (sinceMs < WINDOW_MS) return;
    const isLate = sinceMs >= 2 * WINDOW_MS; // nobody looked for so long that the window before is over as well
    this.#keepWhere((key) => {
      key.callsBefore = isLate ? 0 : key.calls;
      key.calls = 0;
      return key.callsBefore > 0;
    });
    this.#windowBeganMs = nowMs;
    this.#firstWindow = isLate;
  }

  /** The hottest keys, most asked for first, and for how long calls were counted. */
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

  /** Lets go of the coldest keys. Half go at once, or as many times half as it takes: whoever sends new keys pays little for it. */
  #dropCold(): void {
    do this.#keepHottest(this.#size >> 1); while (this.#bytes > KEPT_BYTES);
  }

  /** Keeps the `count` hottest keys. Totals are sorted as plain numbers, which is quick. */
  #keepHottest(count: number): void {
    const totals = Float64Array.from(this.#all(), ({ total }) => total).sort();
    const least = totals[totals.length - count] ?? Infinity;
    let places = count;
    for (const total of totals) if (total > least) places--;
    this.#keepWhere(({ total }) => total > least || total === least && places-- > 0);
  }

  #keepWhere(stays: (key: HotKey) => boolean): void {
    for (const [text, ofHead] of this.#keys) {
      for (const [bodyKey, key] of ofHead) {
        if (stays(key)) continue;
        ofHead.delete(bodyKey);
        this.#size--;
        this.#bytes -= costOf(bodyKey);
      }
      if (ofHead.size > 0) continue;
      this.#keys.delete(text);
      this.#bytes -= costOf(text);
    }
  }

  #all(): HotKey[] {
    return [...this.#keys.values()].flatMap((ofHead) => [...ofHead.values()]);
  }

  #sorted(): HotKey[] {
    return this.#all().sort((a, b) => b.total - a.total);
  }
}

function costOf(text: string): number {
  return text.length + OVERHEAD_BYTES;
}
