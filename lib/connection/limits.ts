/** What we announce to a peer and hold it to, the same for both roles; each with its reason. */

/**
 * DATA a peer may have under way on the whole connection. Credit for it is returned on receipt, whoever reads:
 * what a slow reader holds is bounded by the streams' windows, and must not starve the other streams.
 */
export const CONNECTION_WINDOW_BYTES = 2 ** 20;

/** DATA a peer may have under way on one stream: enough for a local hop, small enough to hold for many. */
export const STREAM_WINDOW_BYTES = 262_144;

/** Half the window owed is worth a frame: few WINDOW_UPDATEs, and the peer never waits for us. */
export const ANNOUNCE_SHARE = 2;

/** Largest list of fields accepted, as RFC 9113 §6.5.2 counts; metadata beyond it is refused stream by stream. */
export const MAX_HEADER_LIST_BYTES = 65_536;

/** Streams a caller may have open at once; more are refused, which a gRPC client retries. */
export const MAX_CONCURRENT_STREAMS = 16_384;

/** Ids announced in the first GOAWAY of a graceful end, when the last one is not known yet (RFC 9113 §6.8). */
export const NO_LAST_STREAM = 2 ** 31 - 1;

/** Dependency and weight, in PRIORITY and where HEADERS has them (RFC 9113 §6.2, §6.3). */
export const PRIORITY_BYTES = 5;
