import { staticNameIndex, staticValues } from "./static_table.ts";

/** What RFC 7541 §4.1 adds to the length of name and value, for an entry's own cost. */
const FIELD_OVERHEAD_BYTES = 32;

/** Fields of a connection that HTTP/2 forbids (RFC 9113 §8.2.2). */
const CONNECTION_SPECIFIC = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
]);

/** RFC 9110 §5.6.2 token characters but the upper-case ones, which RFC 9113 §8.2 forbids; a pseudo-header's colon leads. */
const LEGAL_NAME = /^:?[!#$%&'*+\-.^_`|~0-9a-z]+$/;

/**
 * RFC 9113 §8.2.1 forbids NUL, CR and LF in a value, and RFC 9110 §5.5 the other controls but tab. Blanks at its ends,
 * which §8.2.1 forbids as well, are let through: gRPC leaves a space in grpc-message as it is, so a status text that
 * ends in one is common, and its call must not fail for it.
 */
const LEGAL_VALUE = /^[\t\x20-\x7e\x80-\uffff]*$/;

/** Names whose traits are kept for who makes fields by hand; those are few, and written in the program. */
const MAX_SHARED_TRAITS = 256;

/** What holds for every field of a name, so that one whose value is new need not work it out again. */
export class NameTraits {
  /** Why RFC 9113 §8.2 forbids the name; empty when it does not. */
  readonly fault: string;
  /** The name is te, whose value may only be "trailers" (RFC 9113 §8.2.2). */
  readonly isTe: boolean;
  /** Index of the first static entry of the name, or 0. */
  readonly staticName: number;
  /** Index of each static entry of the name by its value. */
  readonly staticValues: ReadonlyMap<string, number> | undefined;
  /** How a literal of the name begins, once somebody wrote one. */
  literal: Uint8Array | undefined = undefined;

  constructor(name: string) {
    this.fault = nameFault(name);
    this.isTe = name === "te";
    this.staticName = staticNameIndex(name);
    this.staticValues = staticValues(name);
  }
}

/**
 * One header field. Immutable, and compared by identity where speed counts: a {@linkcode HeaderCache} gives
 * equal fields of equal sensitivity the same object while it remembers them.
 */
export class Field {
  readonly name: string;
  /** The value, one character per byte. */
  readonly value: string;
  /** Bytes the field counts for in tables and lists (RFC 7541 §4.1, RFC 9113 §6.5.2). */
  readonly size: number;
  /** The field is sent as never indexed, which every hop must keep up (RFC 7541 §7.1.3). */
  readonly sensitive: boolean;
  /**
   * The value differs from call to call (a deadline, a trace context), so the field is kept out of
   * {@linkcode HeaderList}s.
   */
  readonly perCall: boolean;
  /** Why RFC 9113 §8.2 forbids the field; empty when it does not. */
  readonly fault: string;
  /** What holds for all fields of the name. */
  readonly traits: NameTraits;
  /** Index of the static entry that equals the field, or 0. */
  readonly staticIndex: number;
  /** Times an encoder met the field; one seen once is not worth a place in a dynamic table. */
  uses = 0;

  /**
   * A field read from a peer brings the `traits` of its name, and is `clean` when its value passed {@linkcode isClean}.
   */
  constructor(
    name: string,
    value: string,
    { sensitive = false, perCall = false, traits = sharedTraits(name), clean = false } = {},
  ) {
    this.name = name;
    this.value = value;
    this.size = name.length + value.length + FIELD_OVERHEAD_BYTES;
    this.sensitive = sensitive;
    this.perCall = perCall;
    this.fault = traits.fault || valueFault(name, value, { isTe: traits.isTe, clean });
    this.traits = traits;
    this.staticIndex = sensitive ? 0 : traits.staticValues?.get(value) ?? 0;
  }

  /** Index of a static entry of the field's name, or 0. */
  get staticName(): number {
    return this.traits.staticName;
  }
}

/** Whether `bytes[from, to)` are a legal value, which is asked of bytes in a third of the time it takes of a string. */
export function isClean(bytes: Uint8Array, from: number, to: number): boolean {
  for (let i = from; i < to; i++) {
    const byte = bytes[i]!;
    if ((byte < 0x20 && byte !== 0x09) || byte === 0x7f) return false;
  }
  return true;
}

const shared = new Map<string, NameTraits>();

function sharedTraits(name: string): NameTraits {
  const known = shared.get(name);
  if (known !== undefined) return known;
  const traits = new NameTraits(name);
  if (shared.size < MAX_SHARED_TRAITS) shared.set(name, traits);
  return traits;
}

function nameFault(name: string): string {
  if (!LEGAL_NAME.test(name)) return "a field name with an illegal character";
  if (CONNECTION_SPECIFIC.has(name)) return `the connection-specific field ${name}`;
  return "";
}

function valueFault(
  name: string,
  value: string,
  { isTe, clean }: { isTe: boolean; clean: boolean },
): string {
  if (isTe && value !== "trailers") return "a te field other than trailers";
  if (!clean && !LEGAL_VALUE.test(value)) return `an illegal character in the value of ${name}`;
  return "";
}
