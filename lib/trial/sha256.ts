import { createHash, type Hash as NodeHash, hash } from "node:crypto";
import type { Hash } from "../trust/mod.ts";

/** Bytes that are gathered and hashed at once; most answers are no longer. */
const MAX_GATHERED_BYTES = 4_096;
const FIRST_BYTES = 256;

/**
 * SHA-256 that is fed piece by piece. What is short is gathered and hashed in one call: an object of the platform's for
 * each answer would cost more in garbage than the hashing itself.
 */
export class Sha256 implements Hash {
  #gathered = new Uint8Array(FIRST_BYTES);
  #length = 0;
  #open: NodeHash | undefined = undefined;

  update(bytes: Uint8Array): void {
    if (this.#open !== undefined) return void this.#open.update(bytes);
    const length = this.#length + bytes.length;
    if (length > MAX_GATHERED_BYTES) {
      this.#open = createHash("sha256").update(this.#gathered.subarray(0, this.#length)).update(
        bytes,
      );
      return;
    }
    if (length > this.#gathered.length) {
      const grown = new Uint8Array(Math.max(length, 2 * this.#gathered.length));
      grown.set(this.#gathered);
      this.#gathered = grown;
    }
    this.#gathered.set(bytes, this.#length);
    this.#length = length;
  }

  digest(): string {
    return this.#open?.digest("hex") ?? hash("sha256", this.#gathered.subarray(0, this.#length));
  }
}
