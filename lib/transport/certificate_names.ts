import { Buffer } from "node:buffer";
import { hash } from "node:crypto";
import { checkServerIdentity, type PeerCertificate } from "node:tls";
import { DER_TAG, derContent, type DerValue, derValues } from "./der.ts";

/** Object identifier 2.5.29.17, subjectAltName (RFC 5280 §4.2.1.6). */
const ALT_NAMES_OID = [0x55, 0x1d, 0x11];

/** Fields of a TBSCertificate (RFC 5280 §4.1): the subject comes after serial, algorithm, issuer and validity. */
const VERSION_TAG = 0xa0;
const EXTENSIONS_TAG = 0xa3;
const FIELDS_BEFORE_SUBJECT = 4;

/** Kinds of a GeneralName (RFC 5280 §4.2.1.6). */
const DNS_TAG = 0x82;
const IP_TAG = 0x87;

/** What a certificate names: the bytes of its subject, and of each of its alternative names with their kind. */
interface Names {
  readonly subject: Uint8Array;
  readonly altNames: readonly Uint8Array[];
}

/**
 * The identity that a certificate (DER) gives its holder, as text for a key: a digest of its subject and all its
 * alternative names, in any order. Two certificates have the same exactly when all of these are the same. It is read
 * from the bytes, since the texts that node:tls makes of them (Deno 2.9) leave attributes out, and one name can pass
 * for two.
 */
export function identityOf(certificate: Uint8Array): string {
  return digest(parts(certificate));
}

/** Why a certificate does not speak for `host`; undefined when it does. For `checkServerIdentity` of node:tls. */
export function serverIdentityFault(
  host: string,
  certificate: { readonly raw: Uint8Array },
): Error | undefined {
  const altNames = textsOf(namesOf(certificate.raw).altNames);
  // Without the subject: a common name is no host name (RFC 9525 §2).
  const names = { subject: {}, subjectaltname: altNames.join(", ") };
  if (checkServerIdentity(host, names as unknown as PeerCertificate) === undefined) {
    return undefined;
  }
  const known = altNames.length === 0 ? "no host" : altNames.join(", ");
  return new Error(`its certificate is for ${known}, not for ${host}`);
}

/**
 * What an identity is made of: names, or the certificate itself where they say nothing, else all who have none would be
 * the same.
 */
function parts(certificate: Uint8Array): readonly Uint8Array[] {
  try {
    const { subject, altNames } = namesOf(certificate);
    if (altNames.length > 0 || subject.length > 2) return [subject, ...altNames.toSorted(compare)];
  } catch (error) {
    if (!(error instanceof RangeError)) throw error; // TLS read what we cannot: as if it had no names
  }
  return [certificate];
}

function namesOf(bytes: Uint8Array): Names {
  const [certificate] = derValues(bytes, 0, bytes.length);
  const fields = derContent(bytes, derContent(bytes, certificate)[0]);
  const subject = fields[FIELDS_BEFORE_SUBJECT + (fields[0]?.tag === VERSION_TAG ? 1 : 0)];
  if (subject === undefined) throw new RangeError("Cannot read a certificate without subject");
  const extensions = fields.find(({ tag }) => tag === EXTENSIONS_TAG);
  return { subject: whole(bytes, subject), altNames: altNamesIn(bytes, extensions) };
}

function altNamesIn(bytes: Uint8Array, extensions: DerValue | undefined): Uint8Array[] {
  if (extensions === undefined) return [];
  const names: Uint8Array[] = [];
  for (const extension of derContent(bytes, derContent(bytes, extensions)[0])) {
    const [id, ...rest] = derContent(bytes, extension);
    if (id === undefined || !isAltNames(bytes.subarray(id.from, id.to))) continue;
    const value = rest.find(({ tag }) => tag === DER_TAG.octetString);
    for (const name of derContent(bytes, derContent(bytes, value)[0])) {
      names.push(whole(bytes, name));
    }
  }
  return names;
}

/** Host names and addresses as `checkServerIdentity` reads them; names with what separates names are none. */
function textsOf(altNames: readonly Uint8Array[]): string[] {
  return altNames.flatMap((name) => {
    const [value] = derValues(name, 0, name.length);
    const bytes = name.subarray(value!.from);
    if (value!.tag === IP_TAG) return [`IP Address:${addressText(bytes)}`];
    const text = new TextDecoder().decode(bytes);
    return value!.tag === DNS_TAG && /^[\w.*-]+$/.test(text) ? [`DNS:${text}`] : [];
  });
}

function addressText(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join(".");
  const groups = Array.from(
    { length: bytes.length / 2 },
    (_, i) => (bytes[2 * i]! * 256 + bytes[2 * i + 1]!).toString(16),
  );
  return groups.join(":");
}

/** A digest of values that follow each other, since values in DER say themselves how long they are. */
function digest(values: readonly Uint8Array[]): string {
  return hash("sha256", Buffer.concat(values), "base64");
}

function isAltNames(id: Uint8Array): boolean {
  return id.length === ALT_NAMES_OID.length && ALT_NAMES_OID.every((byte, i) => byte === id[i]);
}

function whole(bytes: Uint8Array, { start, to }: DerValue): Uint8Array {
  return bytes.subarray(start, to);
}

function compare(a: Uint8Array, b: Uint8Array): number {
  return Buffer.compare(a, b);
}
