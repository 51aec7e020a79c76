import type { PlacementKey } from "../upstream/mod.ts";
import {
  type AnswerPrint,
  type Evidence,
  judge,
  judgeWithoutControl,
  type Verdict,
} from "../trust/mod.ts";
import type { FrameLog } from "../wire/mod.ts";
import type { Asker } from "./asker.ts";
import type { TrialMethod } from "./method_trial.ts";
import { Run } from "./run.ts";
import type { TrialContext } from "./trial_context.ts";

/** Two answers to one question that are to be compared, and what is needed to ask again. */
export interface Suspicion {
  readonly method: TrialMethod;
  readonly key: PlacementKey;
  /** The backend that gave the shared answer. */
  readonly backend: string;
  readonly leader: Asker;
  readonly follower: Asker;
  /** The question, which is let go of in the end; undefined where it was not kept, so that nothing can be asked again. */
  readonly message: FrameLog | undefined;
  /** The generation of the method's scope when the leader asked: a later one means a write since. */
  readonly generation: number;
  readonly shared: AnswerPrint;
  readonly own: AnswerPrint;
  /** Whether control calls stand outside the backend's share. */
  readonly kind: "first" | "sampled";
  /** Longest that a control call may take, in ms. */
  readonly patienceMs: number;
}

/**
 * Finds out what it means that a follower's own answer is not the shared one: a write that came between, an answer that is
 * never the same, or one that depends on who asks. Asks again where that would tell, once its turn has come.
 */
export class Inquiry {
  readonly #context: TrialContext;
  readonly #of: Suspicion;
  readonly #told: (verdict: Verdict) => void;
  #leaderAgain: AnswerPrint | undefined = undefined;
  #followerAgain: AnswerPrint | undefined = undefined;

  /** `told` hears the verdict, once. */
  constructor(context: TrialContext, of: Suspicion, told: (verdict: Verdict) => void) {
    this.#context = context;
    this.#of = of;
    this.#told = told;
  }

  /** Says what is known, or asks for the control call that would tell more. */
  go(): void {
    const said = judge(this.#evidence);
    if (said === "ask_leader") this.#ask("leader");
    else if (said === "ask_follower") this.#ask("follower");
    else this.#end(said);
  }

  get #evidence(): Evidence {
    const { shared, own, generation, method } = this.#of;
    const raced = method.scope.generation !== generation;
    return {
      ...{ shared, own, raced },
      ...(this.#leaderAgain !== undefined && { leaderAgain: this.#leaderAgain }),
      ...(this.#followerAgain !== undefined && { followerAgain: this.#followerAgain }),
    };
  }

  #ask(whom: "leader" | "follower"): void {
    const { message, method, key, patienceMs, kind, backend } = this.#of;
    if (message === undefined) return this.#giveUp();
    this.#context.places.ask({
      ...{ kind, backend },
      start: () => {
        const question = {
          ...{ method, key, patienceMs, message },
          asker: this.#of[whom],
          ignored: method.trial?.ignored,
        };
        new Run(this.#context, question, (result) => {
          if (typeof result === "string") this.#giveUp();
          else {
            if (whom === "leader") this.#leaderAgain = result;
            else this.#followerAgain = result;
            this.go();
          }
          this.#context.places.ended(backend);
        }).start();
      },
      skipped: () => this.#giveUp(),
    });
  }

  #giveUp(): void {
    this.#end(judgeWithoutControl(this.#evidence));
  }

  #end(verdict: Verdict): void {
    this.#of.message?.clear();
    this.#told(verdict);
  }
}
