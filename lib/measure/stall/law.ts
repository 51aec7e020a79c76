import { showCount, showRoundTime, showShare, showTime } from "../report/mod.ts";
import { SILENT_FAULTS } from "./fault.ts";
import type { StallSubject } from "./subject.ts";

/** A pool that all backends share, as the conditions alone say. */
export interface SharedPoolArithmetic {
  /** Calls that the faulted backend would hold, if they were let: rate times deadline (Little's law). */
  readonly wanted: number;
  readonly places: number;
  readonly waiting: number;
  /** Calls of all kinds that the pool can take in a second while those are held. */
  readonly takenPerSecond: number;
  /** Share of all calls that are answered then. */
  readonly share: number;
}

/**
 * A call to a backend that never answers holds its place until its deadline, less the time that it waited for it. So
 * with n backends, N places, Q waiting and a deadline D a pool takes a calls a second, where N = a/n (D - Q/a), which
 * is a = (nN + Q) / D. When that is less than what is offered, the rest is refused, whichever backend it is for.
 */
export function sharedPoolArithmetic(subject: StallSubject): SharedPoolArithmetic {
  const { shards, perSecond, deadlineMs } = subject;
  const count = shards.length;
  const places = subject.places * count;
  const waiting = subject.waiting * count;
  const seconds = deadlineMs / 1_000;
  const takenPerSecond = Math.min(perSecond, (count * places + waiting) / seconds);
  return {
    wanted: perSecond / count * seconds,
    places,
    waiting,
    takenPerSecond,
    share: (count - 1) / count * takenPerSecond / perSecond,
  };
}

/** The arithmetic of deadline, load and sizes in a paragraph; "" where the fault leaves nothing unanswered. */
export function lawText(subject: StallSubject): string {
  const { fault, isAnnounced, perSecond, shards, deadlineMs, places } = subject;
  if (!SILENT_FAULTS.includes(fault) && !isAnnounced) return "";
  const law = sharedPoolArithmetic(subject);
  const deadline = showRoundTime(deadlineMs);
  const perShard = perSecond / shards.length;
  const held =
    `A backend that never answers holds rate x deadline calls (Little's law): ${
      showCount(perShard)
    }/s x ${deadline} = ${showCount(law.wanted)}. A pool of its own gives it ${places} places, ` +
    `and a pool for all has ${law.places}: `;
  const apart = `${showShare(shards.length - 1, shards.length)} where backends are kept apart`;
  return held + sharedPoolText(law, subject, apart);
}

function sharedPoolText(
  law: SharedPoolArithmetic,
  { perSecond, shards, deadlineMs }: StallSubject,
  apart: string,
): string {
  if (law.wanted <= law.places) {
    return `with this load and deadline it is not filled, and need not do worse than ${apart}.`;
  }
  if (law.takenPerSecond < perSecond) {
    return "it loses them all. Each is free again at its call's deadline, so the pool takes " +
      `(${shards.length} x ${law.places} + ${law.waiting}) / ${showRoundTime(deadlineMs)} = ${
        showCount(law.takenPerSecond)
      } of ${showCount(perSecond)} calls a second, and about ${
        showShare(law.share, 1)
      } of all calls are answered, against ${apart}.`;
  }
  const waitMs = deadlineMs - law.places / (perSecond / shards.length) * 1_000;
  return `it loses them all, but its queue has room for everybody: about ${
    showShare(law.share, 1)
  } of all calls are answered, each after some ${showTime(waitMs)}.`;
}
