import { type MessageDescriptors, messagesIn, splitMethod } from "../grpc/mod.ts";
import type { MessageNames } from "../trust/mod.ts";
import { MethodTrial, type TrialSettings } from "./method_trial.ts";

/** Methods whose trials are remembered: as many as the proxy knows of methods. Beyond it the oldest begins again. */
const MAX_TRIALS = 10_000;

/** Services whose messages are remembered, since fields that may differ are told by name; more is a policy file's fault. */
const MAX_DESCRIBED = 100;

/** The trials of all methods by path: they outlive a reload of a policy file that leaves their methods as they are. */
export class MethodTrials {
  readonly #trials = new Map<string, MethodTrial>();
  readonly #described = new Map<string, MessageDescriptors>();

  /** The trial of a method; undefined for one that is on none. */
  of(path: string, settings: TrialSettings, policy: unknown): MethodTrial | undefined {
    if (settings.mode !== "shadow" && settings.mode !== "verify") return undefined;
    const text = JSON.stringify([settings.mode, settings.verifyRatio, policy]);
    const known = this.#trials.get(path);
    if (known?.policy === text) return known;
    const made = new MethodTrial(settings, text, this.#namesOf(path));
    this.#trials.delete(path);
    if (this.#trials.size >= MAX_TRIALS) this.#trials.delete(this.#trials.keys().next().value!);
    this.#trials.set(path, made);
    return made;
  }

  /** Whether somebody wants to know the messages of a service. */
  wantsNames(service: string): boolean {
    for (const [path, trial] of this.#trials) {
      if (trial.wantsNames && splitMethod(path)?.service === service) return true;
    }
    return false;
  }

  /** The backend has described a service, by a ServerReflectionResponse. */
  described(service: string, response: Uint8Array): void {
    if (!this.wantsNames(service)) return;
    if (this.#described.size >= MAX_DESCRIBED) this.#described.clear();
    this.#described.set(service, messagesIn(response));
    for (const [path, trial] of this.#trials) {
      const names = trial.wantsNames ? this.#namesOf(path) : undefined;
      if (names !== undefined) trial.described(names);
    }
  }

  /** The methods that were taken out, with the names of metadata in which callers differed. */
  *off(): Generator<readonly [path: string, names: readonly string[]]> {
    for (const [path, { off }] of this.#trials) if (off !== undefined) yield [path, off];
  }

  /** The methods that verify may take out, and whether it has. */
  *verified(): Generator<readonly [path: string, isOff: boolean]> {
    for (const [path, { mode, off }] of this.#trials) {
      if (mode === "verify") yield [path, off !== undefined];
    }
  }

  /** Puts a method back on trial; false when it was not taken out. */
  switchOn(path: string): boolean {
    const trial = this.#trials.get(path);
    if (trial?.off === undefined) return false;
    trial.switchOn();
    return true;
  }

  #namesOf(path: string): MessageNames | undefined {
    const { service = "" } = splitMethod(path) ?? {};
    const described = this.#described.get(service);
    const answer = described?.answers.get(path);
    if (described === undefined || answer === undefined) return undefined;
    return { answer, fieldOf: (message, name) => described.messages.get(message)?.get(name) };
  }
}
