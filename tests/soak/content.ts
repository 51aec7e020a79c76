/**
 * What is asked and what must come back, by the key alone: backend and callers work it out apart from one another, so
 * that no byte of a request or of a reply goes unchecked, and nobody can be given what was another's.
 *
 * @module
 */

import { ERROR_CODE } from "../../lib/wire/mod.ts";
import { rng } from "../support/cuts.ts";

export const KINDS = ["unary", "server stream", "client stream", "bidi"] as const;
export type Kind = typeof KINDS[number];

export interface SoakMethod {
  readonly path: string;
  readonly kind: Kind;
}

/**
 * Of the Catalog, the first three collapse by their names, and PutItem outdates what is stored of it; the Ledger's all
 * pass. QueryItems is what a name cannot say: it reads, and its callers stream.
 */
export const METHODS = {
  get: { path: "/soak.v1.Catalog/GetItem", kind: "unary" },
  list: { path: "/soak.v1.Catalog/ListItems", kind: "server stream" },
  query: { path: "/soak.v1.Catalog/QueryItems", kind: "bidi" },
  put: { path: "/soak.v1.Catalog/PutItem", kind: "unary" },
  post: { path: "/soak.v1.Ledger/PostItem", kind: "unary" },
  watch: { path: "/soak.v1.Ledger/WatchItems", kind: "server stream" },
  upload: { path: "/soak.v1.Ledger/UploadItems", kind: "client stream" },
  exchange: { path: "/soak.v1.Ledger/ExchangeItems", kind: "bidi" },
} as const satisfies Record<string, SoakMethod>;
export type MethodName = keyof typeof METHODS;

/** Callers of different tenants must never share: the metadata below is part of the key and of the reply. */
export const TENANTS = ["a", "b", "c"] as const;
export const TENANT_HEADER = "x-tenant";

/** Which of several shards a call is meant for, by the backend's name. */
export const SHARD_HEADER = "x-shard";

/** What a backend is called, beside its address. */
export function backendName(index: number): string {
  return `b${index}`;
}

/** Whose a reply is: that of a tenant, or of a tenant at one shard. */
export function ownerOf({ tenant, shard = "" }: { tenant: string; shard?: string }): string {
  return shard === "" ? tenant : `${tenant}@${shard}`;
}

/** How the backend ends a call. */
export type Ending =
  | { readonly how: "ok" }
  | { readonly how: "status"; readonly status: number }
  | { readonly how: "reset"; readonly code: number }
  /** Turned away with REFUSED_STREAM, and served when it comes again. */
  | { readonly how: "refused once" };

/** A call as its key says it is. */
export interface Plan {
  /** Bytes after the label, message by message. */
  readonly requests: readonly number[];
  readonly replies: readonly number[];
  /** Before the first reply, and between two messages either way. */
  readonly delayMs: number;
  readonly gapMs: number;
  readonly ending: Ending;
  /** The reply says that it is for its caller alone. */
  readonly isPrivate: boolean;
}

/** Larger than the largest message: a message is a piece of it. */
const NOISE_BYTES = 2 ** 19;
const NOISE = noise();

/** The sidecar keeps a larger request only as long as it takes to send it, and so cannot send it once more. */
const MAX_REPEATED_BYTES = 60_000;

/** Keys whose calls nobody repeats begin so, after the method's name. */
const ONCE = "once";

/** The key of a call that no other one equals. */
export function keyOnce(name: MethodName, id: string): string {
  return `${name}:${ONCE}-${id}`;
}

/** One of the keys that many ask for. */
export function keyOfMany(name: MethodName, n: number): string {
  return `${name}:${n}`;
}

