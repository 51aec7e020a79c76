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

/** What holds for every field of a name, so that a field whose value is new need not work it out again. */
export interface NameTraits {
  /** Why RFC 9113 §8.2 forbids the name; empty when it does not. */
  readonly nameFault: string;
  /** Only "trailers" may be its value (RFC 9113 §8.2.2). */
  readonly isTe: boolean;
  /** Index of the first static entry of the name, or 0. */
  readonly staticName: number;
  /** Index of each static entry of the name by its value. */
  readonly staticValues: ReadonlyMap<string, number> | undefined;
}

/**
 * One header field. Immutable, and compared by identity where speed counts: a {@linkcode HeaderCache} gives
 * equal fields of equal sensitivity the same object while it remembers them.
 */
export class Field {
  readonly name: string;
  /** One character per byte. */
  readonly value: string;
  /** Bytes it counts for in tables and lists (RFC 7541 §4.1, RFC 9113 §6.5.2). */
  readonly size: number;
  /** Sent as never indexed, which every hop must keep up (RFC 7541 §7.1.3). */
  readonly sensitive: boolean;
  /** Differs from call to call (a deadline, a trace context), so it is kept out of {@linkcode HeaderList}s. */
  readonly perCall: boolean;
  /** Why RFC 9113 §8.2 forbids it; empty when it does not. */
  readonly fault: string;
  /** Index of the static entry that equals it, or 0. */
  readonly staticIndex: number;
  /** Index of a static entry of its name, or 0. */
  readonly staticName: number;
  /** Times an encoder met it; a field seen once is not worth a place in a dynamic table. */
  uses = 0;

  /** Who makes many fields of one name hands over its `traits`. */
  constructor(
    name: string,
    value: string,
    { sensitive = false, perCall = false, traits = traitsOf(name) } = {},
  ) {
    this.name = name;
    this.value = value;
    this.size = name.length + value.length + FIELD_OVERHEAD_BYTES;
    this.sensitive = sensitive;
    this.perCall = perCall;
    this.fault = traits.nameFault || valueFault(name, value, traits.isTe);
    this.staticIndex = sensitive ? 0 : traits.staticValues?.get(value) ?? 0;
    this.staticName = traits.staticName;
  }
}

/** Works out what holds for every field of a name. */
export function traitsOf(name: string): NameTraits {
  return {
    nameFault: nameFault(name),
    isTe: name === "te",
    staticName: staticNameIndex(name),
    staticValues: staticValues(name),
  };
}

function nameFault(name: string): string {
  if (!LEGAL_NAME.test(name)) return "a field name with an illegal character";
  if (CONNECTION_SPECIFIC.has(name)) return `the connection-specific field ${name}`;
  return "";
}

/**
 * RFC 9113 §8.2.1 forbids NUL, CR and LF in a value, and RFC 9110 §5.5 the other controls but tab. Blanks at its ends,
 * which §8.2.1 forbids as well, are let through: gRPC leaves a space in grpc-message as it is, so a status text that
 * ends in one is common, and its call must not fail for it.
 */
function valueFault(name: string, value: string, isTe: boolean): string {
  if (isTe && value !== "trailers") return "a te field other than trailers";
  for (let i = 0; i < value.length; i++) { // a regular expression takes twice as long (measured)
    const code = value.charCodeAt(i);
    if ((code < 0x20 && code !== 0x09) || code === 0x7f) {
      return `an illegal character in the value of ${name}`;
    }
  }
  return "";
}
