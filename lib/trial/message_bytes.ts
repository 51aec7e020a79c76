import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from "node:zlib";

/** Largest message that is decompressed to be compared, in bytes: some milliseconds of work. */
const MAX_DECOMPRESSED_BYTES = 1 << 20;

interface Bound {
  readonly maxOutputLength: number;
}

/** By the names of gRPC (compression.md) and HTTP (RFC 9110 §8.4.1); `deflate` is zlib's format. */
const DECOMPRESSORS: Readonly<Record<string, (bytes: Uint8Array, bound: Bound) => Uint8Array>> = {
  gzip: gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
};

/**
 * A compressed message as it was before; undefined where that cannot be had: an encoding that is not known, bytes that
 * are none of it, or more than 1 MiB.
 */
export function decompressed(
  bytes: Uint8Array,
  encoding: string | undefined,
): Uint8Array | undefined {
  const decompress = encoding === undefined ? undefined : DECOMPRESSORS[encoding];
  if (decompress === undefined) return undefined;
  try {
    return decompress(bytes, { maxOutputLength: MAX_DECOMPRESSED_BYTES });
  } catch { // it is compared as it is: stricter than need be, never laxer
    return undefined;
  }
}
