/** Times for which results might be kept, in ms: not at all, and two that people think of first. */
export const WHAT_IF_MS = [0, 1_000, 10_000] as const;

/** Keys that are followed: as many as results are kept by default. Beyond it those that came first are forgotten. */
const MAX_KEYS = 10_000;

/** One key, were results kept for one of the times. */
interface World {
  /** The call whose answer counts; undefined once it is over. */
  leader: object | undefined;
  /** Until when its answer would be kept, once it is over. */
  untilMs: number;
}

/** What sharing would save if results were kept for other times than they are: key by key, one small world a time. */
export class WhatIf {
  readonly #keys = new Map<number, { generation: number; readonly worlds: readonly World[] }>();

  /**
   * A call with this key comes, while the scope has had so many writes. Returns for each of {@linkcode WHAT_IF_MS} whether
   * it would be saved. A call is told of by `call`, which is any object of its own.
   */
  begins(key: number, generation: number, call: object, nowMs: number): readonly boolean[] {
    const known = this.#keys.get(key);
    const worlds = known?.generation === generation ? known.worlds : this.#add(key, generation);
    return worlds.map((world) => {
      if (world.leader !== undefined || nowMs < world.untilMs) return true;
      world.leader = call;
      return false;
    });
  }

  /** The call is over; an answer that is `kept` would answer others. */
  ends(key: number, call: object, nowMs: number, kept: boolean): void {
    const worlds = this.#keys.get(key)?.worlds ?? [];
    worlds.forEach((world, i) => {
      if (world.leader !== call) return;
      world.leader = undefined;
      world.untilMs = kept ? nowMs + WHAT_IF_MS[i]! : 0;
    });
  }

  #add(key: number, generation: number): readonly World[] {
    this.#keys.delete(key);
    if (this.#keys.size >= MAX_KEYS) this.#keys.delete(this.#keys.keys().next().value!);
    const worlds = WHAT_IF_MS.map(() => ({ leader: undefined, untilMs: 0 }));
    this.#keys.set(key, { generation, worlds });
    return worlds;
  }
}
