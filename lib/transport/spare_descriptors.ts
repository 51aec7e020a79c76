/** A file that everybody may open and that costs nothing but its descriptor. */
const NOTHING = "/dev/null";

/**
 * Descriptors kept back for a listener that must go on when a process has no more (EMFILE): open files that it closes
 * one at a time, for one connection each. Where the system refuses them there are fewer, and the listener waits as any other.
 */
export class SpareDescriptors {
  readonly #wanted: number;
  readonly #files: Deno.FsFile[] = [];
  #isClosed = false;

  /** Up to `count`, which {@linkcode refill} takes. */
  constructor(count: number) {
    this.#wanted = count;
  }

  /** How many there are now. */
  get count(): number {
    return this.#files.length;
  }

  /** Gives one up, for the next to be opened; false when there is none. */
  lend(): boolean {
    const file = this.#files.pop();
    file?.close();
    return file !== undefined;
  }

  /** Takes what is missing, as far as the system has any. */
  refill(): void {
    try {
      while (!this.#isClosed && this.#files.length < this.#wanted) {
        this.#files.push(Deno.openSync(NOTHING));
      }
    } catch {
      /* none left, or none of that name on this system: tried again after the next connection */
    }
  }

  /** Gives all up for good. */
  close(): void {
    this.#isClosed = true;
    while (this.lend());
  }
}
