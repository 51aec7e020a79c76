import { type CachePolicy, longestKeptMs } from "./cache_policy.ts";
import type { Freshness } from "./freshness.ts";

/**
 * Whether a reply is for its caller alone: its metadata says so, or that the reply depends on request metadata by which
 * the key tells nobody apart.
 */
export function isForOneAlone(
  cache: CachePolicy | undefined,
  isInKey: (name: string) => boolean,
): boolean {
  return cache !== undefined && (cache.isPrivate || !cache.vary.every(isInKey));
}

/** Results kept for less are not spread in time: they are gone before anybody could ask for many of them at once. */
const JITTER_FROM_MS = 1_000;

/**
 * How long a good reply is fresh: as configured, and no longer than its metadata says; long times are shortened by up to
 * the share `ttlJitter`, as `random` decides, so that results that were stored together do not end together.
 */
export function keptMs(
  cache: CachePolicy | undefined,
  { cacheDurationMs, ttlJitter }: Pick<Freshness, "cacheDurationMs" | "ttlJitter">,
  random: () => number,
): number {
  const ttlMs = cache === undefined
    ? cacheDurationMs
    : Math.min(cacheDurationMs, longestKeptMs(cache));
  return ttlMs < JITTER_FROM_MS || ttlJitter === 0 ? ttlMs : ttlMs * (1 - ttlJitter * random());
}

/** How long a reply may answer after that, stale, while it is fetched anew (RFC 5861 §3). */
export function staleMs(
  cache: CachePolicy | undefined,
  { staleDurationMs }: Pick<Freshness, "staleDurationMs">,
): number {
  return cache === undefined ? staleDurationMs : Math.min(staleDurationMs, cache.maxStaleMs);
}

/** How long a reply may answer after that, stale, where it cannot be fetched anew (RFC 5861 §4). */
export function staleIfErrorMs(
  cache: CachePolicy | undefined,
  { staleIfErrorMs }: Pick<Freshness, "staleIfErrorMs">,
): number {
  return cache === undefined ? staleIfErrorMs : Math.min(staleIfErrorMs, cache.maxStaleIfErrorMs);
}
