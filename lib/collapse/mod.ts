/**
 * Which calls share an answer: eligibility, keys, flights and stored results.
 *
 * A key is a head (method, authority, encodings, identity, metadata) and a message. The head is interned as a
 * {@linkcode KeyHead}, under which {@linkcode CollapseMap} finds the {@linkcode Flight} for a message: a backend call
 * under way, or its stored result. A caller who finds neither leads a flight; the others join it or are answered.
 *
 * Invariants:
 * - a flight belongs to its key: callers join and leave, and only the last one's leaving ends it;
 * - a flight is removed by identity: a newer one for the same key stays;
 * - keys are exact: bytes or a cryptographic digest, every part prefixed with its length;
 * - a result older than the last answered write of its service serves nobody new;
 * - bytes are bounded of results with the heads of their keys, of idle heads and of keys known as private; entries,
 *   waiters on a flight and keys known as hot in number.
 *
 * Synchronous and pure: time is an argument, replies and waiters are somebody else's.
 *
 * @module
 */
export { CollapseMap } from "./collapse_map.ts";
export { type Alone, decide, takesAge, type Wishes } from "./decision.ts";
export {
  compileEligibility,
  type Eligibility,
  heedsDescriptors,
  neverCollapses,
  onlyAsks,
  type Verdict,
} from "./eligibility.ts";
export { Flight, KeyHead, type Reply, type Service, Waiter } from "./flight.ts";
export type { HotKey } from "./hot_keys.ts";
export {
  bodyKey,
  compileKeyPolicy,
  CONTROL_FIELDS,
  headKey,
  isKeyMetadata,
  type KeyCodec,
  type KeyPolicy,
  pathInKey,
  perCallKey,
  tellsApart,
} from "./key.ts";
export type { CollapseLimits, JoinLimits } from "./limits.ts";
export { RecentKeys, withRecentKeys } from "./recent_keys.ts";
