import type { Option } from "./option.ts";
import { OPTION_TABLE } from "./option_table.ts";
import type { Settings } from "./settings.ts";

/** A row of the table with the field of the settings that it fills. */
interface KeyedOption extends Option {
  readonly key: keyof Settings;
}

/** Every variable, in the order of the documentation. */
export const OPTIONS: readonly KeyedOption[] = Object.entries(OPTION_TABLE)
  .map(([key, row]) => ({ ...row, key: key as keyof Settings }));

/** `--backend-address` for BACKEND_ADDRESS. */
export function flagOf(env: string): string {
  return `--${env.toLowerCase().replaceAll("_", "-")}`;
}

/** The row of one variable. Throws for a name that is not in the table. */
export function optionFor(env: string): Option {
  const found = OPTIONS.find((row) => row.env === env);
  if (found === undefined) throw new TypeError(`Cannot find variable "${env}" in the option table`);
  return found;
}
