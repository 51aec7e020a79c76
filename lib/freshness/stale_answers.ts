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

/** Whether an answer with this status leaves a stale result of its key nothing to say. */
export function endsStale(status: number): boolean {
  return status === STATUS.ok || ENDS_STALE.includes(status);
}

/** The stale result that answers the callers of a flight which ended with this status; undefined where none may. */
export function standIn<R extends Reply>(
  { refreshes }: Flight<R>,
  status: number,
  nowMs: number,
): Flight<R> | undefined {
  return CANNOT_NOW.includes(status) && refreshes?.mayAnswerForError(nowMs) ? refreshes : undefined;
}
