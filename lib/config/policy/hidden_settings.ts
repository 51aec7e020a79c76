import type { NamedPolicy } from "../../downstream/mod.ts";
import { COLLAPSER_KEYS } from "./collapser_keys.ts";
import { shortened } from "./json.ts";

/** What an entry hides of a broader one, and of which method it was found. */
interface Hiding {
  readonly closer: NamedPolicy;
  readonly broader: NamedPolicy;
  readonly keys: readonly string[];
}

/**
 * What entries say of a service, or of all, and a closer entry keeps from its own methods by saying something else: the
 * `collapser` object holds whole, and so do gRPC's own keys. Once for each pair of entries.
 */
export function hiddenSettings(policies: readonly NamedPolicy[]): readonly string[] {
  const withCollapser = byName(policies.filter(({ collapser }) => collapser !== undefined));
  const all = byName(policies);
  const found = new Map<string, Hiding>();
  for (const closer of policies) {
    add(found, closer, broaderThan(closer, withCollapser), hiddenKeys);
    add(found, closer, broaderThan(closer, all), hiddenTimeout);
  }
  return [...found.values()].map(({ closer, broader, keys }) =>
    `${named(closer)} of ${nameOf(closer)} hides ${keys.join(", ")} of ${named(broader)}: ` +
    "the closest entry holds whole; what is to hold must be said there too"
  );
}

function add(
  found: Map<string, Hiding>,
  closer: NamedPolicy,
  broader: NamedPolicy | undefined,
  hidden: (closer: NamedPolicy, broader: NamedPolicy) => readonly string[],
): void {
  if (broader === undefined || broader.entry === closer.entry) return;
  const keys = hidden(closer, broader);
  if (keys.length === 0) return;
  const pair = `${closer.entry} ${broader.entry}`;
  const before = found.get(pair);
  const both = [...new Set([...before?.keys ?? [], ...keys])];
  found.set(pair, { closer: before?.closer ?? closer, broader, keys: both });
}

/** Keys of the broader entry's `collapser` object of which the closer one's says nothing. */
function hiddenKeys({ collapser }: NamedPolicy, broader: NamedPolicy): readonly string[] {
  if (collapser === undefined) return [];
  return COLLAPSER_KEYS
    .filter(({ fills }) =>
      broader.collapser?.[fills] !== undefined && collapser[fills] === undefined
    )
    .map(({ key }) => key);
}

function hiddenTimeout(closer: NamedPolicy, broader: NamedPolicy): readonly string[] {
  return broader.timeoutMs !== undefined && closer.timeoutMs === undefined ? ["timeout"] : [];
}

/** The entry that would hold for the methods of `closer` if that one were not there. */
function broaderThan(
  { service, method }: NamedPolicy,
  names: ReadonlyMap<string, NamedPolicy>,
): NamedPolicy | undefined {
  if (service === "") return undefined;
  return (method === "" ? undefined : names.get(`${service}/`)) ?? names.get("/");
}

function byName(policies: readonly NamedPolicy[]): ReadonlyMap<string, NamedPolicy> {
  return new Map(policies.map((policy) => [`${policy.service}/${policy.method}`, policy]));
}

function named({ entry, line }: NamedPolicy): string {
  return `methodConfig[${entry}] (line ${line})`;
}

function nameOf({ service, method }: NamedPolicy): string {
  return shortened(method === "" ? service : `${service}/${method}`);
}
