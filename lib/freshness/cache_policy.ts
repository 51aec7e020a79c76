import { parseCacheControl } from "../grpc/mod.ts";
import type { HeaderList } from "../wire/mod.ts";

/** Names in `vary` that are compared with a key; a reply that names more depends on anything. */
const MAX_VARY_NAMES = 64;

/** What a reply's metadata asks of whoever would share or keep the reply. */
export interface CachePolicy {
  /** `no-store`, `private`, a cookie, or `vary: *`: the reply is for whoever asked, and nobody else. */
  readonly isPrivate: boolean;
  /** `no-cache`: those who wait already share the reply, and nobody who comes later. */
  readonly isNoCache: boolean;
  /** From `max-age`; Infinity where nothing is said. */
  readonly maxAgeMs: number;
  /** From `s-maxage`, which goes before `max-age`; Infinity where nothing is said. */
  readonly sharedMaxAgeMs: number;
  /** From `stale-while-revalidate`; 0 with `must-revalidate`, Infinity where nothing is said. */
  readonly maxStaleMs: number;
  /** From `stale-if-error`; 0 with `must-revalidate`, Infinity where nothing is said. */
  readonly maxStaleIfErrorMs: number;
  /** Request metadata that the reply depends on, in lower case: for who asks with other values it is another one. */
  readonly vary: readonly string[];
}

/** The policy of a list of fields, or undefined where the list says nothing. */
export function cachePolicy(list: HeaderList): CachePolicy | undefined {
  const words = valuesOf(list, "cache-control");
  const varies = valuesOf(list, "vary");
  const hasCookie = list.get("set-cookie") !== undefined;
  if (words.length === 0 && varies.length === 0 && !hasCookie) return undefined;
  const read = parseCacheControl(words);
  const { isNoStore, isPrivate, isNoCache, maxAgeMs, sharedMaxAgeMs } = read;
  const vary = [...new Set(varies.flatMap(namesIn))];
  const dependsOnAnything = vary.includes("*") || vary.length > MAX_VARY_NAMES;
  return {
    isPrivate: isNoStore || isPrivate || hasCookie || dependsOnAnything,
    isNoCache,
    maxAgeMs,
    sharedMaxAgeMs,
    maxStaleMs: read.isMustRevalidate ? 0 : read.staleWhileRevalidateMs,
    maxStaleIfErrorMs: read.isMustRevalidate ? 0 : read.staleIfErrorMs,
    vary: dependsOnAnything ? [] : vary,
  };
}

/** What initial and trailing metadata say together: the stricter word counts. */
export function bothPolicies(a: CachePolicy, b: CachePolicy): CachePolicy {
  return {
    isPrivate: a.isPrivate || b.isPrivate,
    isNoCache: a.isNoCache || b.isNoCache,
    maxAgeMs: Math.min(a.maxAgeMs, b.maxAgeMs),
    sharedMaxAgeMs: Math.min(a.sharedMaxAgeMs, b.sharedMaxAgeMs),
    maxStaleMs: Math.min(a.maxStaleMs, b.maxStaleMs),
    maxStaleIfErrorMs: Math.min(a.maxStaleIfErrorMs, b.maxStaleIfErrorMs),
    vary: [...a.vary, ...b.vary],
  };
}

/** The longest that a reply allows itself to be kept. */
export function longestKeptMs({ isNoCache, maxAgeMs, sharedMaxAgeMs }: CachePolicy): number {
  if (isNoCache) return 0;
  return sharedMaxAgeMs === Infinity ? maxAgeMs : sharedMaxAgeMs;
}

function valuesOf(list: HeaderList, wanted: string): string[] {
  return list.fields.filter(({ name }) => name === wanted).map(({ value }) => value);
}

function namesIn(value: string): string[] {
  return value.split(",").map((name) => name.trim().toLowerCase()).filter((name) => name !== "");
}
