import type { Service } from "../collapse/mod.ts";

/**
 * Services by name. One name is one object for as long as anybody refers to it, a write under way included: what the
 * write ends must be found by those who read meanwhile, whatever was forgotten in between. Nothing is kept for the sake of
 * this table.
 */
export class Services {
  readonly #known = new Map<string, WeakRef<Service>>();
  readonly #gone = new FinalizationRegistry<string>((name) => {
    if (this.#known.get(name)?.deref() === undefined) this.#known.delete(name);
  });

  get(name: string): Service {
    const known = this.#known.get(name)?.deref();
    if (known !== undefined) return known;
    const made: Service = { name, generation: 0 };
    this.#known.set(name, new WeakRef(made));
    this.#gone.register(made, name);
    return made;
  }
}
