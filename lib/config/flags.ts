import { parseArgs } from "node:util";
import { nearest } from "./nearest.ts";

/** A flag that may be given. */
export interface FlagSpec {
  /** The flag with its dashes. */
  readonly flag: string;
  /** Whether the flag alone means "true"; a value then needs `=`. */
  readonly bare: boolean;
  /** What stands for the value in help text. */
  readonly placeholder: string;
  /** A variable that is to be used in its stead: the flag is refused, since `ps` would show a secret to everybody. */
  readonly instead?: string;
}

/** The flags that were given. */
export interface Flags {
  /** Flag with its dashes -> the values given, in order; "true" for a bare one. */
  readonly values: ReadonlyMap<string, readonly string[]>;
  readonly problems: readonly string[];
}

/** Reads `--name value`, `--name=value` and bare booleans; finds every problem in one go. */
export function readFlags(args: readonly string[], specs: readonly FlagSpec[]): Flags {
  const { tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(
      specs.map(({ flag, bare }) => [flag.slice(2), { type: bare ? "boolean" : "string" }]),
    ),
    strict: false,
    tokens: true,
  });
  const values = new Map<string, string[]>();
  const strays: string[] = [];
  const unknown = new Set<string>();
  const problems: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") strays.push(token.value);
    if (token.kind !== "option") continue;
    const spec = specs.find(({ flag }) => flag === token.rawName);
    const value = token.value ?? (spec?.bare ? "true" : undefined);
    if (spec === undefined) {
      unknown.add(args[token.index] ?? token.rawName); // -abc is three tokens, and one mistake
    } else if (spec.instead !== undefined) {
      problems.push(
        `Cannot take ${spec.flag}: everybody on the machine can read flags; ` +
          `set ${spec.instead} or ${spec.instead}_FILE`,
      );
    } else if (value === undefined || isAnotherFlag(value, token.inlineValue)) {
      problems.push(
        `Cannot read ${spec.flag}: expected a value, as in ${spec.flag} ${spec.placeholder}`,
      );
    } else {
      values.set(spec.flag, [...values.get(spec.flag) ?? [], value]);
    }
  }
  for (const arg of unknown) problems.push(unknownFlag(arg, specs));
  // What follows an unknown flag is most likely its value: one mistake, one problem.
  if (unknown.size === 0) {
    problems.push(...strays.map((arg) => `Cannot read "${arg}": expected a flag such as --help`));
  }
  return { values, problems };
}

/** Whether the value that a flag needs is missing, and the next flag was taken for it. */
function isAnotherFlag(value: string, inlineValue: boolean | undefined): boolean {
  return inlineValue !== true && value.startsWith("--");
}

function unknownFlag(arg: string, specs: readonly FlagSpec[]): string {
  const written = arg.replace(/=.*$/s, "");
  const { word } = nearest(`--${written.replace(/^-+/, "")}`, [
    "--help",
    ...specs.map((s) => s.flag),
  ]);
  return `Cannot read ${written}: no such flag; the nearest is ${word}`;
}
