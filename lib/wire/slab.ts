/** Bytes allocated at once for many small logs. */
const SLAB_BYTES = 65_536;

/** Larger pieces get storage of their own, so that one long-lived piece pins little. */
const MAX_PIECE_BYTES = 2_048;

let slab = new Uint8Array(0);
let used = 0;

/**
 * Storage for `size` bytes, not zeroed. V8 takes 2 µs for an array of its own above 64 bytes and 0.1 µs for a
 * view, so short ones share a slab, which lives as long as any of its pieces: what is kept for long should be
 * copied out (`FrameLog.settle`).
 */
export function allocate(size: number): Uint8Array {
  if (size > MAX_PIECE_BYTES) return new Uint8Array(size);
  if (used + size > slab.length) {
    slab = new Uint8Array(SLAB_BYTES);
    used = 0;
  }
  const piece = slab.subarray(used, used + size);
  used += size;
  return piece;
}
