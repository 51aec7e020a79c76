const GRPC_TYPE = "application/grpc";

const TAB = 0x09;
const SPACE = 0x20;
const PLUS = 0x2b;
const SEMICOLON = 0x3b;

/**
 * Whether a `content-type` is gRPC's: `application/grpc`, alone or followed by `+format` or by
 * `;parameters` (PROTOCOL-HTTP2 "Requests", Content-Type; RFC 9110 §8.3.1 for parameters, blanks
 * and the case of the type). `application/grpc-web` and its like are another protocol and are not.
 * Where this is false a server answers HTTP 415. Allocates nothing for the usual spelling.
 */
export function isGrpcContentType(value: string): boolean {
  if (value === GRPC_TYPE) return true;
  if (
    !value.startsWith(GRPC_TYPE) && value.slice(0, GRPC_TYPE.length).toLowerCase() !== GRPC_TYPE
  ) return false;
  let at = GRPC_TYPE.length;
  if (value.charCodeAt(at) === PLUS) return true;
  while (value.charCodeAt(at) === SPACE || value.charCodeAt(at) === TAB) at++;
  return at === value.length || value.charCodeAt(at) === SEMICOLON;
}

/**
 * The normal form of a `grpc-accept-encoding` list (PROTOCOL-HTTP2 "Requests",
 * Message-Accept-Encoding): names sorted, each once, without blanks or empty elements, joined by
 * commas. Clients that accept the same encodings get the same text, whatever their order. The case
 * of a name is kept: gRPC does not say that it is free.
 */
export function acceptEncodingKey(value: string): string {
  if (!value.includes(",")) return value.trim();
  const names = new Set<string>();
  for (const element of value.split(",")) {
    const name = element.trim();
    if (name !== "") names.add(name);
  }
  return [...names].sort().join(",");
}
