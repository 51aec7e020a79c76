import { type FlagSpec, type Kind, readFlags } from "../config/mod.ts";
import type { Definition } from "./page.ts";

/** A flag that is given once; the last one counts. */
export interface SingleFlag<T> {
  readonly repeated: false;
  readonly kind: Kind<T>;
  /** Text read when the flag is not given; "" where the kind knows what that means. */
  readonly fallback: string;
  readonly help: string;
}

/** A flag that may be given again and again. */
export interface RepeatedFlag<T> {
  readonly repeated: true;
  readonly kind: Kind<T>;
  readonly help: string;
}

/** The flags of a command by name: `adminPort` is `--admin-port`. */
export type FlagTable = Readonly<Record<string, SingleFlag<unknown> | RepeatedFlag<unknown>>>;

/** What reading a table gives. */
export type FlagValues<F extends FlagTable> = {
  readonly [Name in keyof F]: F[Name] extends RepeatedFlag<infer T> ? readonly T[]
    : F[Name] extends SingleFlag<infer T> ? T
    : never;
};

export function single<T>(kind: Kind<T>, options: { fallback?: string; help: string }) {
  return { repeated: false, kind, fallback: "", ...options } satisfies SingleFlag<T>;
}

export function repeated<T>(kind: Kind<T>, options: { help: string }) {
  return { repeated: true, kind, ...options } satisfies RepeatedFlag<T>;
}

/** Reads the flags of one command; finds every problem in one go. */
export function readFlagTable<F extends FlagTable>(
  args: readonly string[],
  table: F,
): { values: FlagValues<F> } | { problems: readonly string[] } {
  const flags = readFlags(args, Object.entries(table).map(flagSpec));
  const problems = [...flags.problems];
  const entries = Object.entries(table).map(([name, row]) => {
    const given = flags.values.get(flagName(name)) ?? [];
    const texts = row.repeated ? given : [given.at(-1) ?? row.fallback];
    const values = texts.map((text) => {
      const parsed = row.kind.parse(text.trim());
      if ("value" in parsed) return parsed.value;
      problems.push(`Cannot parse ${flagName(name)} "${text}": ${parsed.why}`);
    });
    return [name, row.repeated ? values : values[0]];
  });
  if (problems.length > 0) return { problems };
  // Each value came out of its own row's kind, which is what the type says.
  return { values: Object.fromEntries(entries) as FlagValues<F> };
}

/** The table as help shows it. */
export function flagDefinitions(table: FlagTable): readonly Definition[] {
  return Object.entries(table).map(([name, row]) => {
    const fallback = row.repeated || row.fallback === "" || row.kind.bare ? "" : row.fallback;
    return {
      term: row.kind.bare ? flagName(name) : `${flagName(name)} ${row.kind.placeholder}`,
      meaning: fallback === "" ? row.help : `${row.help} (${fallback})`,
    };
  });
}

function flagSpec([name, { kind }]: [string, FlagTable[string]]): FlagSpec {
  return { flag: flagName(name), bare: kind.bare ?? false, placeholder: kind.placeholder };
}

function flagName(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
