import type { Option } from "./option.ts";
import type { OPTION_TABLE } from "./option_table.ts";

/**
 * What every other room is told: one flat record, complete and checked, with a field for each row of the option table,
 * of the type that the row's kind reads. A field that may be unset is there and `undefined`.
 */
export type Settings = {
  readonly [Key in keyof typeof OPTION_TABLE]: ValueOf<typeof OPTION_TABLE[Key]>;
};

type ValueOf<Row> = Row extends Option<infer Value> ? Value : never;
