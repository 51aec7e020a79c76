import type { Group } from "./option.ts";
import { OPTIONS } from "./options.ts";
import type { Settings } from "./settings.ts";

/** One setting as people read it. */
export interface SettingLine {
  /** Name of the variable. */
  readonly name: string;
  readonly group: Group;
  /** The value as it could be written in the environment; secrets masked; "" when unset. */
  readonly value: string;
}

/** Every setting that is in force, in the order of the documentation. Shows no secret. */
export function describeSettings(settings: Settings): readonly SettingLine[] {
  return OPTIONS.map(({ env, group, key, kind }) => ({
    name: env,
    group,
    value: kind.show(settings[key]),
  }));
}

/** How methods that collapse are told from others, in a sentence or two. */
export function describeMethods({ mode, methods }: Settings): string {
  if (mode === "off") return "No method collapses: COLLAPSER_MODE is off.";
  const [base, ...exclusions] = methods;
  const except = exclusions.length === 0
    ? ""
    : ` Never ${exclusions.map((entry) => entry.slice(1)).join(", ")}.`;
  switch (base) {
    case "*":
      return `Every method collapses, whatever it does.${except}`;
    case "schema":
      return "A method collapses when its descriptor, which the backend's server reflection " +
        `gives, says idempotency_level = NO_SIDE_EFFECTS, and no other does.${except}`;
    case "auto":
      return "A method collapses when its descriptor, which the backend's server reflection " +
        "gives, says idempotency_level = NO_SIDE_EFFECTS. Where there is none, or it says " +
        "nothing, the name decides: it must begin with a reading verb as a whole word (Get, " +
        "List, Search, Count, Is, ...) and hold no word that hints at more than reading or at an " +
        "answer meant for one caller (Create, Next, Lock, Token, ...): GetItem collapses, " +
        `GetNextJob does not.${except}`;
    default:
      return `These methods collapse, and no other: ${methods.join(", ")}.`;
  }
}
