import type { IdempotencyLevel } from "../grpc/mod.ts";

/** Words that a method which only reads begins with, as whole CamelCase words. */
const READING_VERBS = words(
  "Get List Search Read Lookup Find Query Describe Count Has Is Exists",
);

/** Words that hint at more than reading, or at an answer meant for one caller. */
const OTHER_WORDS = words(
  "And Or Then Next New Create Insert Add Append Update Upsert Set Put Write Modify Mutate Patch Delete Remove Reset " +
    "Increment Pop Take Claim Lease Lock Acquire Reserve Consume Ack Send Start Begin Register Generate Nonce Random Token " +
    "Ticket Session Secret Code Otp Challenge Upload",
);

/**
 * Services whose answers are about this moment, or whose calls are conversations: never shared, whatever the
 * configuration.
 */
const NEVER_SERVICES = [/^grpc\.health\./, /^grpc\.reflection\./];

/** Whether calls of a method may share an answer, and why, in words for the log and for people. */
export interface Verdict {
  readonly eligible: boolean;
  readonly why: string;
}

/** Judges a method by its service, its name, and what its descriptor says, where there is one. */
export type Eligibility = (service: string, method: string, level?: IdempotencyLevel) => Verdict;

/**
 * Compiles COLLAPSER_METHODS: `auto`, `schema`, `*`, `/pkg.Service/Method`, `/pkg.Service/*`, each of the latter with `!` in
 * front to exclude, which wins over anything that includes.
 */
export function compileEligibility(items: readonly string[]): Eligibility {
  const excluded = items.filter((item) => item.startsWith("!")).map((item) => item.slice(1));
  const included = items.filter((item) => item.startsWith("/"));
  const all = items.includes("*");
  const auto = items.includes("auto");
  const schema = items.includes("schema");
  return (service, method, level) => {
    if (neverCollapses(service)) return no("its service is about this moment");
    const exclusion = excluded.find((item) => matches(item, service, method));
    if (exclusion !== undefined) return no(`excluded by !${exclusion}`);
    const inclusion = included.find((item) => matches(item, service, method));
    if (inclusion !== undefined) return yes(`listed as ${inclusion}`);
    if (all) return yes("every method is, by *");
    if (schema) return judgeByDescriptor(level);
    return auto ? judgeByBoth(method, level) : no("not listed");
  };
}

/** Whether what the backend's descriptors say makes a difference to COLLAPSER_METHODS. */
export function heedsDescriptors(items: readonly string[]): boolean {
  return items.includes("auto") || items.includes("schema");
}

function judgeByDescriptor(level: IdempotencyLevel | undefined): Verdict {
  switch (level) {
    case undefined:
      return no("the backend does not describe it");
    case "no_side_effects":
      return yes("its descriptor says NO_SIDE_EFFECTS");
    case "idempotent":
      return no("its descriptor says IDEMPOTENT, which may change something");
    case "unknown":
      return no("its descriptor does not say NO_SIDE_EFFECTS");
  }
}

/** The descriptor's word goes before the name's. */
function judgeByBoth(method: string, level: IdempotencyLevel | undefined): Verdict {
  const isSilent = level === undefined || level === "unknown";
  return isSilent ? judgeByName(method) : judgeByDescriptor(level);
}

/** Whether no configuration makes the methods of this service collapse. */
export function neverCollapses(service: string): boolean {
  return NEVER_SERVICES.some((never) => never.test(service));
}

/**
 * Judges by the name alone: it must begin with a reading verb as a whole CamelCase word and hold none of the
 * words that hint at more. A run of capitals is one word, and case does not matter.
 */
export function judgeByName(method: string): Verdict {
  const [first = "", second = ""] = splitWords(method);
  const verb = first === "batch" && second === "get" ? "batchget" : first;
  if (verb !== "batchget" && !READING_VERBS.has(verb)) {
    return no("its name does not begin with a reading verb");
  }
  const other = splitWords(method).find((word) => OTHER_WORDS.has(word));
  return other === undefined ? yes(`its name begins with ${verb}`) : no(`its name holds ${other}`);
}

function matches(item: string, service: string, method: string): boolean {
  return item === `/${service}/${method}` || item === `/${service}/*`;
}

function splitWords(name: string): string[] {
  return (name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? []).map((word) => word.toLowerCase());
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.toLowerCase().split(" "));
}

function yes(why: string): Verdict {
  return { eligible: true, why };
}

function no(why: string): Verdict {
  return { eligible: false, why };
}
