import {
  DURATION,
  keysOf,
  type Origin,
  type Settings,
  type SettingSource,
  settingSources,
} from "../config/mod.ts";
import type { KeyReason, MethodExplanation } from "../proxy/mod.ts";
import { respondJson, respondText } from "./responses.ts";
import type { Site } from "./site.ts";

/** How one method is judged, what holds for its calls, and where each of that is from: what `collapser explain` prints. */
export interface Explanation {
  /** The path of the method. */
  readonly method: string;
  /** Whether its calls may share an answer, and why. */
  readonly collapses: boolean;
  readonly why: string;
  /** Metadata in which callers differed when it was taken out for that; null when it was not. */
  readonly takenOutFor: readonly string[] | null;
  readonly settings: readonly SettingSource[];
  /** The entries that name it, the closest first. */
  readonly entries: readonly ExplainedEntry[];
  readonly key: {
    /** What is in every key. */
    readonly parts: readonly string[];
    /** Metadata that was asked about. */
    readonly metadata: readonly {
      readonly name: string;
      readonly inKey: boolean;
      readonly why: string;
    }[];
  };
}

/** An entry of the policy file that names a method. */
export interface ExplainedEntry {
  readonly entry: number;
  readonly line: number;
  /** The name by which it does: a method's, a service's, or "all services". */
  readonly name: string;
  /** Keys of the entry that hold for the method, and those that a closer entry hides. */
  readonly holds: readonly string[];
  readonly hidden: readonly string[];
}

/** Parts of every key beside metadata, in their order. */
const KEY_PARTS = [
  "path",
  "authority",
  "content-type",
  "message encoding",
  "accepted encodings, as a set",
  "the caller's certificate, with mTLS",
  "message bytes",
];

/** Metadata names that are explained at once; a request has far fewer. */
const MAX_NAMES = 100;

/** Puts together what the data plane and the configuration know of a method. */
export function explanationOf(
  { path, verdict, holding, matching, names, off }: MethodExplanation,
  configuration: { settings: Settings; origins: ReadonlyMap<string, Origin> },
): Explanation {
  const settings = [...settingSources(holding.collapser, configuration)];
  for (
    const [key, held] of [["maxConcurrent", holding.maxConcurrent], [
      "timeout",
      holding.timeout,
    ]] as const
  ) {
    const { maxConcurrent, timeoutMs, entry = null, line = null } = held ?? {};
    const value = key === "timeout" ? timeoutMs : maxConcurrent;
    settings.push({
      key,
      value: value === undefined
        ? "none"
        : key === "timeout"
        ? DURATION.show(value)
        : String(value),
      ...{ from: held === undefined ? "default" : "policy", entry, line, variable: null },
    });
  }
  const holders = new Map([
    ["maxConcurrent", holding.maxConcurrent],
    ["timeout", holding.timeout],
  ]);
  const entries = matching.map((each) => {
    const { entry = 0, line = 0, service, method } = each;
    const keys = keysOf(each);
    const isHeld = (key: string) =>
      (holders.has(key) ? holders.get(key) : holding.collapser) === each;
    const name = service === "" ? "all services" : method === "" ? service : `${service}/${method}`;
    const hidden = keys.filter((key) => !isHeld(key));
    return { entry, line, name, holds: keys.filter(isHeld), hidden };
  });
  const ownEntry = holding.collapser;
  const by = ownEntry === undefined
    ? ""
    : `methodConfig[${ownEntry.entry}] (line ${ownEntry.line})`;
  const bySetting = (key: string, env: string) =>
    ownEntry !== undefined && settings.some((one) => one.key === key && one.from === "policy")
      ? by
      : env;
  const reasons: Readonly<Record<KeyReason, string>> = {
    own: "it tells callers apart",
    position: "by its place",
    routing: "it decides which backend answers (BACKEND_ROUTING)",
    control: "it is for the sidecar",
    usual: "it says nothing of what is asked, for any method",
    named: `by ${bySetting("ignoreHeaders", "COLLAPSER_IGNORE_HEADERS")}`,
    "not named": `by ${bySetting("keyHeaders", "COLLAPSER_KEY_HEADERS")}, which names others alone`,
  };
  return {
    method: path,
    collapses: verdict.eligible,
    why: verdict.why,
    takenOutFor: off ?? null,
    settings,
    entries,
    key: {
      parts: KEY_PARTS,
      metadata: names.map(({ name, inKey, why }) => ({ name, inKey, why: reasons[why] })),
    },
  };
}

/** `GET /api/explain?method=/pkg.Service/Method&header=NAME…`: names of metadata alone, never values. */
export function explain({ sources }: Site, { url: { searchParams } }: { url: URL }): Response {
  const [path = "", ...others] = searchParams.getAll("method");
  const names = searchParams.getAll("header").map((name) => name.toLowerCase());
  const isAsked = /^\/[^/]+\/[^/]+$/.test(path) && others.length === 0 && names.length <= MAX_NAMES;
  if (!isAsked) {
    const expected = "Expected one method such as /pkg.Service/Method, and names as header\n";
    return respondText(expected, { status: 400 });
  }
  return respondJson(explanationOf(sources.proxy.explain(path, names), sources.configuration));
}
