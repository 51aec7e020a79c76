import type { CollapseLimits } from "../collapse/mod.ts";
import type { MethodCounters, ProxyCounters, ProxyObserver } from "../observe/mod.ts";
import type { Timers } from "../transport/mod.ts";
import { type MethodSetting, ReportRecord, type ReportRow, reportRow } from "../trust/mod.ts";
import type { Upstream } from "../upstream/mod.ts";
import { Harvest } from "./harvest.ts";
import { MethodTrials } from "./method_trials.ts";
import { Places } from "./places.ts";
import { Shadow } from "./shadow.ts";
import type { TrialContext } from "./trial_context.ts";
import { Verifier } from "./verifier.ts";

/** What a trial is told. */
export interface TrialOptions extends CollapseLimits {
  /** Questions asked once more at once, for each backend (COLLAPSER_VERIFY_MAX_CONCURRENT). */
  readonly verifyMaxConcurrent: number;
  /** Longest that a call of the sidecar's own may take (BACKEND_TIMEOUT). */
  readonly backendTimeoutMs: number;
}

/** What a trial works with. */
export interface TrialWorld {
  readonly backend: Upstream;
  readonly timers: Timers;
  readonly counters: ProxyCounters;
  readonly observer: Pick<ProxyObserver, "dependsOnCaller" | "faultOfOurs">;
  readonly random: () => number;
  /** A method was taken out, or put back. */
  readonly changed: (path: string) => void;
}

/** All that is on trial: shadow, verify, and what both come to. */
export class Trial {
  readonly methods = new MethodTrials();
  readonly shadow: Shadow;
  readonly verifier: Verifier;
  readonly #context: TrialContext;
  readonly #harvest: Harvest;

  constructor(options: TrialOptions, world: TrialWorld) {
    const { counters, timers } = world;
    const { backendTimeoutMs, verifyMaxConcurrent } = options;
    const record = new ReportRecord();
    const places = new Places(counters, timers, verifyMaxConcurrent);
    this.#context = { ...world, backendTimeoutMs, places, record };
    this.shadow = new Shadow(options, this.#context);
    this.verifier = new Verifier(this.#context);
    this.#harvest = new Harvest(record);
  }

  /** Puts a method back that was taken out; false when it was not. */
  switchOn(path: string): boolean {
    if (!this.methods.switchOn(path)) return false;
    this.#context.changed(path);
    return true;
  }

  /** Lets go of what has expired, and enters what methods that share have counted: once in a while, and before a report. */
  sweep(nowMs: number, sharing: Iterable<MethodCounters>): void {
    this.shadow.map.sweep(nowMs);
    this.#harvest.take(sharing, nowMs);
  }

  /** What is known of each method that was called in the last 48 hours. */
  report(settingOf: (path: string) => MethodSetting): readonly ReportRow[] {
    const { record, timers } = this.#context;
    return record.summaries(timers.nowMs).map(([path, summary]) =>
      reportRow(path, summary, settingOf(path))
    );
  }

  /** Nothing is asked once more any more. */
  stop(): void {
    this.#context.places.stop();
  }
}
