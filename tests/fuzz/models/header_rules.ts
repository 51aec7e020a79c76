import type { ModelField } from "./hpack.ts";

const CONNECTION_FIELDS = [
  "connection",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
];

const TOKEN = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz";

/** What a header block is. */
export type BlockKind = "request" | "response" | "trailers";

/** Whether the fields are a legal block of that kind (RFC 9113 §8.2, §8.3, and RFC 9110 §5.5 for values). */
export function isLegalBlock(kind: BlockKind, fields: readonly ModelField[]): boolean {
  const pseudo = fields.filter(({ name }) => name.startsWith(":")).map(({ name }) => name);
  const firstRegular = fields.findIndex(({ name }) => !name.startsWith(":"));
  if (firstRegular >= 0 && firstRegular < pseudo.length) return false;
  if (new Set(pseudo).size < pseudo.length) return false;
  if (!fields.every(isLegalField)) return false;
  const valueOf = (wanted: string) => fields.find(({ name }) => name === wanted)?.value;
  if (kind === "trailers") return pseudo.length === 0;
  if (kind === "response") {
    const status = valueOf(":status") ?? "";
    return pseudo.length === 1 && status.length === 3 &&
      [...status].every((c) => c >= "0" && c <= "9");
  }
  const known = [":method", ":scheme", ":authority", ":path"];
  if (pseudo.some((name) => !known.includes(name)) || valueOf(":method") === undefined) {
    return false;
  }
  if (valueOf(":method") === "CONNECT") return true; // RFC 9113 §8.5
  return valueOf(":scheme") !== undefined && !!valueOf(":path");
}

function isLegalField({ name, value }: ModelField): boolean {
  const token = name.startsWith(":") ? name.slice(1) : name;
  if (token === "" || ![...token].every((c) => TOKEN.includes(c))) return false;
  if (CONNECTION_FIELDS.includes(name) || name === "te" && value !== "trailers") return false;
  return [...value].every((c) => c === "\t" || c >= " " && c !== "\x7f");
}

/** Content-length as declared, or why it cannot be: not a number, or two that differ (RFC 9113 §8.1.1). */
export function declaredLength(fields: readonly ModelField[]): number | undefined | "illegal" {
  const values = fields.filter(({ name }) => name === "content-length").map(({ value }) => value);
  if (values.length === 0) return undefined;
  const isNumber = (text: string) =>
    text.length > 0 && text.length <= 15 && [...text].every((c) => c >= "0" && c <= "9");
  if (!values.every(isNumber) || new Set(values.map(Number)).size > 1) return "illegal";
  return Number(values[0]);
}
