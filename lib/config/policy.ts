import type { CollapserPolicy, NamedPolicy } from "../downstream/mod.ts";
import { DURATION, STALE_DURATION } from "./kinds/duration.ts";
import type { Kind, Parsed } from "./kinds/kind.ts";
import { HALF_RATIO } from "./kinds/number.ts";
import { nearest } from "./nearest.ts";

/** What came of reading a policy file: what it says of methods and which keys were left to clients, or all that is wrong. */
export type PolicyReading =
  | { readonly policies: readonly NamedPolicy[]; readonly ignored: readonly string[] }
  | { readonly problems: readonly string[] };

/** Keys of an entry that are read. */
const ENTRY_KEYS = ["name", "maxConcurrent", "collapser"];

/** Keys of gRPC's own service config that are a client's business: known, and left to it. */
const CLIENT_KEYS = [
  "timeout",
  "waitForReady",
  "retryPolicy",
  "hedgingPolicy",
  "maxRequestMessageBytes",
  "maxResponseMessageBytes",
];

/** Keys of the file as a whole that are a client's business. */
const CLIENT_ROOT_KEYS = [
  "loadBalancingConfig",
  "loadBalancingPolicy",
  "retryThrottling",
  "healthCheckConfig",
];

/** Keys of the entry's own object, and the field of a method's policy that each fills. */
const COLLAPSER_FIELDS: readonly CollapserField[] = [
  flag("collapse", "collapse"),
  field("ttl", "cacheDurationMs", DURATION),
  field("staleWhileRevalidate", "staleDurationMs", STALE_DURATION),
  field("staleIfError", "staleIfErrorMs", STALE_DURATION),
  field("hitForPass", "hitForPassMs", DURATION),
  share("ttlJitter", "ttlJitter", HALF_RATIO),
  flag("cacheErrors", "cacheErrors"),
];

/** Longest file that is read: ten thousand entries of a hundred characters. */
const MAX_CHARACTERS = 2 ** 20;

/** Problems that are told at once; a file of ten thousand wrong entries is wrong in a few ways. */
const MAX_PROBLEMS = 20;

const NAME_KEYS = ["service", "method"];

type Json = Readonly<Record<string, unknown>>;

/**
 * Reads a policy file: JSON in the `methodConfig` form of the gRPC service config (doc/service_config.md), with two keys
 * of ours: `maxConcurrent`, and `collapser` with {@linkcode COLLAPSER_FIELDS}. All that is wrong is said at once.
 *
 * `{ "methodConfig": [{ "name": [{ "service": "pkg.S", "method": "M" }], "maxConcurrent": 10, "collapser": { "ttl": "1s" } }] }`
 */
export function parsePolicy(text: string): PolicyReading {
  if (text.length > MAX_CHARACTERS) {
    return { problems: [`expected ${MAX_CHARACTERS} characters at most, not ${text.length}`] };
  }
  let root: unknown;
  try {
    root = JSON.parse(text);
  } catch (error) {
    return { problems: [`expected JSON: ${error instanceof Error ? error.message : error}`] };
  }
  const reader = new Reader();
  reader.read(root);
  const { problems } = reader;
  if (problems.length > MAX_PROBLEMS) {
    const more = `and ${problems.length - MAX_PROBLEMS} problems more`;
    return { problems: [...problems.slice(0, MAX_PROBLEMS), more] };
  }
  if (problems.length > 0) return { problems };
  return { policies: reader.policies, ignored: [...reader.ignored] };
}

class Reader {
  readonly problems: string[] = [];
  readonly policies: NamedPolicy[] = [];
  readonly ignored = new Set<string>();

