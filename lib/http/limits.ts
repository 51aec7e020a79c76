/** What a client is held to; each with its reason. */

/** Bytes of a request's head: browsers with many cookies for `localhost` send some kilobytes. */
export const MAX_HEAD_BYTES = 16 * 1_024;

/** Bytes of a request's body: calls that change something say all they have to say in the URL. */
export const MAX_BODY_BYTES = 1_024;

/** Time for a head, from its connection's beginning or from its first byte, and for a body: one packet in the common case. */
export const REQUEST_MS = 5_000;

/** Time for the client to take one part of an answer: as long as a scraper waits for the whole. */
export const WRITE_MS = 10_000;

/** How long a connection is kept that asks nothing: longer than scrapers' intervals, which are a minute at most in practice. */
export const IDLE_MS = 120_000;

/** How long a client that is told to go is listened to, so that what it was told is not lost to a reset (RFC 9112 §9.6). */
export const LINGER_MS = 1_000;

/** Connections at once: scrapers, probes and some twenty pages, each with the six of a browser. */
export const MAX_CONNECTIONS = 256;

/** How often the times above are looked at, so how late an end may come. */
export const SWEEP_MS = 500;
