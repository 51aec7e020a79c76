import { KeySketch } from "./key_sketch.ts";
import type { Verdict } from "./verdict.ts";

const HOUR_MS = 3_600_000;

/** How long calls are remembered, in whole hours; the hour under way comes on top. */
export const REPORT_HOURS = 48;

/** Methods with a record of their own: as many as have a metric label. With 49 hours each of some 1.5 KB, 15 MB at most. */
const MAX_METHODS = 200;

/** Metadata names remembered for an hour of a method: callers choose names, and a person reads the first few. */
const MAX_NAMES = 8;

/** Longer names are nobody's to read, and would make the record as large as a caller likes. */
const MAX_NAME_CHARS = 64;

/** What is added up over calls. Times are in ms. */
export interface CallSums {
  calls: number;
  /** Calls that a stored result answered or would have, stale ones among them. */
  wouldHit: number;
  /** Calls that a flight under way answered or would have. */
  wouldJoin: number;
  /** Backend time of the calls that were or would have been saved. */
  savedMs: number;
  /** What callers waited, and what they would have; equal for calls that share nothing. */
  waitNowMs: number;
  waitThenMs: number;
  /** Calls that would have been saved were results kept not at all, for 1 s, for 10 s. */
  savedInFlight: number;
  savedAt1s: number;
  savedAt10s: number;
  /** Calls of which that is known: those in shadow. */
  rehearsed: number;
}

/** Comparisons by what they said. */
export type Compared = Record<Verdict, number>;

/** What is known of one method's calls over the hours that are remembered. */
export interface MethodSummary extends Readonly<CallSums> {
  /** Time since the first call that is remembered, in ms. */
  readonly coveredMs: number;
  /** Different keys: exact when few, else within some 5 %. */
  readonly keys: number;
  /** Most calls that had or would have had one answer. */
  readonly largestGroup: number;
  readonly compared: Readonly<Compared>;
  /** Metadata names that alone kept equal calls apart, with the calls each would have saved; most first. */
  readonly keptApartBy: readonly (readonly [name: string, calls: number])[];
}

/** One hour of one method. */
class Hour {
  readonly number: number;
  readonly beganMs: number;
  readonly sums = noCalls();
  readonly compared = noComparisons();
  readonly keys = new KeySketch();
  readonly names = new Map<string, number>();
  largestGroup = 0;

  constructor(number: number, beganMs: number) {
    this.number = number;
    this.beganMs = beganMs;
  }
}

/** What one method's calls came to, hour by hour; an hour without calls takes no memory. */
export class MethodRecord {
  /** Oldest first. */
  #hours: Hour[] = [];

  /** Adds calls that ended at `nowMs`; what is left out is 0. */
  add(nowMs: number, sums: Partial<CallSums>): void {
    const total = this.#hour(nowMs).sums;
    for (const name of Object.keys(sums) as (keyof CallSums)[]) total[name] += sums[name] ?? 0;
  }

  /** A key was asked for; `hash` has 32 evenly distributed bits. */
  asked(nowMs: number, hash: number): void {
    this.#hour(nowMs).keys.add(hash);
  }

  /** So many calls have or would have one answer by now. */
  shared(nowMs: number, group: number): void {
    const hour = this.#hour(nowMs);
    if (group > hour.largestGroup) hour.largestGroup = group;
  }

  compared(nowMs: number, result: Verdict): void {
    this.#hour(nowMs).compared[result]++;
  }

  /** A call would have been saved, had this name not been in the key. */
  keptApart(nowMs: number, name: string): void {
    const { names } = this.#hour(nowMs);
    const known = names.get(name);
    if (known === undefined && (names.size >= MAX_NAMES || name.length > MAX_NAME_CHARS)) return;
    names.set(name, (known ?? 0) + 1);
  }

  summary(nowMs: number): MethodSummary {
    this.#forget(hourOf(nowMs));
    const sums = noCalls();
    const compared = noComparisons();
    const keys = new KeySketch();
    const names = new Map<string, number>();
    let largestGroup = 0;
    for (const hour of this.#hours) {
      addAll(sums, hour.sums);
      addAll(compared, hour.compared);
      keys.merge(hour.keys);
      for (const [name, calls] of hour.names) names.set(name, (names.get(name) ?? 0) + calls);
      largestGroup = Math.max(largestGroup, hour.largestGroup);
    }
    const coveredMs = Math.max(0, nowMs - (this.#hours[0]?.beganMs ?? nowMs));
    const keptApartBy = [...names].sort(([, a], [, b]) => b - a);
    return { ...sums, coveredMs, keys: keys.size, largestGroup, compared, keptApartBy };
  }

  /** The hour under way. A clock that goes back is taken to stand still. */
  #hour(nowMs: number): Hour {
    const number = hourOf(nowMs);
    const last = this.#hours.at(-1);
    if (last !== undefined && last.number >= number) return last;
    this.#forget(number);
    const hour = new Hour(number, nowMs);
    this.#hours.push(hour);
    return hour;
  }

  #forget(now: number): void {
    while (this.#hours.length > 0 && this.#hours[0]!.number < now - REPORT_HOURS) {
      this.#hours.shift();
    }
  }
}

/** The records of all methods: 48 hours of each, the first 200 methods apart and the others as one. */
export class ReportRecord {
  readonly #methods = new Map<string, MethodRecord>();
  /** What came after the first 200. */
  readonly other = new MethodRecord();

  /** The record of a method that the backend has answered, kept from then on. */
  method(path: string): MethodRecord {
    const known = this.#methods.get(path);
    if (known !== undefined) return known;
    if (this.#methods.size >= MAX_METHODS) return this.other;
    const record = new MethodRecord();
    this.#methods.set(path, record);
    return record;
  }

  /** The methods with calls within the hours that are remembered, most calls first, and last the others as `other`. */
  summaries(nowMs: number): readonly (readonly [method: string, MethodSummary])[] {
    const rows = [...this.#methods].map(([path, record]) => [path, record.summary(nowMs)] as const);
    rows.sort(([, a], [, b]) => b.calls - a.calls);
    rows.push(["other", this.other.summary(nowMs)]);
    return rows.filter(([, { calls }]) => calls > 0);
  }
}

function hourOf(nowMs: number): number {
  return Math.floor(nowMs / HOUR_MS);
}

function noCalls(): CallSums {
  return {
    calls: 0,
    wouldHit: 0,
    wouldJoin: 0,
    savedMs: 0,
    waitNowMs: 0,
    waitThenMs: 0,
    savedInFlight: 0,
    savedAt1s: 0,
    savedAt10s: 0,
    rehearsed: 0,
  };
}

function noComparisons(): Compared {
  return { match: 0, reordered: 0, raced: 0, unstable: 0, mismatch: 0 };
}

function addAll<K extends string>(total: Record<K, number>, more: Readonly<Record<K, number>>) {
  for (const name of Object.keys(more) as K[]) total[name] += more[name];
}
