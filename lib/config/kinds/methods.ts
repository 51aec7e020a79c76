import type { Kind, Parsed } from "./kind.ts";

/** Words that may open COLLAPSER_METHODS: what is eligible unless excluded. */
const BASES = ["auto", "schema", "*"];

/** `/pkg.Service/Method` or `/pkg.Service/*`; a service name may itself hold slashes. */
const PATTERN = /^\/[^\s*!]+\/(?:[^\/\s*!]+|\*)$/;

/**
 * The shape of COLLAPSER_METHODS, in the order given: a base with additions and exclusions, or a list of patterns. What it selects is
 * the collapse room's to say.
 */
export const METHODS: Kind<readonly string[]> = {
  placeholder: "METHODS",
  parse(text): Parsed<readonly string[]> {
    const entries = text.split(",").map((entry) => entry.trim()).filter(Boolean).map(lowerBase);
    const [first] = entries;
    const isBase = first !== undefined && BASES.includes(first);
    const patterns = isBase ? entries.slice(1) : entries;

    const bad = patterns.find((entry) => !PATTERN.test(entry.replace(/^!/, "")));
    if (first === undefined || bad !== undefined) {
      const where = bad === undefined || bad === text ? "" : `"${bad}" in it: `;
      return { why: `${where}expected auto, schema, *, /pkg.Service/Method or /pkg.Service/*` };
    }
    const included = patterns.find((entry) => !entry.startsWith("!"));
    if (first === "*" && included !== undefined) {
      return { why: "only exclusions such as !/pkg.Service/Method may follow *" };
    }
    if (!isBase && included === undefined) {
      return { why: "exclusions alone select nothing; expected auto or * before them" };
    }
    return { value: entries };
  },
  show: (entries) => entries.join(","),
};

function lowerBase(entry: string): string {
  const lower = entry.toLowerCase();
  return BASES.includes(lower) ? lower : entry;
}

/** The path of one method, as calls carry it. */
export const METHOD: Kind<string> = {
  placeholder: "METHOD",
  parse(text) {
    return PATTERN.test(text) && !text.endsWith("*")
      ? { value: text }
      : { why: "expected /pkg.Service/Method" };
  },
  show: (path) => path,
};
