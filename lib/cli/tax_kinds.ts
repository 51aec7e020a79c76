import { HOST_PORT, type HostPort, HTTP_URL, type Kind, type Parsed } from "../config/mod.ts";
import type { Greeting, MessageSource } from "./runners.ts";

/** A value with a name in front of `=`; a column of the report holds the name. */
const NAMED = /^([A-Za-z][\w.-]{0,11})=(.*)$/;

const PLACEHOLDER = /\{n+\}/;

/** What a greeting may hold, and as what. */
const GREETING_FIELDS: Readonly<Record<string, "string" | "number">> = {
  name: "string",
  delayMs: "number",
  replyBytes: "number",
};

/** Something that was given a name, or not. */
export interface Named<T> {
  readonly name: string | undefined;
  readonly value: T;
}

export const NAMED_ADDRESS: Kind<Named<HostPort>> = named(HOST_PORT, "[NAME=]HOST:PORT");

export const NAMED_URL: Kind<Named<string>> = named(HTTP_URL, "[NAME=]URL");

/** A process of this machine, and whose it is. */
export const NAMED_PID: Kind<Named<number>> = named({
  placeholder: "PID",
  parse(text) {
    const value = /^\d+$/.test(text) ? Number(text) : 0;
    return value > 0 ? { value } : { why: "expected a process id" };
  },
  show: String,
}, "[NAME=]PID");

/** Calls a second, as many of them as are to be measured; read in any order, kept ascending. */
export const RATES: Kind<readonly number[]> = {
  placeholder: "RATES",
  parse(text) {
    const rates = text.split(",").map((each) => /^\s*\d+\s*$/.test(each) ? Number(each) : 0);
    return rates.every((rate) => rate > 0)
      ? { value: [...new Set(rates)].sort((one, other) => one - other) }
      : { why: "expected calls a second, such as 200,1000" };
  },
  show: (rates) => rates.join(","),
};

/** An amount of money, in whatever currency the report is to be in. */
export const PRICE: Kind<number> = {
  placeholder: "PRICE",
  parse(text) {
    const value = /^(\d+\.?\d*|\.\d+)$/.test(text) ? Number(text) : NaN;
    return Number.isFinite(value) ? { value } : { why: "expected an amount such as 0.04" };
  },
  show: String,
};

export const ARRIVALS: Kind<"poisson" | "even"> = {
  placeholder: "poisson|even",
  parse: (text) =>
    text === "poisson" || text === "even" ? { value: text } : { why: "expected poisson or even" },
  show: (word) => word,
};

/** Where a file goes; "-" is standard output. */
export const FILE: Kind<string> = {
  placeholder: "FILE",
  parse: (text) => ({ value: text }),
  show: (path) => path,
};

/** The bytes of a request message, in one of several spellings. */
export const DATA: Kind<MessageSource> = {
  placeholder: "DATA",
  parse(text): Parsed<MessageSource> {
    if (text.startsWith("@")) return { value: { from: "file", path: text.slice(1) } };
    if (text.startsWith("hex:")) return parseHex(text.slice("hex:".length));
    if (text.startsWith("base64:")) return parseBase64(text.slice("base64:".length));
    if (/^\{\s*["}]/.test(text)) return parseGreeting(text);
    return { why: 'expected hex:..., base64:..., @FILE, or JSON such as {"name":"{nnnnnnnn}"}' };
  },
  show: ({ from }) => from,
};

function named<T>(kind: Kind<T>, placeholder: string): Kind<Named<T>> {
  return {
    placeholder,
    parse(text) {
      const [, name, rest = ""] = NAMED.exec(text) ?? [undefined, undefined, text];
      const parsed = kind.parse(rest);
      return "why" in parsed ? parsed : { value: { name, value: parsed.value } };
    },
    show: ({ name, value }) => `${name === undefined ? "" : `${name}=`}${kind.show(value)}`,
  };
}

/**
 * Reads hexadecimal digits. The placeholder stands between them as it is, and for as many bytes as it has characters.
 */
function parseHex(text: string): Parsed<MessageSource> {
  const placeholder = PLACEHOLDER.exec(text)?.[0] ?? "";
  const parts = placeholder === "" ? [text] : text.split(placeholder);
  if (parts.length > 2 || !parts.every((part) => /^([0-9a-fA-F]{2})*$/.test(part))) {
    return { why: "expected pairs of hexadecimal digits, and one {n} at most" };
  }
  const [before = new Uint8Array(0), after = new Uint8Array(0)] = parts.map((part) =>
    Uint8Array.fromHex(part)
  );
  const bytes = Uint8Array.of(...before, ...new TextEncoder().encode(placeholder), ...after);
  return { value: { from: "bytes", bytes } };
}

function parseBase64(text: string): Parsed<MessageSource> {
  try {
    return { value: { from: "bytes", bytes: Uint8Array.fromBase64(text) } };
  } catch {
    return { why: "expected base64 (RFC 4648 section 4)" };
  }
}

function parseGreeting(text: string): Parsed<MessageSource> {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    return { why: "expected JSON" };
  }
  for (const [name, value] of Object.entries(given as Record<string, unknown>)) {
    const type = Object.hasOwn(GREETING_FIELDS, name) ? GREETING_FIELDS[name] : undefined;
    const isWhole = typeof value !== "number" || Number.isSafeInteger(value) && value >= 0;
    if (type === undefined || typeof value !== type || !isWhole) {
      return { why: `"${name}" in it: expected name, delayMs or replyBytes of a greeting` };
    }
  }
  return { value: { from: "greeting", greeting: given as Greeting } };
}
