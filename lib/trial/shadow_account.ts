import type { ShadowOutcome } from "../observe/mod.ts";
import type { AnswerPrint, CallSums } from "../trust/mod.ts";
import type { ShadowAnswer } from "./shadow_answer.ts";
import type { ShadowQuestion } from "./shadow_parts.ts";
import type { TrialContext } from "./trial_context.ts";

/** What a call's own answer came to. */
export interface OwnAnswer {
  readonly print: AnswerPrint;
  readonly ms: number;
  readonly bytes: number;
}

/** A call in shadow that is over, as it is counted. */
export interface CountedCall {
  readonly question: ShadowQuestion;
  readonly startedMs: number;
  readonly outcome: ShadowOutcome;
  /** The hash of its key. */
  readonly keyHash: number;
  /** Times of what-if for which the call would be saved, as bits. */
  readonly wouldSave: number;
  /** The call would have been made all the same, to fetch anew what is stale. */
  readonly isRefresh: boolean;
  /** The backend knows the method. */
  readonly knowsMethod: boolean;
}

/** Counts a call in shadow as what it would have been, with what that would have saved. */
export function accountOf(
  { record, timers: { nowMs } }: TrialContext,
  call: CountedCall,
  { own, shared }: { own: OwnAnswer | undefined; shared: ShadowAnswer | undefined },
): void {
  const { question: { method }, outcome } = call;
  const counters = method.counters.onTrial();
  counters.shadow[outcome]++;
  const isSaved = own !== undefined && outcome !== "led" && outcome !== "passed" && !call.isRefresh;
  if (isSaved) {
    counters.savedCalls++;
    counters.savedMs += own.ms;
    counters.savedBytes += own.bytes;
  }
  if (!method.isConfirmed && !call.knowsMethod) return; // a stranger's methods are nobody's to read about
  const of = record.method(method.path);
  of.add(nowMs, { ...sumsOf(call, own, shared), ...(isSaved && { savedMs: own.ms }) });
  of.asked(nowMs, call.keyHash);
  if (shared !== undefined) of.shared(nowMs, shared.group);
}

function sumsOf(
  { outcome, startedMs, wouldSave }: CountedCall,
  own: OwnAnswer | undefined,
  shared: ShadowAnswer | undefined,
): Partial<CallSums> {
  const ms = own?.ms ?? 0;
  const wouldWaitMs = outcome === "hit" || outcome === "stale"
    ? 0
    : outcome === "joined" && shared !== undefined && shared.endedMs > 0
    ? Math.max(0, shared.endedMs - startedMs)
    : ms;
  return {
    calls: 1,
    wouldHit: Number(outcome === "hit" || outcome === "stale"),
    wouldJoin: Number(outcome === "joined"),
    waitNowMs: ms,
    waitThenMs: wouldWaitMs,
    savedInFlight: wouldSave & 1,
    savedAt1s: wouldSave >> 1 & 1,
    savedAt10s: wouldSave >> 2 & 1,
    rehearsed: 1,
  };
}
