import type { CollapseMap, KeyHead, Wishes } from "../collapse/mod.ts";
import type { ShadowOutcome } from "../observe/mod.ts";
import type { Asker } from "./asker.ts";
import type { HeldQuestions } from "./held_questions.ts";
import type { KeyHashes } from "./key_hash.ts";
import type { TrialMethod } from "./method_trial.ts";
import type { ShadowAnswer } from "./shadow_answer.ts";
import type { TrialContext } from "./trial_context.ts";
import type { WhatIf } from "./what_if.ts";

/** What calls in shadow have in common. */
export interface ShadowParts {
  readonly map: CollapseMap<ShadowAnswer>;
  readonly context: TrialContext;
  readonly questions: HeldQuestions;
  readonly whatIf: WhatIf;
  readonly hashes: KeyHashes;
}

/** A call that is answered by itself, and counted as what it would have been. */
export interface ShadowQuestion {
  readonly method: TrialMethod;
  readonly head: KeyHead<ShadowAnswer>;
  readonly bodyKey: string;
  readonly asker: Asker;
  readonly wishes: Wishes;
}

/** How a call would be answered, and what it does for others: it leads a flight, joins one, or takes what is stored. */
export interface Plan {
  readonly outcome: ShadowOutcome;
  readonly leads?: ShadowAnswer;
  readonly joins?: ShadowAnswer;
  readonly takes?: ShadowAnswer;
}
