import type { GatheredReply } from "../upstream/mod.ts";
import type { ShadowCall } from "./shadow_call.ts";
import type { TrialContext } from "./trial_context.ts";

/** A call in shadow whose faults, which are ours, cost nobody an answer: it is given up, and that is told. */
export class ContainedCall {
  readonly #observer: TrialContext["observer"];
  #call: ShadowCall | undefined;

  constructor(call: ShadowCall, observer: TrialContext["observer"]) {
    this.#call = call;
    this.#observer = observer;
  }

  grew(reply: GatheredReply): void {
    try {
      this.#call?.grew(reply);
    } catch (error) {
      this.#giveUp(error);
    }
  }

  ended(reply: GatheredReply, backend: string): void {
    try {
      this.#call?.ended(reply, backend);
    } catch (error) {
      this.#giveUp(error);
    }
  }

  left(): void {
    try {
      this.#call?.left();
    } catch (error) {
      this.#giveUp(error);
    }
  }

  #giveUp(error: unknown): void {
    const call = this.#call;
    this.#call = undefined;
    this.#observer.faultOfOurs("looking on at a call in shadow", error);
    try {
      call?.left(); // others may wait for what it would have brought
    } catch (again) {
      this.#observer.faultOfOurs("giving up a call in shadow", again);
    }
  }
}
