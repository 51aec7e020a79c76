import type { Flight, Reply } from "../collapse/mod.ts";
import { STATUS } from "../grpc/mod.ts";

/**
 * Statuses of a backend that cannot answer now: where a result may be stale for that, it answers in their place. Others
 * are answers, or faults that a stale result would hide.
 */
const CANNOT_NOW: readonly number[] = [
  STATUS.unavailable,
  STATUS.deadlineExceeded,
  STATUS.resourceExhausted,
];

/** Statuses that are answers about the question, and end what was answered before: not found, and not for you. */
const ENDS_STALE: readonly number[] = [
  STATUS.notFound,
  STATUS.permissionDenied,
  STATUS.unauthenticated,
];

/** The first pause after a refresh that failed, unless results are fresh for less: each next one is twice as long. */
const FIRST_PAUSE_MS = 1_000;

/** A stale result could not be fetched anew: it is not tried again at once. */
export function pauseRefresh<R extends Reply>(stale: Flight<R>, nowMs: number): void {
  const ttlMs = stale.expiresAtMs - stale.storedMs;
  const ms = stale.refreshPause === undefined
    ? Math.min(ttlMs, FIRST_PAUSE_MS)
    : 2 * stale.refreshPause.ms;
  stale.refreshPause = { ms, untilMs: nowMs + ms };
}

/** Whether an answer with this status leaves a stale result of its key nothing to say. */
export function endsStale(status: number): boolean {
  return status === STATUS.ok || ENDS_STALE.includes(status);
}

/**
 * The stale result that answers the callers of a flight which ended with this status, where that is among `codes`; undefined
 * where none may.
 */
export function standIn<R extends Reply>(
  { refreshes }: Flight<R>,
  { status, codes = CANNOT_NOW }: { status: number; codes?: readonly number[] | undefined },
  nowMs: number,
): Flight<R> | undefined {
  return codes.includes(status) && refreshes?.mayAnswerForError(nowMs) ? refreshes : undefined;
}
