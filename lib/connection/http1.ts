import { type OutputBuffer, putLatin1 } from "../wire/mod.ts";

/** Method and target, and as much of the version as there is (RFC 9112 §3). */
const REQUEST_LINE = /^[A-Z]{3,20} (?:\/|\*|https?:\/\/)[!-~]*(?: HTTP\/1\.[01]|$)/;

const TEXT = "This port speaks gRPC over HTTP/2, not HTTP/1.\n";

const REFUSAL = [
  "HTTP/1.1 400 Bad Request",
  "content-type: text/plain; charset=utf-8",
  `content-length: ${TEXT.length}`,
  "connection: close",
  "",
  TEXT,
].join("\r\n");

/** What came in place of the preface is the beginning of an HTTP/1 request. */
export function looksLikeHttp1(text: string): boolean {
  return REQUEST_LINE.test(text);
}

/** Says in HTTP/1 that nobody speaks it here; the connection is to be closed then. */
export function writeHttp1Refusal(out: OutputBuffer): void {
  const at = out.extend(REFUSAL.length);
  putLatin1(REFUSAL, out.bytes, at);
}
