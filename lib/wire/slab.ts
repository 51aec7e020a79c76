/** Bytes allocated at once for many pieces. */
const SLAB_BYTES = 65_536;

/** Sizes that pieces come in: a small unary reply, one with some metadata, and what a few KiB take. */
const PIECE_BYTES = [192, 512, 1_536, 4_096];

/**
 * Sizes of large pieces: one, two, four and eight frames of the usual largest size, with their heads and some headers.
 * Each has a buffer of its own, and is used again, too: a stream gives back what a burst needed, and the next comes soon.
 */
const LARGE_PIECE_BYTES = [17_408, 34_816, 69_632, 139_264];

/** Above this size, and up to the first large one, a piece of that would be mostly empty. */
const LARGE_FROM_BYTES = 8_704;

/** Free bytes kept of each size: what a burst needed is given back to the collector. */
const MAX_FREE_BYTES = 2 ** 20;

const free: Uint8Array[][] = PIECE_BYTES.map(() => []);
const freeLarge: Uint8Array[][] = LARGE_PIECE_BYTES.map(() => []);
let slab = new Uint8Array(0);
let used = 0;

/**
 * Storage for at least `size` bytes, not zeroed. V8 takes 2 µs for an array of its own above 64 bytes and 0.1 µs for a
 * view, so short ones share a slab, and are used again when they were given back ({@linkcode release}). A piece that
 * is not given back is collected like anything else, but keeps its slab alive: what is kept for long should be copied
 * out (`FrameLog.settle`).
 */
export function allocate(size: number): Uint8Array {
  const sizeClass = PIECE_BYTES.findIndex((bytes) => size <= bytes);
  if (sizeClass < 0) return allocateLarge(size);
  return free[sizeClass]!.pop() ?? cut(PIECE_BYTES[sizeClass]!);
}

/** Gives a piece back. Nobody may read or write it any more: the next one to allocate gets it. */
export function release(piece: Uint8Array): void {
  const { length } = piece;
  if (length === 0) return;
  if (length > LARGE_FROM_BYTES) return releaseLarge(piece);
  const sizeClass = PIECE_BYTES.indexOf(length);
  if (sizeClass < 0 || piece.buffer.byteLength !== SLAB_BYTES) return;
  const pieces = free[sizeClass]!;
  if (pieces.length * length < MAX_FREE_BYTES) pieces.push(piece);
}

function allocateLarge(size: number): Uint8Array {
  const sizeClass = size > LARGE_FROM_BYTES
    ? LARGE_PIECE_BYTES.findIndex((bytes) => size <= bytes)
    : -1;
  if (sizeClass < 0) return new Uint8Array(size);
  return freeLarge[sizeClass]!.pop() ?? new Uint8Array(LARGE_PIECE_BYTES[sizeClass]!);
}

function releaseLarge(piece: Uint8Array): void {
  const sizeClass = LARGE_PIECE_BYTES.indexOf(piece.length);
  if (sizeClass < 0 || piece.buffer.byteLength !== piece.length) return;
  const pieces = freeLarge[sizeClass]!;
  if (pieces.length * piece.length < MAX_FREE_BYTES) pieces.push(piece);
}

function cut(size: number): Uint8Array {
  if (used + size > SLAB_BYTES || slab.length === 0) {
    slab = new Uint8Array(SLAB_BYTES);
    used = 0;
  }
  const piece = slab.subarray(used, used + size);
  used += size;
  return piece;
}