  read(root: unknown): void {
    if (!isObject(root)) return this.#expected("the file", "an object with methodConfig");
    this.#knows(root, "the file", ["methodConfig"], CLIENT_ROOT_KEYS);
    const { methodConfig = [] } = root;
    if (!Array.isArray(methodConfig)) return this.#expected("methodConfig", "a list");
    methodConfig.forEach((entry, i) => this.#entry(entry, `methodConfig[${i}]`));
    this.#refuseTwice();
  }

  #entry(entry: unknown, at: string): void {
    if (!isObject(entry)) return this.#expected(at, "an object");
    this.#knows(entry, at, ENTRY_KEYS, CLIENT_KEYS);
    const { name = [], maxConcurrent, collapser } = entry;
    if (!Array.isArray(name)) {
      return this.#expected(`${at}.name`, `a list such as [{ "service": "pkg.S" }]`);
    }
    if (maxConcurrent !== undefined && !isCount(maxConcurrent)) {
      return this.#expected(`${at}.maxConcurrent`, "a whole number above 0");
    }
    if (collapser !== undefined && !isObject(collapser)) {
      return this.#expected(`${at}.collapser`, "an object");
    }
    const policy = {
      ...(collapser !== undefined && { collapser: this.#collapser(collapser, `${at}.collapser`) }),
      ...(maxConcurrent !== undefined && { maxConcurrent }),
    };
    const isUsed = Object.keys(policy).length > 0; // else it is a client's, whatever it names
    for (const [i, one] of name.entries()) {
      const named = this.#name(one, `${at}.name[${i}]`);
      if (named !== undefined && isUsed) this.policies.push({ ...named, ...policy });
    }
  }

  #collapser(found: Json, at: string): CollapserPolicy {
    this.#knows(found, at, COLLAPSER_FIELDS.map(({ key }) => key), []);
    const policy: Record<string, unknown> = {};
    for (const { key, fills, read, expected } of COLLAPSER_FIELDS) {
      if (found[key] === undefined) continue;
      const value = read(found[key]);
      if (value === undefined) this.#expected(`${at}.${key}`, expected);
      else policy[fills] = value;
    }
    return policy; // each field fills one of its own type
  }

  #name(found: unknown, at: string): { service: string; method: string } | undefined {
    if (!isObject(found)) return this.#expected(at, `an object such as { "service": "pkg.S" }`);
    this.#knows(found, at, NAME_KEYS, []);
    const service = found.service ?? ""; // null is as good as absent, as in protobuf's JSON
    const method = found.method ?? "";
    if (typeof service !== "string" || typeof method !== "string") {
      return this.#expected(at, "texts for service and method");
    }
    if (service === "" && method !== "") {
      return this.#expected(at, "a service beside the method");
    }
    return { service, method };
  }

  /** A name may stand in one entry only, as in gRPC's own, of those that say something to the sidecar. */
  #refuseTwice(): void {
    const seen = new Set<string>();
    for (const { service, method } of this.policies) {
      const name = `${service}/${method}`;
      if (seen.has(name)) this.problems.push(`"${name}" stands in it twice`);
      seen.add(name);
    }
  }

  #knows(found: Json, at: string, ours: readonly string[], others: readonly string[]): void {
    for (const key of Object.keys(found)) {
      if (others.includes(key)) this.ignored.add(key);
      else if (!ours.includes(key)) {
        this.problems.push(`${at} has no key "${key}"; the nearest is ${nearest(key, ours).word}`);
      }
    }
  }

  #expected(at: string, what: string): undefined {
    this.problems.push(`${at}: expected ${what}`);
  }
}

/** A key of the entry's own object. */
interface CollapserField {
  readonly key: string;
  readonly fills: keyof CollapserPolicy;
  /** The value, or undefined for one that is none. */
  readonly read: (found: unknown) => unknown;
  readonly expected: string;
}

function flag(key: string, fills: keyof CollapserPolicy): CollapserField {
  const read = (found: unknown) => typeof found === "boolean" ? found : undefined;
  return { key, fills, read, expected: "true or false" };
}

function field(key: string, fills: keyof CollapserPolicy, kind: Kind<number>): CollapserField {
  const read = (found: unknown) =>
    typeof found === "string" ? valueOf(kind.parse(found)) : undefined;
  const bound = kind === STALE_DURATION ? ", 1h at most" : "";
  return { key, fills, read, expected: `a duration such as "100ms"${bound}` };
}

function share(key: string, fills: keyof CollapserPolicy, kind: Kind<number>): CollapserField {
  const read = (found: unknown) =>
    typeof found === "number" ? valueOf(kind.parse(String(found))) : undefined;
  return { key, fills, read, expected: "a share from 0 to 0.5, such as 0.1" };
}

function valueOf<T>(parsed: Parsed<T>): T | undefined {
  return "value" in parsed ? parsed.value : undefined;
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}
