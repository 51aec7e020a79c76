import type { Settings } from "./settings.ts";

/** Something that a complete set of settings must not be. */
export interface Rule {
  /** The variable that the problem is reported under. */
  readonly env: string;
  /** The other variable it looks at: when that one could not be read, nothing can be said. */
  readonly beside?: string;
  readonly broken: (settings: Settings) => boolean;
  /** Follows `Cannot use NAME "text": `. */
  readonly why: string;
}
