import type { CollapserPolicy, NamedPolicy } from "../../downstream/mod.ts";
import { OPTION_TABLE } from "../option_table.ts";
import type { Origin } from "../read_settings.ts";
import type { Settings } from "../settings.ts";
import { COLLAPSER_KEYS, type CollapserKey } from "./collapser_keys.ts";

/** One setting as it holds for a method, and where it is from. */
export interface SettingSource {
  /** The key in the policy file. */
  readonly key: string;
  /** The value, as it could be written. */
  readonly value: string;
  /** Where the value is from: an entry of the policy file, or what the variable is from. */
  readonly from: "policy" | Origin;
  /** Entry of `methodConfig`, from 0, and its line, from 1; null where it is not from there. */
  readonly entry: number | null;
  readonly line: number | null;
  /** The variable that holds where no entry says anything; null where there is none. */
  readonly variable: string | null;
  /** Set when this version reads the setting and does not heed it. */
  readonly isUnbuilt?: true;
}

/** What holds for a method by each key of the `collapser` object, and where it is from. */
export function settingSources(
  held: NamedPolicy | undefined,
  { settings, origins }: { settings: Settings; origins: ReadonlyMap<string, Origin> },
): readonly SettingSource[] {
  const own: CollapserPolicy = held?.collapser ?? {};
  return COLLAPSER_KEYS.map((row) => {
    const { key, fills, kind, option, isUnbuilt } = row;
    const variable = option === undefined ? null : OPTION_TABLE[option].env;
    // A key of its own leaves nothing out that another setting names (see SettingsCompiler).
    const isEmptied = key === "ignoreHeaders" && own.keyHeaders !== undefined;
    const value = own[fills] ?? (isEmptied ? [] : undefined);
    const rest = { key, variable, ...(isUnbuilt && { isUnbuilt }) };
    if (value !== undefined) {
      const { entry = null, line = null } = held!;
      return { ...rest, value: kind.show(value), from: "policy", entry, line };
    }
    const from = variable === null ? "default" : origins.get(variable) ?? "default";
    return { ...rest, value: commonValue(row, settings), from, entry: null, line: null };
  });
}

/** Keys that an entry has, as far as the sidecar heeds them. */
export function keysOf({ collapser = {}, maxConcurrent, timeoutMs }: NamedPolicy): string[] {
  const own = COLLAPSER_KEYS.filter(({ fills }) => collapser[fills] !== undefined);
  return [
    ...own.map(({ key }) => key),
    ...(maxConcurrent === undefined ? [] : ["maxConcurrent"]),
    ...(timeoutMs === undefined ? [] : ["timeout"]),
  ];
}

function commonValue({ option, fallback = "" }: CollapserKey, settings: Settings): string {
  if (option === undefined) return fallback;
  const shown = (OPTION_TABLE[option].kind.show as (value: unknown) => string)(settings[option]);
  if (shown !== "") return shown;
  return option === "keyHeaders" ? "all but those left out" : "none";
}
