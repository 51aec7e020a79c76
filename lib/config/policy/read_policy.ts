import type { CollapserPolicy, NamedPolicy } from "../../downstream/mod.ts";
import { nearest } from "../nearest.ts";
import { COLLAPSER_KEY } from "./collapser_keys.ts";
import { ENTRY_KEYS, type GrpcKey, ROOT_KEYS } from "./grpc_keys.ts";
import { hiddenSettings } from "./hidden_settings.ts";
import { type Fault, readJson, shortened } from "./json.ts";
import { Place, Report } from "./place.ts";
import { policyCautions } from "./policy_cautions.ts";

/** Entries that a file may have; a backend has far fewer methods. */
const MAX_ENTRIES = 10_000;

/** What came of reading a policy file: what it says of methods, or all that is wrong with it. */
export type PolicyReading =
  | {
    readonly policies: readonly NamedPolicy[];
    /** Keys of gRPC's that the sidecar leaves to clients. */
    readonly ignored: readonly string[];
    /** Keys of ours that this version reads and does not heed. */
    readonly unbuilt: readonly string[];
    /** What is right and may surprise: settings that are hidden by others, say. */
    readonly warnings: readonly string[];
  }
  | { readonly problems: readonly Fault[] };

/** Keys of the file and of an entry that have a form of their own. */
const OWN_ROOT_KEYS = ["methodConfig", "$schema"];
const OWN_ENTRY_KEYS = ["name", "collapser"];

/** Keys of an entry that are gRPC's. */
const GRPC_ENTRY_KEYS = ["name", ...Object.keys(ENTRY_KEYS)].filter((key) =>
  key !== "maxConcurrent"
);

/** A key this near to one of ours is that one, misspelt; gRPC's own are passed over by gRPC too. */
const SLIP_DISTANCE = 2;

/** Words that a slip of the pen is looked for in: what they say would be lost in silence. */
const OURS = ["methodConfig", "collapser", "maxConcurrent"];

/**
 * Reads a policy file: a gRPC service config (doc/service_config.md) whose entries may have two keys of ours,
 * `maxConcurrent`, and `collapser` with {@linkcode COLLAPSER_KEYS}. gRPC's own keys are held to gRPC's rules, so that a
 * file which clients take is taken here. All that is wrong is said at once.
 *
 * `{ "methodConfig": [{ "name": [{ "service": "pkg.S", "method": "M" }], "timeout": "1s", "collapser": { "ttl": "1s" } }] }`
 */
export function readPolicy(text: string): PolicyReading {
  const json = readJson(text);
  if ("faults" in json) {
    const report = new Report();
    report.take(json.faults);
    return { problems: report.faults };
  }
  const reader = new Reader();
  reader.read(new Place(json.root));
  const { report, policies } = reader;
  if (report.isBad) return { problems: report.faults };
  for (const warning of policyCautions(policies)) report.warn(warning);
  for (const warning of hiddenSettings(policies)) report.warn(warning);
  const { warnings } = report;
  return { policies, ignored: [...reader.ignored], unbuilt: [...reader.unbuilt], warnings };
}

class Reader {
  readonly report = new Report();
  readonly policies: NamedPolicy[] = [];
  readonly ignored = new Set<string>();
  readonly unbuilt = new Set<string>();
  /** Names that stand in it, and whether an entry that has the name is more than a client's. */
  readonly #seen = new Map<string, boolean>();

  read(root: Place): void {
    if (root.json.kind !== "object") {
      return this.report.expected(root, "an object with methodConfig");
    }
    const eitherCase = ["methodConfig", ...Object.keys(ROOT_KEYS)];
    for (const [key, value] of root.members({ nullIsAbsent: true, eitherCase })) {
      if (key === "methodConfig") this.#entries(value);
      else if (key !== "$schema") this.#grpc(key, value, ROOT_KEYS, OWN_ROOT_KEYS);
      else if (value.json.kind !== "text") this.report.expected(value, "a URL");
    }
  }

