import { acceptEncodingKey, isIgnoredInKey } from "../grpc/mod.ts";

/** A longer message is keyed by its digest: V8 hashes strings above 16,383 characters by their length alone. */
const MAX_INLINE_BYTES = 2_048;

/** A longer head is its path and the digest of all: many may be kept, and callers choose how long they are. */
const MAX_HEAD_CHARS = 2_048;

/** A longer path is in the digest alone: it is no method's, and would make the head as long as a caller likes. */
const MAX_PATH_CHARS = 512;

/** First character of a digest, never that of an inline key, which is a byte: so a message cannot imitate a digest. */
const DIGEST_MARK = "\u0100";

/** Fields that stand in the key by position, apart from the other metadata. */
const POSITIONAL = [":path", ":authority", "content-type", "grpc-encoding"];

/** Fields that are no metadata: read here, or said by another part of the key, or the same in every gRPC call. */
const NOT_METADATA = new Set([
  ...POSITIONAL,
  "grpc-accept-encoding",
  ":method",
  ":scheme",
  "content-length",
]);

/** Which request metadata tells callers apart. */
export interface KeyPolicy {
  /** Names, in lower case, that alone are part of the key, when set (COLLAPSER_KEY_HEADERS). */
  readonly keyHeaders: readonly string[] | undefined;
  /** Names left out as well as those that are by default (COLLAPSER_IGNORE_HEADERS). */
  readonly ignoreHeaders: readonly string[];
}

/**
 * Returns a predicate: whether metadata of a name is part of the key. Values of `routingHeader` are always told apart,
 * since they decide which backend answers (BACKEND_ROUTING header:NAME).
 */
export function compileKeyPolicy(
  { keyHeaders, ignoreHeaders }: KeyPolicy,
  routingHeader?: string,
): (name: string) => boolean {
  const ignored = new Set(ignoreHeaders);
  const only = keyHeaders === undefined ? undefined : new Set(keyHeaders);
  return (name) =>
    name === routingHeader ||
    !ignored.has(name) && (only === undefined ? !isIgnoredInKey(name) : only.has(name));
}

/** Fields that the sidecar reads itself, so they are never part of a list or a key. */
export const CONTROL_FIELDS: ReadonlySet<string> = new Set([
  "grpc-timeout",
  "cache-control",
  "x-collapser-debug",
]);

/** Whether a key tells calls apart by request metadata of this name, for a reply that depends on it. */
export function tellsApart(inKey: (name: string) => boolean, name: string): boolean {
  return !CONTROL_FIELDS.has(name) && (!isKeyMetadata(name) || inKey(name));
}

/** Whether the field is metadata, and so subject to the policy, rather than always or never in the key. */
export function isKeyMetadata(name: string): boolean {
  return !NOT_METADATA.has(name);
}

/**
 * The part of the key that a request's head makes, exactly: every part is prefixed with its length, an absent one
 * is not the same as an empty one. Metadata is sorted by name, the values of one name stay in their order. What is longer
 * than 2,048 characters becomes its path and a SHA-256 of the whole.
 */
export function headKey(
  fields: readonly { readonly name: string; readonly value: string }[],
  options: {
    inKey: (name: string) => boolean;
    identity: string;
    codec: Pick<KeyCodec, "digestText">;
  },
): string {
  const metadata: { name: string; value: string }[] = [];
  const positional: (string | undefined)[] = POSITIONAL.map(() => undefined);
  const accepted: string[] = [];
  for (const { name, value } of fields) {
    const position = POSITIONAL.indexOf(name);
    if (position >= 0 && positional[position] === undefined) positional[position] = value;
    else if (position >= 0) metadata.push({ name, value }); // said twice: a backend may heed either
    else if (name === "grpc-accept-encoding") accepted.push(value);
    else if (isKeyMetadata(name) && options.inKey(name)) metadata.push({ name, value });
  }
  metadata.sort((a, b) => a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
  const parts = [
    ...positional,
    accepted.length === 0 ? undefined : acceptEncodingKey(accepted.join(",")),
    options.identity,
    ...metadata.flatMap(({ name, value }) => [name, value]),
  ];
  const text = parts.map(lengthPrefixed).join("");
  if (text.length <= MAX_HEAD_CHARS) return text;
  const path = positional[0];
  const shown = path !== undefined && path.length <= MAX_PATH_CHARS ? path : undefined;
  return lengthPrefixed(shown) + DIGEST_MARK + options.codec.digestText(text);
}

function lengthPrefixed(part: string | undefined): string {
  return part === undefined ? "-" : `${part.length}:${part}`;
}

/** The method's path in what {@linkcode headKey} made; "" when there is none, or none of a method's length. */
export function pathInKey(headText: string): string {
  const length = /^\d+(?=:)/.exec(headText)?.[0] ?? "0";
  return headText.slice(length.length + 1, length.length + 1 + Number(length));
}

/**
 * The part of the key that the request message makes: its bytes with flag and length, one character each, or their
 * SHA-256 when they are many. `latin1` and `digest` are passed in since this room touches neither text codecs nor
 * cryptography.
 */
export function bodyKey(bytes: Uint8Array, from: number, to: number, codec: KeyCodec): string {
  if (to - from <= MAX_INLINE_BYTES) return codec.latin1(bytes, from, to);
  return DIGEST_MARK + codec.digest(bytes.subarray(from, to));
}

/**
 * The part of the key that metadata of one call alone makes, where a method's key holds some of it; to stand before
 * {@linkcode bodyKey}. Its beginning says how many parts there are, so where it ends cannot be mistaken.
 */
export function perCallKey(
  fields: readonly { readonly name: string; readonly value: string }[],
  { inKey, codec }: { inKey: (name: string) => boolean; codec: Pick<KeyCodec, "digestText"> },
): string {
  const metadata = fields.filter(({ name }) => isKeyMetadata(name) && inKey(name));
  metadata.sort((a, b) => a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
  const parts = metadata.flatMap(({ name, value }) => [name, value]).map(lengthPrefixed);
  const text = `${parts.length};${parts.join("")}`;
  return text.length <= MAX_HEAD_CHARS ? text : DIGEST_MARK + codec.digestText(text);
}

/** How bytes become the text of a key. */
export interface KeyCodec {
  /** Bytes as text, one character for each. */
  latin1(bytes: Uint8Array, from: number, to: number): string;
  /** A cryptographic digest as text. */
  digest(bytes: Uint8Array): string;
  /** The digest of a text's UTF-8. */
  digestText(text: string): string;
}
