/**
 * A map of the last entries that were set, at least half of `capacity` and at most all of it: what was not set for that
 * long is let go of with its half, at once. A map that lets go one by one of the oldest walks over what is gone already.
 */
export class RecentMap<K, V> {
  #young = new Map<K, V>();
  #old = new Map<K, V>();
  readonly #half: number;

  constructor(capacity: number) {
    this.#half = capacity / 2;
  }

  get(key: K): V | undefined {
    return this.#young.get(key) ?? this.#old.get(key);
  }

  set(key: K, value: V): void {
    this.#young.set(key, value);
    if (this.#young.size < this.#half) return;
    this.#old = this.#young;
    this.#young = new Map();
  }
}
