import type { Rule } from "./rule.ts";
import type { Settings } from "./settings.ts";

/**
 * A part of the option table that this version cannot do yet. Whoever asks for it
 * is told so and nothing starts: ignoring it would be a promise broken in silence.
 */
export interface Unbuilt {
  readonly env: string;
  /** Values that are missing, as the documentation shows them; all when left out. */
  readonly values?: string;
  readonly asks: (settings: Settings) => boolean;
  readonly instead: string;
}

const LEAVE_UNSET = "leave it unset";

/** What is missing, one row per feature; a row goes when its feature comes. */
export const UNBUILT: readonly Unbuilt[] = [
  whole("COLLAPSER_SHARED_CACHE", "sharedCacheUrl"),
];

/** {@linkcode UNBUILT} as rules that settings can break. */
export function unbuiltRules(): readonly Rule[] {
  return UNBUILT.map(({ env, asks, instead }) => ({
    env,
    broken: asks,
    why: `this version does not have it yet; ${instead}`,
  }));
}

/** "(not yet)" for a variable's meaning, with the values it is about; "" when all is built. */
export function notYet(env: string): string {
  const row = UNBUILT.find((unbuilt) => unbuilt.env === env);
  if (row === undefined) return "";
  return row.values === undefined ? "(not yet)" : `(not yet: ${row.values})`;
}

function whole(env: string, key: keyof Settings): Unbuilt {
  return { env, asks: (settings) => settings[key] !== undefined, instead: LEAVE_UNSET };
}
