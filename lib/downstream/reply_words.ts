import { type CachePolicy, longestKeptMs } from "../upstream/mod.ts";

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

/** How long a good reply is kept: as configured, and no longer than its metadata says. */
export function keptMs(cache: CachePolicy | undefined, configuredMs: number): number {
  return cache === undefined ? configuredMs : Math.min(configuredMs, longestKeptMs(cache));
}
