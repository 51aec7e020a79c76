import type { CollapserPolicy, Mode, Priority } from "../../downstream/mod.ts";
import type { OPTION_TABLE } from "../option_table.ts";
import {
  BYTES,
  FIELD_PATHS,
  GO_TIME,
  METADATA_NAMES,
  share,
  STALE_TIME,
  statuses,
  TRUTH,
  type ValueKind,
  whole,
  word,
} from "./value_kind.ts";

/** The words of `mode`, `priority` and `accessLog`: what heeds them has the same, and this room loads none of it. */
const MODES = ["off", "shadow", "verify", "collapse"] as const satisfies readonly Mode[];
const PRIORITIES = [
  "critical",
  "high",
  "normal",
  "low",
  "background",
] as const satisfies readonly Priority[];
const ACCESS_LOGS = ["off", "errors", "slow", "all"] as const;

/** One key of the `collapser` object: the only place where its name, kind and meaning are written. */
export interface CollapserKey {
  readonly key: string;
  /** The field of a method's policy that the key fills. */
  readonly fills: keyof CollapserPolicy;
  readonly kind: ValueKind<unknown>;
  /** The field of the settings that says the same for all methods. */
  readonly option?: keyof typeof OPTION_TABLE;
  /** What holds where neither the file nor a variable says anything, where there is no variable. */
  readonly fallback?: string;
  /** What the key means, in a line; names of values in backticks. */
  readonly help: string;
  /** Set when this version reads the key and does not heed it. */
  readonly isUnbuilt?: true;
}

/** Every key of an entry's `collapser` object, in the order of the documentation. */
export const COLLAPSER_KEYS: readonly CollapserKey[] = [
  row("mode", "mode", word(MODES), {
    option: "mode",
    help: "`off`, `shadow` (serve everyone apart, count what would have collapsed), `verify` " +
      "(collapse, and compare a sample with a call of its own) or `collapse`; no mode makes a " +
      "method eligible",
  }),
  row("collapse", "collapse", TRUTH, {
    option: "methods",
    help: "whether calls may share an answer, whatever `COLLAPSER_METHODS` says of the method",
  }),
  row("ttl", "cacheDurationMs", GO_TIME, {
    option: "cacheDurationMs",
    help: "how long a good result answers repeats, such as `1.5s`; `0s` keeps nothing",
  }),
  row("staleWhileRevalidate", "staleDurationMs", STALE_TIME, {
    option: "staleDurationMs",
    help: "how long after that it may answer while one call fetches it anew, `1h` at most",
  }),
  row("staleIfError", "staleIfErrorMs", STALE_TIME, {
    option: "staleIfErrorMs",
    help: "how long after that it may answer when the backend cannot, `1h` at most",
  }),
  row("staleIfErrorCodes", "staleIfErrorCodes", statuses(1), {
    fallback: "UNAVAILABLE,DEADLINE_EXCEEDED,RESOURCE_EXHAUSTED",
    help: "statuses, by name or number, for which it may: `UNAVAILABLE`, `DEADLINE_EXCEEDED` and " +
      "`RESOURCE_EXHAUSTED` unless set",
  }),
  row("ttlJitter", "ttlJitter", share(0.5), {
    option: "ttlJitter",
    help: "share by which a time of 1 s or more is shortened at random, 0 to 0.5",
  }),
  row("cacheErrors", "cacheErrors", TRUTH, {
    option: "cacheErrors",
    help: "whether error results are kept too",
  }),
  row("keyHeaders", "keyHeaders", METADATA_NAMES, {
    option: "keyHeaders",
    help: "metadata that alone is part of the key; credentials that are not named are shared over",
  }),
  row("ignoreHeaders", "ignoreHeaders", METADATA_NAMES, {
    option: "ignoreHeaders",
    help: "metadata that is left out of the key beside what always is",
  }),
  row("invalidates", "invalidates", TRUTH, {
    option: "invalidate",
    help: "whether a call of a method that does not collapse makes older results stale; `false` " +
      "for one that changes nothing, such as a chatty watch",
  }),
  row("hitForPass", "hitForPassMs", GO_TIME, {
    option: "hitForPassMs",
    help: "how long a key whose answer was private passes through; `0s` switches it off",
  }),
  row("joinMaxAge", "joinMaxAgeMs", GO_TIME, {
    option: "joinMaxAgeMs",
    help: "a flight older than this takes no more joiners",
  }),
  row("maxFollowers", "maxFollowers", whole(0), {
    option: "maxFollowers",
    help: "callers that wait on one flight; more go through on their own",
  }),
  row("maxMessageBytes", "maxMessageBytes", BYTES, {
    option: "maxMessageBytes",
    help:
      "largest request, and largest reply in all its messages, that is collapsed, in bytes or " +
      "with a unit such as `64KiB`",
  }),
  row("verifyRatio", "verifyRatio", share(1), {
    option: "verifyRatio",
    help: "share of the calls answered with another's answer that `verify` asks for once more",
  }),
  row("ignoreFields", "ignoreFields", FIELD_PATHS, {
    fallback: "none",
    help: "fields of the answer that may differ between answers that say the same: `3.1`, or " +
      "names where descriptors are known",
  }),
  row("priority", "priority", word(PRIORITIES), {
    fallback: "normal",
    isUnbuilt: true,
    help: "which calls are served first where there are too many, `critical` to `background`",
  }),
  row("shared", "shared", TRUTH, {
    fallback: "false",
    isUnbuilt: true,
    help: "whether the method collapses across replicas too, by `COLLAPSER_SHARED_CACHE`",
  }),
  row("accessLog", "accessLog", word(ACCESS_LOGS), {
    fallback: "off",
    isUnbuilt: true,
    help: "which calls the access log has a line of: `off`, `errors`, `slow` or `all`",
  }),
];

/** The rows by key. */
export const COLLAPSER_KEY: ReadonlyMap<string, CollapserKey> = new Map(
  COLLAPSER_KEYS.map((each) => [each.key, each]),
);

function row<Field extends keyof CollapserPolicy>(
  key: string,
  fills: Field,
  kind: ValueKind<NonNullable<CollapserPolicy[Field]>>,
  rest: Pick<CollapserKey, "help" | "option" | "fallback" | "isUnbuilt">,
): CollapserKey {
  // What the kind reads is what it shows: nobody else's value reaches it.
  return { key, fills, kind: kind as unknown as ValueKind<unknown>, ...rest };
}
