/**
 * Processes of this program that are backends here, by the instance ids that they say in their SETTINGS. A call that
 * comes from one of them goes round in a circle.
 */
export class BackendInstances {
  /** Instance id -> connections to it. */
  readonly #connections = new Map<number, number>();

  /** A connection's SETTINGS are in; 0 stands for a backend that is something else. */
  met(instance: number): void {
    if (instance === 0) return;
    this.#connections.set(instance, (this.#connections.get(instance) ?? 0) + 1);
  }

  /** A connection that was met is gone. */
  left(instance: number): void {
    const count = this.#connections.get(instance) ?? 0;
    if (count > 1) this.#connections.set(instance, count - 1);
    else this.#connections.delete(instance);
  }

  /** Whether a process is a backend now. */
  has(instance: number): boolean {
    return this.#connections.has(instance);
  }
}
