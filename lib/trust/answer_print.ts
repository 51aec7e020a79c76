import type { IgnoredFields } from "./ignored_fields.ts";
import { normalForm, type NormalFormLimits } from "./normal_form.ts";

/** A cryptographic hash that is fed piece by piece, such as node:crypto's SHA-256. */
export interface Hash {
  update(bytes: Uint8Array): unknown;
  digest(): string;
}

/** How answers of a method are digested. */
export interface PrintOptions {
  readonly newHash: () => Hash;
  /** Fields that may differ. */
  readonly ignored?: IgnoredFields | undefined;
  /** Whether messages are protobuf (content-type application/grpc or +proto): of others the bytes alone count. */
  readonly protobuf?: boolean;
  readonly limits?: NormalFormLimits;
}

/** What is kept of an answer to compare it with another: two digests, whatever the answer's size. */
export interface AnswerPrint {
  /** Of status and messages in their order, without the ignored fields. */
  readonly kept: string;
  /** Of status and messages with fields as multisets; undefined when the answer is not protobuf. */
  readonly sorted: string | undefined;
}

/** How two answers compare. */
export type Likeness = "match" | "reordered" | "different";

/** In front of a message that is digested as it is, and of one that is digested in normal form. */
const RAW = 0;
const NORMAL = 1;

/** Digests one answer while its messages come by; nothing of them is kept. Messages are decompressed. */
export class AnswerDigest {
  readonly #options: PrintOptions;
  readonly #kept: Hash;
  readonly #sorted: Hash | undefined;

  constructor(options: PrintOptions) {
    this.#options = options;
    this.#kept = options.newHash();
    this.#sorted = options.protobuf === false ? undefined : options.newHash();
  }

  add(message: Uint8Array): void {
    const { ignored, limits } = this.#options;
    const asked = limits === undefined ? { ignored } : { ignored, limits };
    const protobuf = this.#options.protobuf !== false;
    const kept = ignored === undefined || !protobuf
      ? undefined
      : normalForm(message, { order: "kept", ...asked });
    feed(this.#kept, kept === undefined ? RAW : NORMAL, kept ?? message);
    if (this.#sorted === undefined) return;
    const sorted = normalForm(message, { order: "sorted", ...asked });
    feed(this.#sorted, sorted === undefined ? RAW : NORMAL, sorted ?? message);
  }

  /** A message of so many bytes begins that is digested as it is: its {@linkcode part}s follow. */
  begin(length: number): void {
    const said = head(RAW, length);
    this.#kept.update(said);
    this.#sorted?.update(said);
  }

  /** The next bytes of a message that is digested as it is. */
  part(bytes: Uint8Array): void {
    this.#kept.update(bytes);
    this.#sorted?.update(bytes);
  }

  /** The print of the whole answer, which ended with this gRPC status. */
  end(status: number): AnswerPrint {
    const end = head(0xff, status);
    this.#kept.update(end);
    this.#sorted?.update(end);
    return { kept: this.#kept.digest(), sorted: this.#sorted?.digest() };
  }
}

/** How two answers to one question compare; order among the messages of a stream counts. */
export function likeness(a: AnswerPrint, b: AnswerPrint): Likeness {
  if (a.kept === b.kept) return "match";
  return a.sorted !== undefined && a.sorted === b.sorted ? "reordered" : "different";
}

/** Each message goes with its length, so that where one ends and the next begins counts too. */
function feed(hash: Hash, kind: number, bytes: Uint8Array): void {
  hash.update(head(kind, bytes.length));
  hash.update(bytes);
}

/** One array for all heads: a hash takes the bytes at once. */
const HEAD = new Uint8Array(5);

function head(kind: number, value: number): Uint8Array {
  HEAD[0] = kind;
  HEAD[1] = value >>> 24;
  HEAD[2] = value >>> 16;
  HEAD[3] = value >>> 8;
  HEAD[4] = value;
  return HEAD;
}
