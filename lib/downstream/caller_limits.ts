/** What a caller's connection is held to; each with its reason. */

/**
 * Our SETTINGS wait this long for the caller's first bytes, so that one who speaks HTTP/1 can be answered in it. Callers
 * of HTTP/2 send their preface at once (RFC 9113 §3.4) and never notice.
 */
export const GREETING_DELAY_MS = 100;

/** A caller's preface and SETTINGS come within this time: a slow network needs one second, who needs more has nothing to say. */
export const HANDSHAKE_MS = 10_000;

/**
 * Bytes of requests that wait on one connection, gathered or not yet taken by the backend: 128 streams whose windows are
 * full, or four messages of the largest size that is gathered. Above it the caller may send no more DATA until half of
 * it has gone on: else 4,096 streams could leave 128 KiB each.
 */
export const MAX_HELD_BYTES = 16 * 2 ** 20;

/**
 * Calls open on one connection, above which one more does not wait for a place at one of several backends: three quarters
 * of the streams that a caller may have, so that a backend which stalls leaves the others' calls a way through.
 */
export const CROWDED_STREAMS = 3_072;

/** A connection that failed is given this long to read why. */
export const LINGER_MS = 1_000;
