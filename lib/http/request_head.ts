import { MAX_BODY_BYTES } from "./limits.ts";

/** The head of a request that can be answered. */
export interface RequestHead {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  /** Bytes of the body; 0 when there is none. */
  readonly bodyBytes: number;
  /** Whether the client takes another answer on the connection (RFC 9112 §9.3). */
  readonly keepsOpen: boolean;
  /** Whether the client knows chunks: HTTP/1.1. */
  readonly takesChunks: boolean;
}

/** Why a head is not answered: the status, and a line for the client. */
export interface BadHead {
  readonly status: number;
  readonly why: string;
}

/** A token (RFC 9110 §5.6.2): what methods and field names are made of. */
const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/;

/** A request line (RFC 9112 §3): what stands between is looked at afterwards. */
const REQUEST_LINE = /^(\S+) (\S+) HTTP\/(\d)\.(\d)$/;

/** A field's value (RFC 9110 §5.5): visible, spaces and tabs, and bytes above ASCII. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Reads a head, which is all up to the empty line and without it, a character for each byte. Strict where two readers
 * could differ: line ends, spaces before a colon, folded lines, more than one length (RFC 9112 §2.2, §5.1, §5.2, §6.3).
 */
export function parseRequestHead(text: string): RequestHead | BadHead {
  const [requestLine = "", ...lines] = text.split("\r\n");
  const [, method, target, major, minor] = REQUEST_LINE.exec(requestLine) ?? [];
  if (method === undefined || target === undefined || !TOKEN.test(method)) {
    return bad("no request line of HTTP/1.1");
  }
  if (major !== "1") return { status: 505, why: "Only HTTP/1.1 here" };
  const headers = readFields(lines);
  if (!(headers instanceof Headers)) return headers;
  const takesChunks = minor !== "0";
  const hosts = lines.filter((line) => /^host:/i.test(line)).length;
  if (hosts > 1 || takesChunks && hosts === 0) return bad("expected one Host field");
  const url = urlOf(target, headers.get("host") ?? "localhost");
  if (url === null) return bad("no such host or path");
  const body = bodyOf(headers);
  if (typeof body !== "number") return body;
  return {
    method,
    url,
    headers,
    bodyBytes: body,
    keepsOpen: keepsOpen(headers, takesChunks),
    takesChunks,
  };
}

function readFields(lines: readonly string[]): Headers | BadHead {
  const headers = new Headers();
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(0, colon));
    const value = line.slice(colon + 1).replace(/^[\t ]+|[\t ]+$/g, "");
    if (!TOKEN.test(name) || !VALUE.test(value)) return bad("a field that is none");
    headers.append(name, value);
  }
  return headers;
}

/** The URL that is asked for (RFC 9112 §3.3), by origin-form or absolute-form; null when it is none. */
function urlOf(target: string, host: string): string | null {
  if (!/^[!-~]+$/.test(target)) return null;
  if (/^https?:\/\//i.test(target)) return URL.parse(target)?.href ?? null;
  if (!target.startsWith("/") || /[/?#@\\]/.test(host)) return null;
  return URL.parse(`http://${host}${target}`)?.href ?? null;
}

/** Bytes of the body (RFC 9112 §6.3). A body whose length is not said beforehand is not taken. */
function bodyOf(headers: Headers): number | BadHead {
  if (headers.has("transfer-encoding")) {
    return { status: 411, why: "expected a body with Content-Length, or none" };
  }
  if (headers.has("expect")) return { status: 417, why: "expected no Expect field" };
  const length = headers.get("content-length");
  if (length === null) return 0;
  if (!/^\d{1,15}$/.test(length)) return bad("expected one Content-Length, a number");
  if (Number(length) > MAX_BODY_BYTES) {
    return { status: 413, why: `No body of more than ${MAX_BODY_BYTES} bytes` };
  }
  return Number(length);
}

function keepsOpen(headers: Headers, isLatest: boolean): boolean {
  const options = (headers.get("connection") ?? "").toLowerCase().split(/[\t ]*,[\t ]*/);
  if (options.includes("close")) return false;
  return isLatest || options.includes("keep-alive");
}

function bad(what: string): BadHead {
  return { status: 400, why: `Bad request: ${what}` };
}
