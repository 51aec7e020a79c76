import { CROSS_CHECKS } from "./cross_checks.ts";
import { readFlags } from "./flags.ts";
import type { Option } from "./option.ts";
import { flagOf, OPTIONS } from "./options.ts";
import type { Rule } from "./rule.ts";
import type { Settings } from "./settings.ts";
import { unbuiltRules } from "./unbuilt.ts";
import { unknownNames } from "./unknown_names.ts";

/** Where a value is from. */
export type Origin = "default" | "environment" | "flag";

/** What came of reading the configuration. */
export type Reading =
  | {
    readonly settings: Settings;
    readonly warnings: readonly string[];
    /** Variable -> where its value is from. */
    readonly origins: ReadonlyMap<string, Origin>;
  }
  | { readonly problems: readonly string[]; readonly warnings: readonly string[] };

/** The text that speaks for one variable, and where it is from. */
interface Given {
  readonly option: Option;
  readonly origin: Origin;
  readonly text: string;
}

/**
 * Reads every variable and flag, and reports all that is wrong at once.
 *
 * A flag wins over its variable, the last of equal flags over the first. White space
 * around a value is not part of it (files that secrets come from end in a line
 * feed), and an empty value is the same as none, as manifests with templates need.
 *
 * @param get value of an environment variable
 * @param args flags, as on the command line
 * @param names every name in the environment, to find misspelt ones
 */
export function readSettings(
  get: (name: string) => string | undefined,
  args: readonly string[] = [],
  names: readonly string[] = [],
): Reading {
  const flags = readFlags(args, optionFlags());
  const given = OPTIONS.map((option) => giveText(option, get, flags.values));
  const parsed = parseAll(given);
  const problems = [...flags.problems, ...parsed.problems.values()];

  // Settings has a field for each row, of the type that the row's kind reads: the record is complete and right.
  const settings = Object.fromEntries(
    OPTIONS.map(({ env, key }) => [key, parsed.values.get(env)]),
  ) as unknown as Settings;
  problems.push(...brokenRules(settings, given, new Set(parsed.problems.keys())));

  const warnings = unknownNames(names, get);
  if (problems.length > 0) return { problems, warnings };
  const origins = new Map(given.map(({ option, origin }) => [option.env, origin]));
  return { settings, warnings, origins };
}

function optionFlags() {
  return OPTIONS.map(({ env, kind, flagless = false }) => ({
    flag: flagOf(env),
    bare: kind.bare ?? false,
    placeholder: kind.placeholder,
    ...(flagless && { instead: env }),
  }));
}

function giveText(
  option: Option,
  get: (name: string) => string | undefined,
  flags: ReadonlyMap<string, readonly string[]>,
): Given {
  const flag = flags.get(flagOf(option.env))?.at(-1)?.trim();
  const variable = get(option.env)?.trim();
  if (flag) return { option, origin: "flag", text: flag };
  if (variable && flag === undefined) return { option, origin: "environment", text: variable };
  return { option, origin: "default", text: option.fallback };
}

/**
 * Variable -> value, and variable -> problem. One with a problem has its default for a
 * value, so that the rules see complete settings and all that is wrong is said in one go.
 */
function parseAll(given: readonly Given[]) {
  const values = new Map<string, unknown>();
  const problems = new Map<string, string>();
  for (const one of given) {
    const { option: { env, kind, required }, origin, text } = one;
    const parsed = origin === "default" ? undefined : kind.parse(text);
    if (parsed === undefined && required) problems.set(env, missing(env));
    if (parsed !== undefined && "why" in parsed) {
      problems.set(env, `Cannot parse ${quoted(one)}: ${parsed.why}`);
    }
    const isGood = parsed !== undefined && "value" in parsed;
    values.set(env, isGood ? parsed.value : whenUnset(one.option, values));
  }
  return { values, problems };
}

function whenUnset({ kind, fallback, sameAs }: Option, values: ReadonlyMap<string, unknown>) {
  if (sameAs !== undefined) return values.get(sameAs);
  const parsed = kind.parse(fallback);
  return "value" in parsed ? parsed.value : []; // only a list is required: none of it
}

function missing(env: string): string {
  return `Cannot start without ${env}: expected the service to stand beside, ` +
    "such as 127.0.0.1:50051";
}

/** What settings that can be read still must not be; silent about `unread` variables. */
function brokenRules(
  settings: Settings,
  given: readonly Given[],
  unread: ReadonlySet<string>,
): readonly string[] {
  const known = ({ env, beside = env }: Rule) => !unread.has(env) && !unread.has(beside);
  const broken = (rule: Rule) => known(rule) && rule.broken(settings);
  const unbuilt = unbuiltRules().filter(broken);
  const refused = new Set(unbuilt.map(({ env }) => env));
  const crossed = CROSS_CHECKS.filter((rule) => !refused.has(rule.env) && broken(rule));
  return [...unbuilt, ...crossed].map(({ env, why }) => {
    const culprit = given.find(({ option }) => option.env === env);
    return `Cannot use ${culprit === undefined ? env : quoted(culprit)}: ${why}`;
  });
}

/** `NAME "text"` as the user wrote it; a secret's name alone. */
function quoted({ option, origin, text }: Given): string {
  const name = origin === "flag" ? flagOf(option.env) : option.env;
  return option.kind.secret ? name : `${name} "${text}"`;
}
