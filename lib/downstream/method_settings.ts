import { compileKeyPolicy, type JoinLimits, type KeyPolicy } from "../collapse/mod.ts";
import { type Freshness, freshnessOf } from "../freshness/mod.ts";
import type { Mode } from "./method_policy.ts";
import { type MethodPolicy, NO_POLICY } from "./policy_index.ts";

/** How far calls that may have changed something reach (COLLAPSER_INVALIDATE). */
export type Invalidate = "service" | "package" | "backend" | "off";

/** What holds for all methods whose policy says nothing else. */
export interface CommonSettings extends Freshness, JoinLimits, KeyPolicy {
  /** How far answers are shared (COLLAPSER_MODE). */
  readonly mode: Mode;
  /** Largest request message, and largest reply in all, that is shared (COLLAPSER_MAX_MESSAGE_BYTES). */
  readonly maxMessageBytes: number;
  readonly invalidate: Invalidate;
  /** Share of the calls answered with another's answer that is asked for once more (COLLAPSER_VERIFY_RATIO). */
  readonly verifyRatio: number;
}

/** What holds for one method: what its policy says, else what holds for all. */
export interface MethodSettings extends Freshness, JoinLimits {
  readonly mode: Mode;
  readonly maxMessageBytes: number;
  readonly verifyRatio: number;
  /** Fields that may differ between answers that say the same. */
  readonly ignoreFields: readonly string[];
  /** What the backend of a shared call is told at most, in ms; undefined where the callers' time decides. */
  readonly timeoutMs: number | undefined;
  /** Whether an answer to a call that is not shared makes older results stale; undefined where the name decides. */
  readonly invalidates: boolean | undefined;
  /** Whether metadata of a name is part of the key. */
  readonly inKey: (name: string) => boolean;
  /** The key may hold metadata that is left out of the lists that calls have in common. */
  readonly readsPerCall: boolean;
}

/** Works out what holds for methods, from what holds for all of them. */
export class SettingsCompiler {
  /** What holds where no policy says anything. */
  readonly common: MethodSettings;
  readonly invalidate: Invalidate;
  readonly #all: CommonSettings;
  readonly #routingHeader: string | undefined;

  /** Values of `routingHeader` are always told apart, since they decide which backend answers. */
  constructor(all: CommonSettings, routingHeader?: string) {
    this.#all = all;
    this.invalidate = all.invalidate;
    this.#routingHeader = routingHeader;
    this.common = this.#compile(NO_POLICY);
  }

  of(policy: MethodPolicy): MethodSettings {
    return policy === NO_POLICY ? this.common : this.#compile(policy);
  }

  #compile(policy: MethodPolicy): MethodSettings {
    const all = this.#all;
    const { keyHeaders, ignoreHeaders } = policy;
    const key = {
      keyHeaders: keyHeaders ?? all.keyHeaders,
      // Names that a method's own key is made of are not left out for what holds elsewhere.
      ignoreHeaders: ignoreHeaders ?? (keyHeaders === undefined ? all.ignoreHeaders : []),
    };
    return {
      ...freshnessOf(policy, all),
      joinMaxAgeMs: policy.joinMaxAgeMs ?? all.joinMaxAgeMs,
      maxFollowers: policy.maxFollowers ?? all.maxFollowers,
      mode: policy.mode ?? all.mode,
      maxMessageBytes: policy.maxMessageBytes ?? all.maxMessageBytes,
      verifyRatio: policy.verifyRatio ?? all.verifyRatio,
      ignoreFields: policy.ignoreFields ?? [],
      timeoutMs: policy.timeoutMs,
      invalidates: policy.invalidates ?? (all.invalidate === "off" ? false : undefined),
      inKey: compileKeyPolicy(key, this.#routingHeader),
      readsPerCall: keyHeaders !== undefined || ignoreHeaders !== undefined,
    };
  }
}