  #entries(at: Place): void {
    if (at.json.kind !== "list") return this.report.expected(at, "a list");
    const entries = at.items();
    if (entries.length > MAX_ENTRIES) {
      return this.report.wrong(
        at,
        () => `expected ${MAX_ENTRIES} entries at most, not ${entries.length}`,
      );
    }
    for (const [i, entry] of entries.entries()) this.#entry(entry, i);
  }

  #entry(at: Place, entry: number): void {
    if (at.json.kind !== "object") return this.report.expected(at, "an object");
    const eitherCase = GRPC_ENTRY_KEYS;
    const members = at.members({ nullIsAbsent: true, eitherCase });
    const own = at.members().get("collapser"); // of ours, null is no object
    const found: Record<string, unknown> = {};
    for (const [key, value] of members) {
      if (OWN_ENTRY_KEYS.includes(key)) continue;
      const read = this.#grpc(key, value, ENTRY_KEYS, OWN_ENTRY_KEYS);
      if (read !== undefined) found[key] = read;
    }
    const second = members.get("hedgingPolicy");
    if (second !== undefined && members.has("retryPolicy")) {
      this.report.wrong(second, () => "retryPolicy stands beside it; gRPC takes one of the two");
    }
    const collapser = own === undefined ? undefined : this.#collapser(own);
    const { maxConcurrent, timeout } = found as { maxConcurrent?: number; timeout?: number };
    const policy = {
      ...{ entry, line: at.line },
      ...(collapser !== undefined && { collapser }),
      ...(maxConcurrent !== undefined && { maxConcurrent }),
      ...(timeout !== undefined && { timeoutMs: timeout }),
    };
    const others = [...members.keys()].filter((key) => key !== "name");
    const isClients = others.length > 0 &&
      others.every((key) => key !== "collapser" && !ENTRY_KEYS[key]?.isUsed);
    const names = members.get("name");
    if (names !== undefined && names.json.kind !== "list") {
      return this.report.expected(names, 'a list such as [{ "service": "pkg.S" }]');
    }
    const items = names?.items() ?? [];
    if (items.length === 0) {
      this.report.warn(
        `methodConfig[${entry}] (line ${at.line}) has no name: it holds for no method`,
      );
    }
    for (const item of items) {
      const name = this.#name(item);
      if (name === undefined) continue;
      this.#refuseTwice(item, name, !isClients);
      this.policies.push({ ...name, ...policy });
    }
  }

  #collapser(at: Place): CollapserPolicy | undefined {
    if (at.json.kind !== "object") return this.report.expected(at, "an object");
    const policy: Record<string, unknown> = {};
    for (const [key, value] of at.members()) {
      const row = COLLAPSER_KEY.get(key);
      if (row === undefined) {
        this.#unknown(value, key, [...COLLAPSER_KEY.keys()]);
        continue;
      }
      if (row.isUnbuilt) this.unbuilt.add(key);
      const read = row.kind.read(value, this.report);
      if (read !== undefined) policy[row.fills] = read;
    }
    const { keyHeaders, ignoreHeaders } = policy as CollapserPolicy;
    const both = keyHeaders?.find((name) => ignoreHeaders?.includes(name));
    if (both !== undefined) {
      const place = at.members().get("ignoreHeaders")!;
      this.report.wrong(
        place,
        () => `keyHeaders names "${shortened(both)}" too; expected it in one of the two`,
      );
    }
    return policy; // each key fills a field of its own type
  }

  #name(at: Place): { service: string; method: string } | undefined {
    if (at.json.kind !== "object") {
      return this.report.expected(at, 'an object such as { "service": "pkg.S" }');
    }
    const texts = { service: "", method: "" }; // null is as good as absent, and as ""
    const eitherCase = Object.keys(texts);
    for (const [key, value] of at.members({ nullIsAbsent: true, eitherCase })) {
      // Whoever misspells one of these would name all methods.
      if (key !== "service" && key !== "method") this.#unknown(value, key, Object.keys(texts));
      else if (value.json.kind !== "text") return this.report.expected(value, "a text");
      else texts[key] = value.json.value;
    }
    if (texts.service === "" && texts.method !== "") {
      return this.report.wrong(
        at,
        () => `expected a service beside the method "${shortened(texts.method)}"`,
      );
    }
    return texts;
  }

  /**
   * A name may stand in the file once, as in gRPC's own; what a client's settings alone are said of does not count. An
   * entry that says nothing does: it says that its methods are as all are.
   */
  #refuseTwice(
    at: Place,
    { service, method }: { service: string; method: string },
    counts: boolean,
  ) {
    const name = `${service}/${method}`;
    const before = this.#seen.get(name);
    if (before && counts) {
      this.report.wrong(at, () => `"${shortened(name)}" stands in the file twice`);
    }
    this.#seen.set(name, (before ?? false) || counts);
  }

  /** Reads one of gRPC's keys, or names one that is none of them. */
  #grpc(
    key: string,
    value: Place,
    keys: Readonly<Record<string, GrpcKey>>,
    own: readonly string[],
  ): unknown {
    const row = Object.hasOwn(keys, key) ? keys[key] : undefined;
    if (row !== undefined) {
      if (!row.isUsed) this.ignored.add(key);
      return row.kind.read(value, this.report);
    }
    const known = [...own, ...Object.keys(keys)];
    if (isSlip(key, known.filter((each) => OURS.includes(each)))) {
      return this.#unknown(value, key, known);
    }
    this.report.warn(
      `line ${value.line}, ${value.pointer}: neither gRPC nor collapser has such a name here`,
    );
  }

  #unknown(at: Place, key: string, known: readonly string[]): void {
    this.report.wrong(at, () => `there is no such key; the nearest is ${nearestTo(key, known)}`);
  }
}

/** Whether a key is nearly one of ours. */
function isSlip(key: string, ours: readonly string[]): boolean {
  return key.length <= 20 && ours.length > 0 && nearest(key, ours).distance <= SLIP_DISTANCE;
}

/** The known word nearest to what was written, of which so much is looked at as a word may have. */
function nearestTo(written: string, known: readonly string[]): string {
  return nearest(written.slice(0, 40), known).word;
}
