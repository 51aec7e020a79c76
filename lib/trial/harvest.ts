import { type MethodCounters, type Outcome, OUTCOMES } from "../observe/mod.ts";
import type { ReportRecord } from "../trust/mod.ts";

/** Enters what methods that share have counted into the record, so that their calls need not tell of themselves. */
export class Harvest {
  readonly #record: ReportRecord;
  readonly #seen = new Map<string, Record<Outcome, number>>();

  constructor(record: ReportRecord) {
    this.#record = record;
  }

  /**
   * Adds what came since the last time. What a call would have waited by itself is taken from those that led, on average:
   * nobody measures what did not happen.
   */
  take(methods: Iterable<MethodCounters>, nowMs: number): void {
    for (const { label, outcomes, ledMs } of methods) {
      const seen = this.#seen.get(label);
      this.#seen.set(label, { ...outcomes });
      const since = (outcome: Outcome) => outcomes[outcome] - (seen?.[outcome] ?? 0);
      const calls = OUTCOMES.reduce((sum, outcome) => sum + since(outcome), 0);
      if (calls <= 0) continue;
      const meanMs = outcomes.led === 0 ? 0 : ledMs / outcomes.led;
      const wouldHit = since("hit") + since("stale");
      const wouldJoin = since("joined");
      this.#record.method(label).add(nowMs, {
        ...{ calls, wouldHit, wouldJoin },
        savedMs: (wouldHit + wouldJoin) * meanMs,
        waitNowMs: calls * meanMs,
        waitThenMs: (calls - wouldHit) * meanMs,
      });
    }
  }
}
