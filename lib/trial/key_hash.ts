import type { KeyHead, Reply } from "../collapse/mod.ts";

/** FNV-1a's offset and prime for 32 bits. */
const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** Hashes keys for statistics: 53 bits, of which the lower 32 are evenly distributed. No answer depends on them. */
export class KeyHashes {
  readonly #heads = new WeakMap<object, number>();

  of<R extends Reply>(head: KeyHead<R>, bodyKey: string): number {
    let seed = this.#heads.get(head);
    if (seed === undefined) this.#heads.set(head, seed = mixed(fnv(head.text, FNV_OFFSET)));
    const low = mixed(fnv(bodyKey, seed));
    const high = mixed(low ^ fnv(bodyKey, seed ^ FNV_PRIME)) & 0x1f_ffff;
    return high * 2 ** 32 + low;
  }
}

function fnv(text: string, seed: number): number {
  let hash = seed;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), FNV_PRIME);
  return hash;
}

/** Spreads what FNV leaves uneven (the finalizer of MurmurHash3). */
function mixed(value: number): number {
  let hash = value ^ value >>> 16;
  hash = Math.imul(hash, 0x85ebca6b);
  hash = Math.imul(hash ^ hash >>> 13, 0xc2b2ae35);
  return (hash ^ hash >>> 16) >>> 0;
}
