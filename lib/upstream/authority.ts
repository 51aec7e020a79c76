import type { Address } from "../transport/mod.ts";

/**
 * What a call of the sidecar's own says in `:authority` (RFC 9113 §8.3.1): the name that the backend is known by, never
 * a label of the operator's or a path, which servers reset for being malformed.
 */
export function authorityOf({ host, port, path, serverName }: Address, tlsName?: string): string {
  if (path !== undefined) return tlsName ?? "localhost"; // as gRPC's clients say over a unix socket
  const name = tlsName ?? serverName ?? host;
  return name.includes(":") ? `[${name}]:${port}` : `${name}:${port}`;
}
