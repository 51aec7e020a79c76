/** Bytes allocated at once for many pieces. */
const SLAB_BYTES = 65_536;

/** Sizes that pieces come in: a small unary reply, one with some metadata, and what a few KiB take. */
const PIECE_BYTES = [192, 512, 1_536, 4_096];

/**
 * Sizes of large pieces: one, two, four and eight frames of the usual largest size, with their heads and some headers, and
 * what the log of one large reply grows through from there, up to the usual largest message. Each has a buffer of its own,
 * and is used again, too: a stream gives back what a burst needed, and the next comes soon. Fresh memory of such a size is
 * zeroed, faulted in page by page, and has V8 collect everything each 64 MiB: more than copying what goes into it costs.
 */
const LARGE_PIECE_BYTES = [
  ...[17_408, 34_816, 69_632, 139_264],
  ...[278_528, 557_056, 1_114_112, 2_228_224, 4_456_448],
];

/** Free pieces above this size are left to the collector, which may take them before they are needed again. */
const MAX_KEPT_PIECE_BYTES = 139_264;

/** Above this size, and up to the first large one, a piece of that would be mostly empty. */
const LARGE_FROM_BYTES = 8_704;

/** Free bytes kept of each size: what a burst needed is given back to the collector. */
const MAX_FREE_BYTES = 2 ** 20;

/**
 * Free bytes remembered beyond that, of all large sizes together, for as long as the collector has not come for them:
 * no more than it lets pile up before it comes for memory outside its heap.
 */
const MAX_REMEMBERED_BYTES = 2 ** 26;

const free: Uint8Array[][] = PIECE_BYTES.map(() => []);
const freeLarge: Uint8Array[][] = LARGE_PIECE_BYTES.map(() => []);
const remembered: WeakRef<Uint8Array>[][] = LARGE_PIECE_BYTES.map(() => []);
let rememberedBytes = 0;
/** Bytes of pieces that were not remembered, since it was last seen which of the others are left. */
let refusedBytes = 0;
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
  return freeLarge[sizeClass]!.pop() ?? recall(sizeClass) ??
    new Uint8Array(LARGE_PIECE_BYTES[sizeClass]!);
}

/** A piece that the collector has not come for; those that it has are forgotten on the way. */
function recall(sizeClass: number): Uint8Array | undefined {
  const pieces = remembered[sizeClass]!;
  let piece: Uint8Array | undefined;
  while (piece === undefined && pieces.length > 0) {
    piece = pieces.pop()!.deref();
    rememberedBytes -= LARGE_PIECE_BYTES[sizeClass]!;
  }
  return piece;
}

function remember(piece: Uint8Array, sizeClass: number): void {
  if (rememberedBytes + piece.length > MAX_REMEMBERED_BYTES) {
    refusedBytes += piece.length;
    if (refusedBytes < MAX_REMEMBERED_BYTES) return;
    forgetCollected();
    if (rememberedBytes + piece.length > MAX_REMEMBERED_BYTES) return;
  }
  remembered[sizeClass]!.push(new WeakRef(piece));
  rememberedBytes += piece.length;
}

/** Makes room for others in place of pieces that the collector has come for. */
function forgetCollected(): void {
  refusedBytes = rememberedBytes = 0;
  for (const [sizeClass, pieces] of remembered.entries()) {
    const left = pieces.filter((piece) => piece.deref() !== undefined);
    remembered[sizeClass] = left;
    rememberedBytes += left.length * LARGE_PIECE_BYTES[sizeClass]!;
  }
}

function releaseLarge(piece: Uint8Array): void {
  const { length } = piece;
  const sizeClass = LARGE_PIECE_BYTES.indexOf(length);
  if (sizeClass < 0 || piece.buffer.byteLength !== length) return;
  const kept = freeLarge[sizeClass]!;
  if (length <= MAX_KEPT_PIECE_BYTES && kept.length * length < MAX_FREE_BYTES) kept.push(piece);
  else remember(piece, sizeClass);
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
