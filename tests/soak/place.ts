import { backendName, hashOf } from "./content.ts";

/** What several backends are to each other. */
export type BackendKind = "replicas" | "shards";

/** Which one of how many backends this one is. */
export class Place {
  readonly name: string;
  /** It answers grpc.health.v1; half of them do. */
  readonly keepsHealth: boolean;
  readonly #index: number;
  readonly #count: number;
  readonly #kind: BackendKind;

  constructor(index: number, { count, kind }: { count: number; kind: BackendKind }) {
    this.name = backendName(index);
    this.keepsHealth = index % 2 === 0;
    this.#index = index;
    this.#count = count;
    this.#kind = kind;
  }

  /** Calls for that shard have come to the right one. */
  takes(shard: string): boolean {
    return shard === "" || shard === this.name;
  }

  /** It turns calls of that key away the first time; of replicas one does, so that another takes them. */
  refuses(key: string): boolean {
    return this.#kind === "shards" || hashOf(key) % this.#count === this.#index;
  }
}

/** The only backend. */
export const SOLE: Place = new Place(0, { count: 1, kind: "replicas" });
