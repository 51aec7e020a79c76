import { CONTROL_FIELDS, isKeyMetadata } from "../collapse/mod.ts";
import { HeaderCache } from "../wire/mod.ts";

/** Not in the key, but the same in all calls of a caller, so they may stand in its interned list. */
const STEADY_FIELDS = new Set(["te", "user-agent"]);

/** The cache of requests' lists: what no key holds by default, and the sidecar reads itself, is left out of them. */
export function requestHeaderCache(inKey: (name: string) => boolean): HeaderCache {
  return new HeaderCache((name) =>
    CONTROL_FIELDS.has(name) ||
    // A pseudo-header that is not defined must be found with the others, and refused (RFC 9113 §8.3).
    isKeyMetadata(name) && !inKey(name) && !STEADY_FIELDS.has(name) && !name.startsWith(":")
  );
}
