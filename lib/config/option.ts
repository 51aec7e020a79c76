import type { Kind } from "./kinds/kind.ts";

/** Parts of the help text, in its order. */
export const GROUPS = ["listen", "backend", "collapsing", "key", "lifetime", "logging"] as const;
export type Group = typeof GROUPS[number];

/** One variable: the only place where its name, default, meaning and kind are written. `Value` is what is read from it. */
export interface Option<Value = unknown> {
  readonly env: string;
  readonly group: Group;
  readonly kind: Kind<Value>;
  /** Text that is read when nothing was given; "" for what is then unset. */
  readonly fallback: string;
  /** True when nothing starts without the variable: there is no default. */
  readonly required?: true;
  /** Another variable, whose value counts when nothing was given. */
  readonly sameAs?: string;
  /** True for a secret: there is no flag, since `ps` shows flags to everybody on the machine. */
  readonly flagless?: true;
  /** True when the Go original has the variable too, under this name. */
  readonly original?: true;
  /** What the variable means, in one line; names of values in backticks. */
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
