/** Offset basis and prime of FNV-1a, 32 bits. */
const FNV_BASIS = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** Text beyond this is hashed by so many characters of it, evenly spread, and its length: keys may be long. */
const MAX_HASHED = 64;

/** A number for a text, the same in every process, so that replicas of the sidecar place a key alike. */
export function hashText(text: string, seed = 0): number {
  const { length } = text;
  const step = Math.max(1, Math.floor(length / MAX_HASHED));
  let hash = (FNV_BASIS ^ seed ^ length) | 0;
  for (let at = 0; at < length; at += step) {
    hash = Math.imul(hash ^ text.charCodeAt(at), FNV_PRIME);
  }
  return hash >>> 0;
}

/**
 * How much a place wants a key (rendezvous hashing): who has the largest weight has the key. When a place goes, only
 * its own keys move, and they are shared out among all others.
 */
export function weight(keyHash: number, placeHash: number): number {
  let mixed = keyHash ^ placeHash; // and the finalizer of MurmurHash3, which lets every bit reach every other
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 1; // V8 keeps 31 bits in place
}
