import type { NamedPolicy } from "../downstream/mod.ts";
import { DURATION } from "./kinds/duration.ts";
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

const COLLAPSER_KEYS = ["collapse", "ttl"];
const NAME_KEYS = ["service", "method"];

type Json = Readonly<Record<string, unknown>>;

/**
 * Reads a policy file: JSON in the `methodConfig` form of the gRPC service config (doc/service_config.md), with two keys
 * of ours: `maxConcurrent`, and `collapser` with `collapse` and `ttl`. All that is wrong is said at once.
 *
 * `{ "methodConfig": [{ "name": [{ "service": "pkg.S", "method": "M" }], "maxConcurrent": 10, "collapser": { "ttl": "1s" } }] }`
 */
export function parsePolicy(text: string): PolicyReading {
  let root: unknown;
  try {
    root = JSON.parse(text);
  } catch (error) {
    return { problems: [`expected JSON: ${error instanceof Error ? error.message : error}`] };
  }
  const reader = new Reader();
  reader.read(root);
  if (reader.problems.length > 0) return { problems: reader.problems };
  return { policies: reader.policies, ignored: [...reader.ignored] };
}

class Reader {
  readonly problems: string[] = [];
  readonly policies: NamedPolicy[] = [];
  readonly ignored = new Set<string>();

  read(root: unknown): void {
    if (!isObject(root)) return this.#expected("the file", "an object with methodConfig");
    this.#knows(root, "the file", ["methodConfig"], ["loadBalancingConfig", "loadBalancingPolicy"]);
    const { methodConfig = [] } = root;
    if (!Array.isArray(methodConfig)) return this.#expected("methodConfig", "a list");
    methodConfig.forEach((entry, i) => this.#entry(entry, `methodConfig[${i}]`));
    this.#refuseTwice();
  }

  #entry(entry: unknown, at: string): void {
    if (!isObject(entry)) return this.#expected(at, "an object");
    this.#knows(entry, at, ENTRY_KEYS, CLIENT_KEYS);
    const { name, maxConcurrent, collapser = {} } = entry;
    if (!Array.isArray(name) || name.length === 0) {
      return this.#expected(`${at}.name`, `a list such as [{ "service": "pkg.S" }]`);
    }
    if (maxConcurrent !== undefined && !isCount(maxConcurrent)) {
      return this.#expected(`${at}.maxConcurrent`, "a whole number above 0");
    }
    if (!isObject(collapser)) return this.#expected(`${at}.collapser`, "an object");
    const settings = this.#collapser(collapser, `${at}.collapser`);
    const limit = maxConcurrent === undefined ? {} : { maxConcurrent };
    for (const [i, one] of name.entries()) {
      const named = this.#name(one, `${at}.name[${i}]`);
      if (named !== undefined) this.policies.push({ ...named, ...settings, ...limit });
    }
  }

  #collapser(found: Json, at: string): Pick<NamedPolicy, "collapse" | "cacheDurationMs"> {
    this.#knows(found, at, COLLAPSER_KEYS, []);
    const { collapse, ttl } = found;
    if (collapse !== undefined && typeof collapse !== "boolean") {
      this.#expected(`${at}.collapse`, "true or false");
    }
    const parsed = typeof ttl === "string" ? DURATION.parse(ttl) : undefined;
    const cacheDurationMs = parsed !== undefined && "value" in parsed ? parsed.value : undefined;
    if (ttl !== undefined && cacheDurationMs === undefined) {
      this.#expected(`${at}.ttl`, `a duration such as "100ms"`);
    }
    return {
      ...(typeof collapse === "boolean" ? { collapse } : {}),
      ...(cacheDurationMs === undefined ? {} : { cacheDurationMs }),
    };
  }

  #name(found: unknown, at: string): { service: string; method: string } | undefined {
    if (!isObject(found)) return this.#expected(at, `an object such as { "service": "pkg.S" }`);
    this.#knows(found, at, NAME_KEYS, []);
    const { service = "", method = "" } = found;
    if (typeof service !== "string" || typeof method !== "string") {
      return this.#expected(at, "texts for service and method");
    }
    if (service === "" && method !== "") {
      return this.#expected(at, "a service beside the method");
    }
    return { service, method };
  }

  /** A name may stand in one entry only, as in gRPC's own. */
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

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}
