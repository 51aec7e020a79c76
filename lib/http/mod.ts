/**
 * A small HTTP/1.1 server (RFC 9110, RFC 9112) for what scrapers, probes and people ask, and a way to ask such a server
 * one thing ({@linkcode askHttp}).
 *
 * It exists because the platform's own server cannot be bounded: the first accept that fails for want of a descriptor
 * ends it for good, and a request that never ends is waited for without end. This one stands on the accept loop that
 * callers' connections have, and keeps a few descriptors back for itself.
 *
 * Owns connections: reading a request's head and its short body, writing the answer, and letting go.
 *
 * Invariants:
 * - whatever a client does or leaves, its connection has an end by time: a head, a body and each write have a few seconds,
 *   a connection without a request two minutes;
 * - what is held for a client is bounded in bytes (`limits.ts`), and so is the number of connections; a newcomer takes the
 *   place of the one that has said nothing for longest;
 * - a request that could be read in two ways (RFC 9112 §11.2) is refused and its connection closed.
 *
 * Refuses: transfer codings of requests, trailers, upgrades and ranges. Nobody who asks for figures needs them.
 *
 * @module
 */
export { askHttp, type HttpAnswer, type HttpQuestion } from "./ask_http.ts";
export {
  type HttpHandler,
  type HttpServer,
  type HttpServerOptions,
  serveHttp,
} from "./http_server.ts";
