import type { CollapseMap } from "./collapse_map.ts";
import type { Flight, KeyHead, Reply } from "./flight.ts";

/** What a caller takes of what is there already (RFC 9111 §5.2.1). */
export interface Wishes {
  /** No stored result, and no flight that is under way (`no-cache`). */
  readonly isFresh: boolean;
  /** A stored result or nothing (`only-if-cached`). */
  readonly isOnlyIfCached: boolean;
  /** No stored result older than that; Infinity where the caller says nothing (`max-age`). */
  readonly maxAgeMs: number;
}

/**
 * What becomes of a call for which nothing is there: it leads; its key's answer is private; as many wait for the flight as
 * may; or it wanted what is stored, and nothing is.
 */
export type Alone = "lead" | "private" | "full" | "notStored";

/**
 * Decides how a call is answered: by the flight that is returned, which is a stored result or under way, or how else. Both
 * those who share answers and those who only count what sharing would come to ask here, so that they cannot differ.
 */
export function decide<R extends Reply>(
  map: CollapseMap<R>,
  question: { readonly head: KeyHead<R>; readonly bodyKey: string },
  wishes: Wishes,
  nowMs: number,
): Flight<R> | Alone {
  const { head, bodyKey } = question;
  const found = wishes.isFresh ? undefined : acceptable(map, question, wishes, nowMs);
  if (found?.stored) return found;
  if (wishes.isOnlyIfCached) return "notStored";
  if (found === undefined) return map.isPrivate(head, bodyKey, nowMs) ? "private" : "lead";
  return map.isFull(found) ? "full" : found;
}

/** Whether a caller takes a result of this age. 0 asks for what is not stored at all, though it may have come this moment. */
export function takesAge(
  { isFresh, maxAgeMs }: Pick<Wishes, "isFresh" | "maxAgeMs">,
  ageMs: number,
): boolean {
  return !isFresh && maxAgeMs !== 0 && ageMs <= maxAgeMs;
}

/** What is stored or under way for the key, and new enough for this caller. */
function acceptable<R extends Reply>(
  map: CollapseMap<R>,
  { head, bodyKey }: { readonly head: KeyHead<R>; readonly bodyKey: string },
  wishes: Wishes,
  nowMs: number,
): Flight<R> | undefined {
  const found = map.lookUp(head, bodyKey, nowMs);
  if (wishes.maxAgeMs === Infinity || !found?.stored) return found;
  return takesAge(wishes, nowMs - found.storedMs) ? found : map.underWay(head, bodyKey, nowMs);
}