/** What its key makes of a call. */
export function planOf(key: string): Plan {
  const [name, rest] = key.split(":") as [MethodName, string];
  const { kind } = METHODS[name];
  const random = rng(hashOf(key));
  const chance = random();
  const requests = sizes(random, kind === "client stream" || kind === "bidi");
  const ending = endingOf(random(), {
    mayRefuse: kind === "unary" && rest.startsWith(ONCE) && requests[0]! < MAX_REPEATED_BYTES,
  });
  return {
    requests,
    replies: kind === "bidi"
      ? requests
      : ending.how !== "ok" && ending.how !== "refused once" && kind !== "server stream"
      ? []
      : sizes(random, kind === "server stream"),
    delayMs: chance < 0.3 ? 0 : Math.floor(random() * (chance < 0.9 ? 30 : 250)),
    gapMs: random() < 0.5 ? 0 : Math.floor(random() * 20),
    ending,
    isPrivate: random() < 0.03,
  };
}

export function requestMessage(key: string, index: number): Uint8Array {
  return labelled(`${key}|${index}`, planOf(key).requests[index]!);
}

export function replyMessage(
  { key, owner, plan, index }: { key: string; owner: string; plan: Plan; index: number },
): Uint8Array {
  return labelled(`${key}|${owner}|${index}`, plan.replies[index]!);
}

/** The key in a request's message; undefined when it has none. */
export function keyIn(message: Uint8Array): string | undefined {
  const end = message.indexOf("|".charCodeAt(0));
  if (end < 0) return undefined;
  const key = new TextDecoder().decode(message.subarray(0, end));
  return Object.hasOwn(METHODS, key.split(":")[0]!) ? key : undefined;
}

/** Where two messages differ; undefined where they do not. */
export function difference(found: Uint8Array, expected: Uint8Array): string | undefined {
  if (found.length !== expected.length) {
    return `${found.length} bytes in place of ${expected.length}`;
  }
  for (let at = 0; at < found.length; at++) {
    if (found[at] !== expected[at]) return `byte ${at} of ${found.length} is another`;
  }
  return undefined;
}

/** What the backend says first when a deadline that it was given has come. */
export const BACKENDS_WORD = "the backend was given";

/**
 * What the backend says when a call's plan is to fail. A key that comes once is not in it: texts that all differ would
 * fill the sidecar's table of known header lists slowly, up to its bound, and its memory would not be flat until then.
 */
export function failureText(key: string, owner: string): string {
  const item = key.includes(`:${ONCE}-`) ? `${key.split(":")[0]} but ${ONCE}` : key;
  return `no ${item} for ${owner}`;
}

function endingOf(chance: number, { mayRefuse }: { mayRefuse: boolean }): Ending {
  if (chance < 0.04) return { how: "status", status: 5 };
  if (chance < 0.05) return { how: "status", status: 8 };
  if (chance < 0.06) return { how: "reset", code: ERROR_CODE.internalError };
  if (chance < 0.07) return { how: "reset", code: ERROR_CODE.enhanceYourCalm };
  if (chance < 0.12 && mayRefuse) return { how: "refused once" };
  return { how: "ok" };
}

/** Mostly small, now and then above a frame (16 KiB), the sidecar's message limit or a stream's window. */
function sizes(random: () => number, isStream: boolean): number[] {
  const count = isStream ? 1 + Math.floor(random() * 8) : 1;
  const largest = random();
  const limit = largest < 0.9 ? 1_500 : largest < 0.985 ? 30_000 : isStream ? 60_000 : 300_000;
  return Array.from({ length: count }, () => Math.floor(random() * limit));
}

function labelled(label: string, length: number): Uint8Array {
  const bytes = new Uint8Array(label.length + 1 + length);
  new TextEncoder().encodeInto(`${label}\n`, bytes);
  const from = hashOf(label) % (NOISE_BYTES - length);
  bytes.set(NOISE.subarray(from, from + length), label.length + 1);
  return bytes;
}

/** FNV-1a. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return hash >>> 0;
}

function noise(): Uint8Array {
  const random = rng(1);
  return Uint8Array.from({ length: NOISE_BYTES }, () => random() * 256);
}
