/** Reason phrases of the statuses that are given here (RFC 9110 §15, RFC 6585); others have none, which is allowed. */
const REASONS: ReadonlyMap<number, string> = new Map([
  [200, "OK"],
  [304, "Not Modified"],
  [400, "Bad Request"],
  [401, "Unauthorized"],
  [403, "Forbidden"],
  [404, "Not Found"],
  [405, "Method Not Allowed"],
  [408, "Request Timeout"],
  [411, "Length Required"],
  [413, "Content Too Large"],
  [414, "URI Too Long"],
  [417, "Expectation Failed"],
  [421, "Misdirected Request"],
  [429, "Too Many Requests"],
  [431, "Request Header Fields Too Large"],
  [500, "Internal Server Error"],
  [503, "Service Unavailable"],
  [505, "HTTP Version Not Supported"],
]);

/** How the body that follows a head is delimited (RFC 9112 §6). */
export type Framing = { readonly length: number } | "chunked" | "until close" | "none";

const encoder = new TextEncoder();

/** The bytes of a response's head. `keepsOpen` says whether another answer may follow on the connection. */
export function responseHead(
  { status, headers }: Response,
  { framing, keepsOpen }: { framing: Framing; keepsOpen: boolean },
): Uint8Array {
  let text = `HTTP/1.1 ${status} ${REASONS.get(status) ?? ""}\r\ndate: ${
    new Date().toUTCString()
  }\r\n`;
  for (const [name, value] of headers) text += `${name}: ${value}\r\n`;
  if (framing === "chunked") text += "transfer-encoding: chunked\r\n";
  else if (typeof framing === "object") text += `content-length: ${framing.length}\r\n`;
  if (!keepsOpen) text += "connection: close\r\n";
  return encoder.encode(`${text}\r\n`);
}

/** A chunk (RFC 9112 §7.1); the last one when there are no bytes. */
export function chunkOf(bytes: Uint8Array): Uint8Array {
  const size = encoder.encode(`${bytes.length.toString(16)}\r\n`);
  const chunk = new Uint8Array(size.length + bytes.length + 2);
  chunk.set(size);
  chunk.set(bytes, size.length);
  chunk.set([13, 10], size.length + bytes.length);
  return chunk;
}
