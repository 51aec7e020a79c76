import { sharedPoolArithmetic } from "./law.ts";
import type { StallSubject } from "./subject.ts";
import { BIN_MS, type SystemResult, WELL_SHARE } from "./tally.ts";

/** The result as one JSON object. Times are milliseconds; a bin is [good, calls] of the healthy ones, then of all. */
export function stallJson(subject: StallSubject, results: readonly SystemResult[]): string {
  return JSON.stringify(
    {
      ...subject,
      binMs: BIN_MS,
      wellShare: WELL_SHARE,
      sharedPool: sharedPoolArithmetic(subject),
      systems: results.map(({ name, about, tally }) => ({
        name,
        about,
        before: tally.before,
        during: tally.during,
        after: tally.after,
        recoveryMs: tally.recoveryMs ?? null,
        latestMs: tally.latestMs,
        bins: tally.bins.map(({ healthy, all }) => [
          healthy.good,
          healthy.calls,
          all.good,
          all.calls,
        ]),
      })),
    },
    undefined,
    2,
  );
}
