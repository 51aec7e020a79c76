import type { Kind } from "./kinds/kind.ts";

/** Parts of the help text, in its order. */
export const GROUPS = ["listen", "backend", "collapsing", "key", "lifetime", "logging"] as const;
export type Group = typeof GROUPS[number];

/** One variable: the only place where its name, default, meaning and kind are written. */
export interface Option<Value = unknown> {
  readonly env: string;
  readonly group: Group;
  readonly kind: Kind<Value>;
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

/** A row of the option table. */
export function option<Value>(
  env: string,
  kind: Kind<Value>,
  rest: Omit<Option, "env" | "kind" | "fallback"> & { fallback?: string },
): Option<Value> {
  return { env, kind, fallback: "", ...rest };
}
