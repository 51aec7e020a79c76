import type { Settings } from "./settings.ts";

/** Something that a complete set of settings must not be. */
export interface Rule {
  /** Variable that the problem is reported under. */
  readonly env: string;
  /** Another variable that the rule looks at: when that one could not be read, nothing can be said. */
  readonly beside?: string;
  /** Whether settings are what they must not be. */
  readonly broken: (settings: Settings) => boolean;
  /** The reason, and what was expected; follows `Cannot use NAME "text": `. */
  readonly why: string;
}
