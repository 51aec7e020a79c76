/** What we announce to a peer and hold it to, the same for both roles; each with its reason. */

/**
 * DATA a peer may have under way on the whole connection. Credit for it is returned on receipt, whoever reads:
 * what a slow reader holds is bounded by the streams' windows, and must not starve the other streams, unless the sink
 * says that all of them together hold too much.
 */
export const CONNECTION_WINDOW_BYTES = 2 ** 20;

/**
 * DATA a peer may have under way on one stream: 128 MB/s at 1 ms, enough for a local hop. It is what is held for a caller
 * that takes nothing, so that a bulkhead full of them (1,024) stays below what may be held in all (256 MiB, storage and
 * heads included), and `GRPC_STALL_TIMEOUT` is what ends them. Eight frames of it fit a piece of storage that is used again.
 */
export const STREAM_WINDOW_BYTES = 131_072;

/** Half the window owed is worth a frame: few WINDOW_UPDATEs, and the peer never waits for us. */
export const ANNOUNCE_SHARE = 2;

/** Largest list of fields accepted, as RFC 9113 §6.5.2 counts; metadata beyond it is refused stream by stream. */
export const MAX_HEADER_LIST_BYTES = 65_536;

/**
 * Streams a caller may have open at once; a gRPC client holds the others back until one is free. Bursts of equal calls
 * are what this is for, so it is far above the customary 100 to 1,024; what a stream may hold here bounds it.
 */
export const MAX_CONCURRENT_STREAMS = 4_096;

/** Ids announced in the first GOAWAY of a graceful end, when the last one is not known yet (RFC 9113 §6.8). */
export const NO_LAST_STREAM = 2 ** 31 - 1;

/** Dependency and weight, in PRIORITY and where HEADERS has them (RFC 9113 §6.2, §6.3). */
export const PRIORITY_BYTES = 5;

/**
 * What frames cost that ask for nothing (PING, SETTINGS, PRIORITY, empty DATA, unknown types, what comes for closed
 * streams): the work of a few of them is nothing, that of a flood is all the peer wants (CVE-2019-9511 to 9518).
 * WINDOW_UPDATE on a closed stream, or a backend's RST_STREAM on one, costs least: no answer is written, and a peer
 * sends one for each large reply, or for each call we cancel. On an open stream WINDOW_UPDATE is free, whatever the
 * increment: it costs no more than the DATA that it allows.
 */
export const IDLE_FRAME_UNITS = 4;
export const LATE_FRAME_UNITS = 1;

/** A changed initial window is added to every open stream: that many of them cost a unit more. */
export const STREAMS_SHIFTED_PER_UNIT = 64;

/**
 * Units for frames that ask for nothing: 5,000 of them at once, or 20,000 late ones, which is more than there can be
 * replies under way; 500 a second for ever. Keepalive needs one in ten seconds.
 */
export const IDLE_FRAMES = { burst: 20_000, perSecond: 2_000 } as const;

/**
 * Units that a frame of a call puts back: enough for two frames that ask for nothing. gRPC's clients and servers PING
 * at most once for what they read at once, to measure the path (BDP), and that is DATA of ours.
 */
export const USEFUL_FRAME_UNITS = 8;

/**
 * What a stream costs that a caller resets, makes us reset by a fault, or opens beyond the limit; each answered call
 * puts one unit back. One that is over in the read that opened it cost a call and could not be answered: that is
 * what the attack does (rapid reset, CVE-2023-44487; by our own hand, CVE-2025-8671), so it costs more.
 */
export const RESET_UNITS = 1;
export const RAPID_RESET_UNITS = 4;

/**
 * Units for streams that are reset: a caller may give up everything it has open at once, though it has only just begun
 * it. 5,000 a second for ever is a caller whose backend hangs, with 500 calls at once and a deadline of 100 ms: a
 * quarter of what it costs to answer as many.
 */
export const RESETS = {
  burst: RAPID_RESET_UNITS * MAX_CONCURRENT_STREAMS,
  perSecond: 5_000,
} as const;

/** The last id that a stream of a client may have (RFC 9113 §5.1.1): 31 bits, odd. */
export const MAX_STREAM_ID = 2 ** 31 - 1;
