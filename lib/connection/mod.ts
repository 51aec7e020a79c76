/**
 * One HTTP/2 peer, either role, without its socket (RFC 9113).
 *
 * Owns streams and their states, both directions of flow control, settings, graceful ends, and the rules that
 * headers must keep. Bytes go in by {@linkcode Connection.receive}, what they mean goes to a
 * {@linkcode ConnectionSink}, and what must be written is taken by the transport once a turn.
 *
 * Invariants:
 * - a frame's bookkeeping is complete before the sink hears of it, so the sink may answer at once;
 * - every DATA byte received is credited: to the connection on receipt (unless the sink holds too
 *   much of it), to its stream when the sink consumed it;
 * - the peer's faults are values with a scope and never throw; misuse by our own side does;
 * - what asks for work and no answer (frames that mean nothing, streams that are reset) is counted against what is
 *   useful, and too much of it ends the connection with ENHANCE_YOUR_CALM: see `limits.ts`, which has every bound;
 * - output beyond the high-water mark is small header blocks and control frames only, and the transport stops reading
 *   long before those pile up.
 *
 * {@linkcode TokenBucket} is what bounds how much a peer may ask for. It serves the rooms above as well that bound what
 * may be asked of them: this one is the lowest that does.
 *
 * Refuses: push, priorities, upgrade from HTTP/1.1, and to know anything about gRPC.
 *
 * @module
 */
export { Connection, type ConnectionOptions } from "./connection.ts";
export type { Fault, FaultScope } from "./fault.ts";
export type { ConnectionSink, ReceivedHeaders } from "./sink.ts";
export { Stream } from "./stream.ts";
export { type Allowance, TokenBucket } from "./token_bucket.ts";
