/**
 * What a client is told to do, and all that it could see of the answer: the same for every client, so that what one
 * sees directly can be held against what it sees through the sidecar.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";

/** How many messages go each way, which is what gRPC libraries ask to be told. */
export type Kind = "unary" | "server" | "client" | "bidi";

/** One call. */
export interface Plan {
  readonly name: string;
  readonly kind: Kind;
  readonly path: string;
  readonly messages: readonly Uint8Array[];
  /** Names that end in -bin have bytes for a value. */
  readonly metadata?: readonly (readonly [name: string, value: string | Uint8Array])[];
  readonly deadlineMs?: number;
  /** The caller cancels when it has had so many messages; 0 is once the backend has the call. */
  readonly cancelAfter?: number;
  readonly gzip?: boolean;
  /** The client words the status itself, with times or ports in it. */
  readonly ownWords?: boolean;
}

/** All that came of a call. */
export interface Seen {
  /** Initial metadata, sorted by name; values of -bin names in base64. Null when there was none. */
  readonly head: Entries | null;
  /** Messages in base64, or their length and digest where they are long. */
  readonly messages: readonly string[];
  readonly code: number;
  readonly message: string;
  readonly trailers: Entries;
}

/** Names in order, each with its values in theirs. */
export type Entries = readonly (readonly [name: string, values: readonly string[]])[];

/** A gRPC client. */
export interface Caller extends AsyncDisposable {
  /** Makes a call and sees it through, or until it is told to cancel. */
  see(plan: Plan, cancel?: Promise<void>): Promise<Seen>;
}

/** Longer ones are shown by their digest. */
const SHOWN_BYTES = 1_024;

/** Said by the server's HTTP stack about the moment, and by Envoy of how long it waited. */
const OF_THE_MOMENT = new Set(["date", "x-envoy-upstream-service-time"]);

/** A message as it stands in {@linkcode Seen}. */
export function show(message: Uint8Array): string {
  if (message.length <= SHOWN_BYTES) return Buffer.from(message).toString("base64");
  const digest = createHash("sha256").update(message).digest("hex");
  return `${message.length} bytes, sha256 ${digest}`;
}

/** Metadata as it stands in {@linkcode Seen}. */
export function entriesOf(metadata: Readonly<Record<string, readonly unknown[]>>): Entries {
  return Object.entries(metadata)
    .filter(([name]) => !OF_THE_MOMENT.has(name))
    .map(([name, values]) => [name, values.map(textOf)] as const)
    .sort(([a], [b]) => a < b ? -1 : 1);
}

function textOf(value: unknown): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString("base64") : String(value);
}
