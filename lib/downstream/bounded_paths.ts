/** What is known by path, bounded in number and in what the paths take: the first to come are the first to go. */
export class BoundedPaths<T> {
  /** In the order they came. */
  readonly #byPath = new Map<string, T>();
  readonly #maxPaths: number;
  readonly #maxChars: number;
  readonly #onDrop: (value: T) => void;
  #chars = 0;

  /** `onDrop` hears what went to make room. */
  constructor(maxPaths: number, maxChars: number, onDrop: (value: T) => void = () => {}) {
    this.#maxPaths = maxPaths;
    this.#maxChars = maxChars;
    this.#onDrop = onDrop;
  }

  get(path: string): T | undefined {
    return this.#byPath.get(path);
  }

  values(): Iterable<T> {
    return this.#byPath.values();
  }

  /** Adds what is not there yet. */
  add(path: string, value: T): void {
    this.#byPath.set(path, value);
    this.#chars += path.length;
    for (const [oldest, dropped] of this.#byPath) {
      if (this.#byPath.size <= this.#maxPaths && this.#chars <= this.#maxChars) return;
      this.delete(oldest);
      this.#onDrop(dropped);
    }
  }

  delete(path: string): void {
    if (this.#byPath.delete(path)) this.#chars -= path.length;
  }

  clear(): void {
    this.#byPath.clear();
    this.#chars = 0;
  }
}
