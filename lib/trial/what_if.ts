import { RecentMap } from "./recent_map.ts";

/** Times for which results might be kept, in ms: not at all, and two that people think of first. */
export const WHAT_IF_MS = [0, 1_000, 10_000] as const;

/** Keys that are followed: as many as results are kept by default. What was not asked for so long is forgotten. */
const MAX_KEYS = 10_000;

/** One key, were results kept for each of the times. */
class Worlds {
  readonly generation: number;
  /** For each time the call whose answer counts; undefined once that is over. */
  readonly leaders: (object | undefined)[] = [undefined, undefined, undefined];
  /** Until when its answer would be kept, once it is over. */
  readonly untilMs: number[] = [0, 0, 0];

  constructor(generation: number) {
    this.generation = generation;
  }
}

/** What sharing would save if results were kept for other times than they are: key by key, one small world a time. */
export class WhatIf {
  readonly #keys = new RecentMap<number, Worlds>(MAX_KEYS);

  /**
   * A call with this key comes, while the scope has had so many writes. Returns for each of {@linkcode WHAT_IF_MS} whether
   * it would be saved, as bits, the first one the lowest. A call is told of by `call`, which is any object of its own.
   */
  begins(key: number, generation: number, call: object, nowMs: number): number {
    let worlds = this.#keys.get(key);
    if (worlds?.generation !== generation) {
      worlds = new Worlds(generation);
      this.#keys.set(key, worlds);
    }
    const { leaders, untilMs } = worlds;
    let saved = 0;
    for (let i = 0; i < WHAT_IF_MS.length; i++) {
      if (leaders[i] !== undefined || nowMs < untilMs[i]!) saved |= 1 << i;
      else leaders[i] = call;
    }
    return saved;
  }

  /** The call is over; an answer that is `kept` would answer others. */
  ends(key: number, call: object, nowMs: number, kept: boolean): void {
    const worlds = this.#keys.get(key);
    if (worlds === undefined) return;
    for (let i = 0; i < WHAT_IF_MS.length; i++) {
      if (worlds.leaders[i] !== call) continue;
      worlds.leaders[i] = undefined;
      worlds.untilMs[i] = kept ? nowMs + WHAT_IF_MS[i]! : 0;
    }
  }
}
