import { Buffer } from "node:buffer";
import { hash } from "node:crypto";
import { checkServerIdentity, type PeerCertificate } from "node:tls";
import { type DerValue, namesIn } from "./x509.ts";

/** Kinds of a GeneralName (RFC 5280 §4.2.1.6). */
const DNS_TAG = 0x82;
const IP_TAG = 0x87;

const IPV4_BYTES = 4;
const IPV6_BYTES = 16;

/** What an identity is made of. A digest of one never passes for one of the other, whatever a CA has signed. */
const OF_NAMES = 0;
const OF_ALL = 1;

/**
 * The identity that a certificate (DER) gives its holder, as text for a key: a digest of its subject and all its alternative names, in
 * any order. Two certificates have the same exactly when all of these are the same, byte for byte. A certificate that
 * names nobody, or cannot be read though TLS could, stands for itself.
 */
export function identityOf(certificate: Uint8Array): string {
  const names = namesIn(certificate);
  // Names that say nothing would make all who have none the same.
  if (names === undefined || names.altNames.length + names.subject.content.length === 0) {
    return digest(OF_ALL, [certificate]);
  }
  const altNames = names.altNames.map(({ bytes }) => bytes);
  return digest(OF_NAMES, [names.subject.bytes, ...altNames.sort(Buffer.compare)]);
}

/** Why a certificate does not speak for `host`; undefined when it does. For `checkServerIdentity` of node:tls. */
export function serverIdentityFault(
  host: string,
  certificate: { readonly raw: Uint8Array },
): Error | undefined {
  const altNames = (namesIn(certificate.raw)?.altNames ?? []).flatMap(textsOf);
  // Without the subject: a common name is no host name (RFC 9525 §2).
  const names = { subject: {}, subjectaltname: altNames.join(", ") };
  if (checkServerIdentity(host, names as unknown as PeerCertificate) === undefined) {
    return undefined;
  }
  const known = altNames.length === 0 ? "no host" : altNames.join(", ");
  return new Error(`its certificate is for ${known}, not for ${host}`);
}

/** A host name or an address as `checkServerIdentity` reads it; a name with what separates names is none. */
function textsOf({ tag, content }: DerValue): string[] {
  if (tag === IP_TAG) return addressesOf(content);
  const text = new TextDecoder().decode(content);
  return tag === DNS_TAG && /^[\w.*-]+$/.test(text) ? [`DNS:${text}`] : [];
}

function addressesOf(bytes: Uint8Array): string[] {
  if (bytes.length === IPV4_BYTES) return [`IP Address:${bytes.join(".")}`];
  if (bytes.length !== IPV6_BYTES) return [];
  const groups = Array.from(
    { length: IPV6_BYTES / 2 },
    (_, i) => (bytes[2 * i]! * 256 + bytes[2 * i + 1]!).toString(16),
  );
  return [`IP Address:${groups.join(":")}`];
}

/** Values in DER say themselves how long they are, so no two lists of them are the same bytes. */
function digest(of: number, values: readonly Uint8Array[]): string {
  return hash("sha256", Buffer.concat([Uint8Array.of(of), ...values]), "base64");
}
