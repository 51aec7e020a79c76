import { staticFieldIndex, staticNameIndex } from "./static_table.ts";

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
 * What may not stand in a value: controls but tab (RFC 9113 §8.2.1 names NUL, CR and LF; RFC 9110 §5.5 the others).
 * Blanks at its ends, which §8.2.1 forbids as well, are let through: gRPC leaves a space in grpc-message as it is, so
 * a status text that ends in one is common, and its call must not fail for it.
 */
// deno-lint-ignore no-control-regex
const ILLEGAL_VALUE = /[\0-\x08\x0a-\x1f\x7f]/;

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

  constructor(name: string, value: string, { sensitive = false, perCall = false } = {}) {
    this.name = name;
    this.value = value;
    this.size = name.length + value.length + FIELD_OVERHEAD_BYTES;
    this.sensitive = sensitive;
    this.perCall = perCall;
    this.fault = faultOf(name, value);
    this.staticIndex = sensitive ? 0 : staticFieldIndex(name, value);
    this.staticName = staticNameIndex(name);
  }
}

function faultOf(name: string, value: string): string {
  if (!LEGAL_NAME.test(name)) return "a field name with an illegal character";
  if (CONNECTION_SPECIFIC.has(name)) return `the connection-specific field ${name}`;
  if (name === "te" && value !== "trailers") return "a te field other than trailers";
  if (ILLEGAL_VALUE.test(value)) return `an illegal character in the value of ${name}`;
  return "";
}
