/**
 * How long an answer may be used, and for whom: what the backend's metadata asks ({@linkcode CachePolicy}), what the
 * configuration grants ({@linkcode Freshness}), and what follows from both.
 *
 * Invariants:
 * - the backend's word only ever restricts: nothing is kept longer or shared wider than the configuration says;
 * - an answer that depends on something the key does not tell is for its caller alone;
 * - a reply that has outgrown its bound is kept for nobody.
 *
 * Pure: time and chance are arguments.
 *
 * @module
 */
export { bothPolicies, type CachePolicy, cachePolicy, longestKeptMs } from "./cache_policy.ts";
export { type Freshness, freshnessOf } from "./freshness.ts";
export { hasOutgrown } from "./reply_size.ts";
export { isForOneAlone, keptMs, staleIfErrorMs, staleMs } from "./reply_words.ts";
export { endsStale, pauseRefresh, standIn } from "./stale_answers.ts";
