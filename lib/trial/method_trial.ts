import type { Freshness } from "../freshness/mod.ts";
import type { JoinLimits, Service } from "../collapse/mod.ts";
import type { MethodCounters } from "../observe/mod.ts";
import {
  compileIgnoredFields,
  type IgnoredFields,
  type MessageNames,
  VerifySampler,
} from "../trust/mod.ts";
import type { Target } from "../upstream/mod.ts";

/** Differences of a method that are looked into whatever the backend's share: where sharing is wrong, the first ones show it. */
const FIRST_INQUIRIES = 20;

/** What is in force for a method that is on trial. */
export interface TrialSettings extends Freshness, JoinLimits {
  readonly mode: "off" | "shadow" | "verify" | "collapse";
  readonly maxMessageBytes: number;
  readonly verifyRatio: number;
  readonly ignoreFields: readonly string[];
  readonly inKey: (name: string) => boolean;
}

/** A method as far as a trial goes. */
export type TrialMethod = Target["method"] & {
  readonly settings: TrialSettings;
  readonly scope: Service;
  readonly counters: MethodCounters;
  readonly isConfirmed: boolean;
  /** Undefined for a method that is not on trial. */
  readonly trial: MethodTrial | undefined;
};

/** What a trial has come to for one method, for as long as the method's policy stays as it is. */
export class MethodTrial {
  /** What the policy says, as text: another one is another trial. */
  readonly policy: string;
  sampler: VerifySampler;
  /** The names in which two callers differed whose answers were found to depend on that; undefined while the method is on. */
  off: readonly string[] | undefined = undefined;
  #firstLeft = FIRST_INQUIRIES;
  readonly #settings: TrialSettings;
  #ignored: IgnoredFields | undefined;

  constructor(settings: TrialSettings, policy: string, names?: MessageNames) {
    this.policy = policy;
    this.#settings = settings;
    this.sampler = new VerifySampler(settings.verifyRatio);
    this.#ignored = compileIgnoredFields(settings.ignoreFields, names).ignored;
  }

  get mode(): TrialSettings["mode"] {
    return this.#settings.mode;
  }

  /** Fields that may differ. */
  get ignored(): IgnoredFields | undefined {
    return this.#ignored;
  }

  /** Some of the fields that may differ are told by name. */
  get wantsNames(): boolean {
    return this.#settings.ignoreFields.some((path) => /[^\d.]/.test(path));
  }

  /** The backend has described the method's messages. */
  described(names: MessageNames): void {
    this.#ignored = compileIgnoredFields(this.#settings.ignoreFields, names).ignored;
  }

  /** Whether a difference is among the first ones, whose control calls stand outside the backend's share. */
  takeFirst(): boolean {
    return this.#firstLeft > 0 && this.#firstLeft-- > 0;
  }

  /** Somebody has seen to what made answers differ: the trial begins again. */
  switchOn(): void {
    this.off = undefined;
    this.#firstLeft = FIRST_INQUIRIES;
    this.sampler = new VerifySampler(this.#settings.verifyRatio);
  }
}
