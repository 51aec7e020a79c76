import type { Kind, Parsed } from "./kind.ts";

/**
 * An HTTP token (RFC 9110 §5.6.2), less `*`: who writes `x-team-*` means a pattern,
 * and a name that never matches would silently leave the key as it was.
 */
const HEADER_NAME = /^[\w!#$%&'+.^`|~-]+$/;

/** Metadata names, comma separated; read in any case, kept in lower case, each once. */
export const HEADER_NAMES: Kind<readonly string[]> = {
  placeholder: "NAMES",
  parse(text): Parsed<readonly string[]> {
    const names = text.toLowerCase().split(",").map((name) => name.trim()).filter(Boolean);
    const bad = names.find((name) => !isHeaderName(name));
    if (bad !== undefined) return { why: `"${bad}" is not a metadata name` };
    if (text === "") return { value: [] };
    // "," is more likely a template gone wrong than a wish for a key without metadata.
    if (names.length === 0) return { why: "expected metadata names separated by commas" };
    return { value: [...new Set(names)] };
  },
  show: (names) => names.join(","),
};

/** One piece of metadata, as `name=value`; the value may be empty and may hold `=`. */
export const METADATA: Kind<readonly [name: string, value: string]> = {
  placeholder: "NAME=VALUE",
  parse(text): Parsed<readonly [string, string]> {
    const [, name = "", value = ""] = /^([^=]*)=(.*)$/.exec(text) ?? [];
    return isHeaderName(name.toLowerCase())
      ? { value: [name.toLowerCase(), value] }
      : { why: "expected metadata such as x-tenant=a" };
  },
  show: ([name, value]) => `${name}=${value}`,
};

/** One piece of request metadata as curl's -H has it, `name: value`; the value may hold colons. */
export const HEADER: Kind<readonly [name: string, value: string]> = {
  placeholder: "NAME:VALUE",
  parse(text): Parsed<readonly [string, string]> {
    const [, name = "", value = ""] = /^([^:]*):(.*)$/s.exec(text) ?? [];
    return isHeaderName(name.toLowerCase())
      ? { value: [name.toLowerCase(), value.trim()] }
      : { why: "expected metadata such as x-tenant:acme" };
  },
  show: ([name, value]) => `${name}:${value}`,
};

/** Whether `name` can be a metadata name. */
export function isHeaderName(name: string): boolean {
  return HEADER_NAME.test(name);
}
