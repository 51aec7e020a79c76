import type { Kind } from "./kinds/kind.ts";
import type { Settings } from "./settings.ts";

/** Parts of the help text, in its order. */
export const GROUPS = ["listen", "backend", "collapsing", "key", "lifetime", "logging"] as const;
export type Group = typeof GROUPS[number];

/** One variable: the only place where its name, default, meaning and kind are written. */
export interface Option {
  readonly env: string;
  readonly key: keyof Settings;
  readonly group: Group;
  readonly kind: Kind<unknown>;
  /** Read when nothing was given; "" for what is then unset. */
  readonly fallback: string;
  /** There is no default: nothing starts without it. */
  readonly required?: true;
  /** When nothing was given, the value of this other variable. */
  readonly sameAs?: string;
  /** The Go original has it too, under this name. */
  readonly original?: true;
  /** One line; names of values in backticks. */
  readonly help: string;
}

/** Ties a key to a kind of its type; past this point the table need not know the types. */
export function option<K extends keyof Settings>(
  env: string,
  key: K,
  kind: Kind<Settings[K]>,
  rest: Omit<Option, "env" | "key" | "kind" | "fallback"> & { fallback?: string },
): Option {
  return { env, key, kind, fallback: "", ...rest };
}
