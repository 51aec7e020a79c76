import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { type FileText, readFileText } from "./file_watch.ts";

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Where one part of a TLS set-up is kept. */
export interface CertificateFile {
  /** What people call the file: the variable that holds its path. */
  readonly name: string;
  readonly path: string;
}

/** The files of one side's TLS; a certificate and its key go together. */
export interface CertificateFiles {
  /** The certificate shown to the peer, with what leads to its CA. */
  readonly cert?: CertificateFile | undefined;
  readonly key?: CertificateFile | undefined;
  /** The CA that the peer's certificate must be from. */
  readonly ca?: CertificateFile | undefined;
}

/** What is in the files of one side: PEM. */
export interface Certificates {
  readonly cert: string | undefined;
  readonly key: string | undefined;
  readonly ca: string | undefined;
}

/** Certificates that can be used, or all that is wrong with them. */
export type CertificateReading =
  | { readonly certificates: Certificates }
  | { readonly problems: readonly string[] };

/** Reads the files and checks what is in them. */
export function readCertificates(files: CertificateFiles): CertificateReading {
  return judgeCertificates(files, {
    cert: readText(files.cert),
    key: readText(files.key),
    ca: readText(files.ca),
  });
}

/** Checks what was read of the files: that it parses, and that the key is the certificate's. */
export function judgeCertificates(
  files: CertificateFiles,
  texts: Readonly<Record<keyof CertificateFiles, FileText | undefined>>,
): CertificateReading {
  const problems: string[] = [];
  const cert = look(files.cert, texts.cert, { problems, parse: firstCertificate });
  const key = look(files.key, texts.key, { problems, parse: privateKey });
  const ca = look(files.ca, texts.ca, { problems, parse: firstCertificate });
  if (cert !== undefined && key !== undefined && !cert.parsed.checkPrivateKey(key.parsed)) {
    problems.push(
      `Cannot use ${quoted(files.key!)}: expected the key of the certificate in ${
        quoted(files.cert!)
      }`,
    );
  }
  if (problems.length > 0) return { problems };
  return { certificates: { cert: cert?.text, key: key?.text, ca: ca?.text } };
}

function readText(file: CertificateFile | undefined): FileText | undefined {
  return file === undefined ? undefined : readFileText(file.path);
}

function look<T>(
  file: CertificateFile | undefined,
  read: FileText | undefined,
  { problems, parse }: { problems: string[]; parse: (text: string) => T },
): { parsed: T; text: string } | undefined {
  if (file === undefined || read === undefined) return undefined;
  if ("why" in read) {
    problems.push(`Cannot read ${quoted(file)}: ${read.why}`);
    return undefined;
  }
  try {
    return { parsed: parse(read.text), text: read.text };
  } catch (error) {
    problems.push(`Cannot use ${quoted(file)}: ${error instanceof Error ? error.message : error}`);
    return undefined;
  }
}

/** Every certificate in the file must parse; the first one is that of the peer itself. */
function firstCertificate(text: string): X509Certificate {
  const [first, ...rest] = text.match(CERTIFICATE) ?? [];
  if (first === undefined) throw new Error("expected certificates in PEM form");
  return [first, ...rest].map(parseCertificate)[0]!;
}

function parseCertificate(pem: string, index: number): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch {
    throw new Error(`expected certificates in PEM form; number ${index + 1} cannot be parsed`);
  }
}

function privateKey(text: string): KeyObject {
  if (/ENCRYPTED/.test(text)) throw new Error("expected a key that needs no passphrase");
  try {
    return createPrivateKey(text);
  } catch {
    throw new Error("expected a private key in PEM form");
  }
}

function quoted({ name, path }: CertificateFile): string {
  return `${name} "${path}"`;
}
