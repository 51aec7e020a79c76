/**
 * Certificates for tests, made while they run: no key lies in the repository, none expires, and no openssl is asked for.
 * ECDSA over P-256 with SHA-256, X.509 version 3 (RFC 5280), as little of it as TLS reads.
 *
 * @module
 */

import { Buffer } from "node:buffer";

const DAY_MS = 86_400_000;

const OID = {
  ecdsaWithSha256: "1.2.840.10045.4.3.2",
  basicConstraints: "2.5.29.19",
  subjectAltName: "2.5.29.17",
} as const;

/** Attributes of a subject by the short name they have in texts. */
const ATTRIBUTES: Readonly<Record<string, string>> = {
  CN: "2.5.4.3",
  O: "2.5.4.10",
  OU: "2.5.4.11",
  UID: "0.9.2342.19200300.100.1.1",
};

/** Tags of a GeneralName. */
const ALT_NAME_TAGS: Readonly<Record<string, number>> = {
  email: 0x81,
  DNS: 0x82,
  URI: 0x86,
  IP: 0x87,
};

/** What a certificate says. */
export interface CertificateContent {
  /** As in `["O=team", "CN=caller"]`; empty for none. */
  readonly subject?: readonly string[];
  /** As in `["DNS:localhost", "IP:127.0.0.1", "URI:spiffe://x/y"]`. */
  readonly altNames?: readonly string[];
  readonly notBeforeMs?: number;
  readonly notAfterMs?: number;
}

/** A certificate with its key, both PEM. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

interface Issuer {
  readonly name: Uint8Array;
  readonly key: CryptoKey;
}

/** A CA of a test's own. */
export class Authority {
  /** Its certificate, PEM. */
  readonly cert: string;
  #issuer: Issuer;

  private constructor(cert: string, issuer: Issuer) {
    this.cert = cert;
    this.#issuer = issuer;
  }

  static async make(name = "test CA"): Promise<Authority> {
    const keys = await makeKeys();
    const issuer = { name: nameOf([`CN=${name}`]), key: keys.privateKey };
    const cert = await sign({ subject: [`CN=${name}`] }, { issuer, keys, isAuthority: true });
    return new Authority(pem("CERTIFICATE", cert), issuer);
  }

