/**
 * Certificates for those who only read them: any bytes may be in their names, and nobody has signed them.
 *
 * @module
 */

import { der } from "../support/certificates.ts";

/** Tags of texts that a name may be written in (RFC 5280 §4.1.2.4), and of what else may be in one. */
export const TAG = {
  octetString: 0x04,
  utf8: 0x0c,
  printable: 0x13,
  teletex: 0x14,
  ia5: 0x16,
  universal: 0x1c,
  bmp: 0x1e,
  sequence: 0x30,
  set: 0x31,
} as const;

const OID = {
  CN: "550403",
  O: "55040a",
  altNames: "551d11",
  issuerAltNames: "551d12",
} as const;

const { sequence, set } = TAG;
const YES = der(0x01, Uint8Array.of(0xff));
const ALGORITHM = der(sequence, oid("2a8648ce3d040302"));

/** What follows the subject in a certificate. */
export const PUBLIC_KEY = der(sequence, ALGORITHM, der(0x03, Uint8Array.of(0, 1, 2, 3)));

/** What is in a certificate, each a value with its tag. */
export interface UnsignedContent {
  /** @default an empty name */
  readonly subject?: Uint8Array;
  /** Each from {@linkcode extension}; undefined for none, as in a certificate of version 1. */
  readonly extensions?: readonly Uint8Array[] | undefined;
  /** @default 7 */
  readonly serial?: number;
}

/** A certificate in DER, the same each time for the same content. */
export function unsigned(
  { subject = der(sequence), extensions, serial = 7 }: UnsignedContent,
): Uint8Array {
  const day = der(0x17, text("260101000000Z"));
  const issuer = nameOf([[attribute("CN", TAG.utf8, text("CA"))]]);
  const signed = der(
    sequence,
    ...extensions === undefined ? [] : [der(0xa0, der(0x02, Uint8Array.of(2)))],
    der(0x02, Uint8Array.of(serial)),
    ALGORITHM,
    issuer,
    der(sequence, day, day),
    subject,
    PUBLIC_KEY,
    ...extensions === undefined ? [] : [der(0xa3, der(sequence, ...extensions))],
  );
  return der(sequence, signed, ALGORITHM, der(0x03, Uint8Array.of(0, 4, 5, 6)));
}

/** The certificate of a subject and of the alternative names in one extension. */
export function unsignedNames(subject: Uint8Array, altNames: readonly Uint8Array[]): Uint8Array {
  return unsigned({ subject, extensions: [extension("altNames", altNames)] });
}

/** A name: sets of attributes, of which most have one. */
export function nameOf(sets: readonly (readonly Uint8Array[])[]): Uint8Array {
  return der(sequence, ...sets.map((attributes) => der(set, ...attributes)));
}

export function attribute(type: "CN" | "O", tag: number, value: Uint8Array): Uint8Array {
  return der(sequence, oid(OID[type]), der(tag, value));
}

/** An extension of names (RFC 5280 §4.2.1.6, §4.2.1.7). */
export function extension(
  type: "altNames" | "issuerAltNames",
  names: readonly Uint8Array[],
  isCritical = false,
): Uint8Array {
  const value = der(TAG.octetString, der(sequence, ...names));
  return der(sequence, oid(OID[type]), ...isCritical ? [YES] : [], value);
}

export function oid(hex: string): Uint8Array {
  return der(0x06, Uint8Array.fromHex(hex));
}

export function text(value: string): Uint8Array {
  return new TextEncoder().encode(value);
}
