import type { IdempotencyLevel } from "../grpc/mod.ts";
import {
  ASKING_VERBS,
  HALF_VERBS,
  NO_QUESTIONS,
  OTHER_METHODS,
  OTHER_NAMES,
  OTHER_WORDS,
  READING_VERBS,
  splitWords,
  STREAM_WORDS,
} from "./method_words.ts";

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

/** What is known of a method beside its name. */
export interface MethodFacts {
  /** What its descriptor says of it, where there is one. */
  readonly level?: IdempotencyLevel | undefined;
  /** Whether the method streams its answers. @default false */
  readonly streams?: boolean;
}

/** Judges a method by its service, its name, and what else is known of it. */
export type Eligibility = (service: string, method: string, facts?: MethodFacts) => Verdict;

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
  return (service, method, { level, streams = false } = {}) => {
    if (neverCollapses(service)) return no("its service is about this moment");
    const exclusion = excluded.find((item) => matches(item, service, method));
    if (exclusion !== undefined) return no(`excluded by !${exclusion}`);
    const inclusion = included.find((item) => matches(item, service, method));
    if (inclusion !== undefined) return yes(`listed as ${inclusion}`);
    if (all) return yes("every method is, by *");
    if (schema) return judgeByDescriptor(level);
    return auto ? judge(service, method, { level, streams }) : no("not listed");
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

/** The descriptor's word goes before the name's; what streams without end is shared by neither. */
function judge(service: string, method: string, { level, streams }: MethodFacts): Verdict {
  const isSilent = level === undefined || level === "unknown";
  const verdict = isSilent ? judgeByName(method, service) : judgeByDescriptor(level);
  if (!verdict.eligible || !streams) return verdict;
  const word = splitWords(method).find((word) => STREAM_WORDS.has(word));
  return word === undefined ? verdict : no(`it streams, and its name holds ${word}`);
}

/**
 * Whether a method that is not eligible asks how something is, by its name: it writes nothing, and what was read stays
 * true. Of one that streams that is not known.
 */
export function onlyAsks(method: string): boolean {
  const [first = "", ...others] = splitWords(method);
  return ASKING_VERBS.has(first) &&
    !others.some((word) => OTHER_WORDS.has(word) || NO_QUESTIONS.has(word));
}

/** Whether no configuration makes the methods of this service collapse. */
export function neverCollapses(service: string): boolean {
  return NEVER_SERVICES.some((never) => never.test(service));
}

/**
 * Judges by the name alone: it must begin with a reading verb as a whole CamelCase word and hold none of the
 * words that hint at more. A run of capitals is one word, and case does not matter; `Set` as the last word is a noun.
 */
export function judgeByName(method: string, service = ""): Verdict {
  if (OTHER_METHODS.has(`/${service}/${method}`)) return no("it is known to be more than a read");
  if (OTHER_NAMES.has(method.toLowerCase())) return no("its name is that of more than a read");
  const all = splitWords(method);
  const [first = "", second = ""] = all;
  const verb = HALF_VERBS.has(first) ? first + second : first;
  if (!READING_VERBS.has(verb)) return no("its name does not begin with a reading verb");
  if (verb === "count" && second === "down") return no("its name holds down");
  const last = all.length - 1;
  const other = all.find((word, i) => OTHER_WORDS.has(word) && !(word === "set" && i === last));
  return other === undefined ? yes(`its name begins with ${verb}`) : no(`its name holds ${other}`);
}

function matches(item: string, service: string, method: string): boolean {
  return item === `/${service}/${method}` || item === `/${service}/*`;
}

function yes(why: string): Verdict {
  return { eligible: true, why };
}

function no(why: string): Verdict {
  return { eligible: false, why };
}