  async issue(content: CertificateContent): Promise<KeyPair> {
    const keys = await makeKeys();
    const cert = await sign(content, { issuer: this.#issuer, keys, isAuthority: false });
    const key = new Uint8Array(await crypto.subtle.exportKey("pkcs8", keys.privateKey));
    return { cert: pem("CERTIFICATE", cert), key: pem("PRIVATE KEY", key) };
  }

  /** For a server on this machine. */
  server(): Promise<KeyPair> {
    return this.issue({ subject: ["CN=server"], altNames: ["DNS:localhost", "IP:127.0.0.1"] });
  }

  /** For a caller of that name. */
  caller(name: string): Promise<KeyPair> {
    return this.issue({
      subject: ["O=team", `CN=${name}`],
      altNames: [`URI:spiffe://test/${name}`],
    });
  }
}

/** The bytes in a PEM text. */
export function derOf(pem: string): Uint8Array {
  return new Uint8Array(Buffer.from(pem.replace(/-----[^-]+-----/g, ""), "base64"));
}

function makeKeys(): Promise<CryptoKeyPair> {
  const algorithm = { name: "ECDSA", namedCurve: "P-256" };
  return crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
}

async function sign(
  content: CertificateContent,
  { issuer, keys, isAuthority }: { issuer: Issuer; keys: CryptoKeyPair; isAuthority: boolean },
): Promise<Uint8Array> {
  const { subject = [], altNames = [] } = content;
  const { notBeforeMs = Date.now() - DAY_MS, notAfterMs = Date.now() + DAY_MS } = content;
  const algorithm = der(0x30, oid(OID.ecdsaWithSha256));
  const publicKey = new Uint8Array(await crypto.subtle.exportKey("spki", keys.publicKey));
  const signed = der(
    0x30,
    der(0xa0, der(0x02, Uint8Array.of(2))),
    der(0x02, Uint8Array.of(1, ...crypto.getRandomValues(new Uint8Array(8)))),
    algorithm,
    issuer.name,
    der(0x30, time(notBeforeMs), time(notAfterMs)),
    nameOf(subject),
    publicKey,
    der(0xa3, der(0x30, ...extensions(altNames, isAuthority))),
  );
  const hash = { name: "ECDSA", hash: "SHA-256" };
  const signature = new Uint8Array(await crypto.subtle.sign(hash, issuer.key, signed));
  const halves = [signature.subarray(0, 32), signature.subarray(32)];
  return der(
    0x30,
    signed,
    algorithm,
    der(0x03, Uint8Array.of(0), der(0x30, ...halves.map(integer))),
  );
}

function extensions(altNames: readonly string[], isAuthority: boolean): Uint8Array[] {
  const yes = der(0x01, Uint8Array.of(0xff));
  const constraints = isAuthority ? der(0x30, yes) : der(0x30);
  const found = [der(0x30, oid(OID.basicConstraints), yes, der(0x04, constraints))];
  if (altNames.length > 0) {
    const names = der(0x30, ...altNames.map(altName));
    found.push(der(0x30, oid(OID.subjectAltName), der(0x04, names)));
  }
  return found;
}

function nameOf(attributes: readonly string[]): Uint8Array {
  return der(
    0x30,
    ...attributes.map((attribute) => {
      const [name, value] = split(attribute, "=");
      return der(0x31, der(0x30, oid(ATTRIBUTES[name] ?? name), der(0x0c, utf8(value))));
    }),
  );
}

function altName(text: string): Uint8Array {
  const [kind, value] = split(text, ":");
  const tag = ALT_NAME_TAGS[kind];
  if (tag === undefined) throw new TypeError(`Cannot make an alternative name of "${text}"`);
  return der(tag, kind === "IP" ? addressOf(value) : utf8(value));
}

function addressOf(text: string): Uint8Array {
  if (!text.includes(":")) return Uint8Array.from(text.split(".").map(Number));
  const groups = text.split(":").map((group) => parseInt(group, 16)); // written out, without "::"
  return Uint8Array.from(groups.flatMap((group) => [group >> 8, group & 0xff]));
}

function oid(text: string): Uint8Array {
  const [first = 0, second = 0, ...rest] = text.split(".").map(Number);
  return der(0x06, Uint8Array.from([first * 40 + second, ...rest].flatMap(base128)));
}

function base128(value: number): number[] {
  const low = [value & 0x7f];
  for (let left = value >> 7; left > 0; left >>= 7) low.unshift(left & 0x7f | 0x80);
  return low;
}

function time(ms: number): Uint8Array {
  const digits = new Date(ms).toISOString().replace(/[-:T]|\..*/g, "");
  const year = Number(digits.slice(0, 4));
  return year < 2050 ? der(0x17, utf8(`${digits.slice(2)}Z`)) : der(0x18, utf8(`${digits}Z`));
}

/** Without leading zeros, but for the one that keeps it positive. */
function integer(bytes: Uint8Array): Uint8Array {
  const from = bytes.findIndex((byte) => byte !== 0);
  const digits = bytes.subarray(from);
  return der(0x02, digits[0]! > 0x7f ? Uint8Array.of(0, ...digits) : digits);
}

/** A value with its tag and length. */
export function der(tag: number, ...content: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = Buffer.concat(content);
  const { length } = bytes;
  const size = length < 0x80
    ? [length]
    : length < 0x100
    ? [0x81, length]
    : [0x82, length >> 8, length & 0xff];
  return Uint8Array.of(tag, ...size, ...bytes);
}

function pem(label: string, bytes: Uint8Array): string {
  const lines = Buffer.from(bytes).toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}

function split(text: string, at: string): [string, string] {
  const index = text.indexOf(at);
  return [text.slice(0, index), text.slice(index + 1)];
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
