import { type CollapseLimits, CollapseMap, decide } from "../collapse/mod.ts";
import type { FrameLog } from "../wire/mod.ts";
import { ContainedCall } from "./contained_call.ts";
import { HeldQuestions } from "./held_questions.ts";
import { KeyHashes } from "./key_hash.ts";
import { KeptApart } from "./kept_apart.ts";
import type { TrialMethod } from "./method_trial.ts";
import { ShadowAnswer } from "./shadow_answer.ts";
import { ShadowCall } from "./shadow_call.ts";
import type { Plan, ShadowParts, ShadowQuestion } from "./shadow_parts.ts";
import type { TrialContext } from "./trial_context.ts";
import { WhatIf } from "./what_if.ts";

/**
 * What sharing would come to, without sharing anything: the same decisions as {@linkcode CollapseMap} makes for those who
 * share, on answers of which nothing is kept but a print.
 */
export class Shadow implements ShadowParts {
  readonly map: CollapseMap<ShadowAnswer>;
  readonly context: TrialContext;
  readonly questions = new HeldQuestions();
  readonly whatIf = new WhatIf();
  readonly hashes = new KeyHashes();
  readonly keptApart = new KeptApart();

  constructor(limits: CollapseLimits, context: TrialContext) {
    this.map = new CollapseMap(limits);
    this.context = context;
  }

  /** A call that would pass, whatever is there: it is alone by its own word, or too large. */
  passes(method: TrialMethod): void {
    method.counters.onTrial().shadow.passed++;
    if (!method.isConfirmed) return;
    this.context.record.method(method.path).add(this.context.timers.nowMs, { calls: 1 });
  }

  /**
   * A call comes that is one message; `message` is shared while it may have to be asked again. Undefined after a fault of
   * ours, which must cost the call nothing.
   */
  begins(question: ShadowQuestion, message: FrameLog): ContainedCall | undefined {
    const { observer } = this.context;
    try {
      const call = new ShadowCall(this, question, this.#plan(question));
      call.holdQuestion(message);
      return new ContainedCall(call, observer);
    } catch (error) {
      observer.faultOfOurs("beginning a call in shadow", error);
      return undefined;
    }
  }

  #plan({ head, bodyKey, wishes, asker, method }: ShadowQuestion): Plan {
    const { nowMs } = this.context.timers;
    const decided = decide(this.map, { head, bodyKey }, wishes, nowMs);
    if (decided === "lead") {
      const answer = new ShadowAnswer(asker);
      answer.flight = this.map.lead(head, bodyKey, { reply: answer, nowMs });
      const name = this.keptApart.led(method, answer.flight, asker, nowMs);
      if (name !== undefined) this.context.record.method(method.path).keptApart(nowMs, name);
      return { outcome: "led", leads: answer };
    }
    if (typeof decided === "string") return { outcome: "passed" };
    if (!decided.stored) return { outcome: "joined", joins: decided.reply };
    if (!decided.isStale(nowMs)) return { outcome: "hit", takes: decided.reply };
    const isRefreshed = head.flights.get(bodyKey) !== decided ||
      decided.refreshPause !== undefined && nowMs < decided.refreshPause.untilMs;
    if (isRefreshed) return { outcome: "stale", takes: decided.reply };
    const answer = new ShadowAnswer(asker);
    answer.flight = this.map.refresh(decided, { reply: answer, nowMs });
    return { outcome: "stale", takes: decided.reply, leads: answer };
  }
}
