/** Streams remembered after we reset them: more than a peer can have under way in the time a reset takes to reach it. */
const REMEMBERED = 1_024;

/** The streams reset last, so that what was under way for them is told apart from what should not have been sent. */
export class RecentIds {
  #ids = new Set<number>();

  add(id: number): void {
    if (this.#ids.size >= REMEMBERED) this.#ids.delete(this.#ids.values().next().value!);
    this.#ids.add(id);
  }

  has(id: number): boolean {
    return this.#ids.has(id);
  }
}
