import type { Field, HeaderList } from "../wire/mod.ts";

const REQUEST_PSEUDO = new Set([":method", ":scheme", ":authority", ":path"]);
const RESPONSE_PSEUDO = new Set([":status"]);
const NO_PSEUDO: ReadonlySet<string> = new Set();

/** Why the list is no legal request head (RFC 9113 §8.3.1), or "". Asked once for a list. */
export function requestFault(list: HeaderList): string {
  return list.requestFault ??= checkRequest(list);
}

/** Why the list is no legal response head (RFC 9113 §8.3.2), or "". Asked once for a list. */
export function responseFault(list: HeaderList): string {
  return list.responseFault ??= checkFields(list.fields, RESPONSE_PSEUDO) ||
    (/^\d{3}$/.test(list.get(":status") ?? "")
      ? ""
      : "a response without a status of three digits");
}

/** Why the list is no legal trailer section (RFC 9113 §8.1), or "". Asked once for a list. */
export function trailersFault(list: HeaderList): string {
  return list.trailersFault ??= checkFields(list.fields, NO_PSEUDO);
}

function checkRequest(list: HeaderList): string {
  const fault = checkFields(list.fields, REQUEST_PSEUDO);
  if (fault !== "") return fault;
  const method = list.get(":method");
  if (method === undefined) return "a request without :method";
  // RFC 9113 §8.5: CONNECT has neither scheme nor path.
  if (method === "CONNECT") return "";
  if (list.get(":scheme") === undefined) return "a request without :scheme";
  if (!list.get(":path")) return "a request without :path";
  return "";
}

/** Checks RFC 9113 §8.2 (each field) and §8.3 (pseudo-header fields first, known, and once each). */
function checkFields(fields: readonly Field[], pseudo: ReadonlySet<string>): string {
  const seen = new Set<string>();
  let regular = false;
  for (const { name, fault } of fields) {
    if (fault !== "") return fault;
    if (!name.startsWith(":")) {
      regular = true;
    } else if (regular) {
      return "a pseudo-header after a regular field";
    } else if (!pseudo.has(name)) {
      return `the pseudo-header ${name} where it has no place`;
    } else if (seen.has(name)) {
      return `the pseudo-header ${name} twice`;
    } else {
      seen.add(name);
    }
  }
  return "";
}
