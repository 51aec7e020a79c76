import { METHODS } from "./content.ts";

/** A sidecar takes what the file says within this time, on a busy machine: it looks once a second. */
export const TAKEN_WITHIN_MS = 60_000;

/** The Catalog's methods that collapse by their names, and the Ledger's unary one. */
const NAMED = [METHODS.get, METHODS.list, METHODS.post];

/** What an entry may say: nothing that makes another answer right, and no wall that this traffic comes to. */
const LIMITS: readonly object[] = [{}, { maxConcurrent: 1_000 }];
const COLLAPSING: readonly object[] = [{}, { collapse: true }, { collapse: false }];
const KEEPING: readonly object[] = [{}, { ttl: "0s" }, { ttl: "20ms" }, { ttl: "1s" }];

/** The policy file of all sidecars (COLLAPSER_CONFIG), which says something else now and then. */
export class PolicyFile {
  readonly path: string;
  /** How often it was given something new to say, and something that nobody can use. */
  written = 0;
  broken = 0;
  readonly #random: () => number;

  constructor(path: string, random: () => number) {
    this.path = path;
    this.#random = random;
    this.#put(this.#policy());
  }

  /** It says something new, which a sidecar tells that it took. */
  rewrite(): void {
    this.written++;
    this.#put(this.#policy());
  }

  /** It says what nobody can use: the old policy goes on. */
  break(): void {
    this.broken++;
    this.#put(`{ "methodConfig": [${this.broken}`);
  }

  /** Of the same name all at once: who reads it now must not find half of it. */
  #put(text: string): void {
    Deno.writeTextFileSync(`${this.path}.new`, text);
    Deno.renameSync(`${this.path}.new`, this.path);
  }

  /** What is ignored in it differs from time to time, so that no two are the same. */
  #policy(): string {
    const methodConfig = NAMED.map(({ path }) => {
      const [, service, method] = path.split("/");
      const collapser = { ...this.#pick(COLLAPSING), ...this.#pick(KEEPING) };
      const timeout = `${this.written + 1}s`;
      return { name: [{ service, method }], ...this.#pick(LIMITS), collapser, timeout };
    });
    return JSON.stringify({ methodConfig }, undefined, 2);
  }

  #pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.#random() * items.length)]!;
  }
}
