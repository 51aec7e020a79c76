import type { Address } from "../../transport/mod.ts";

/** An address as `:authority` and messages have it: an IPv6 host in brackets. */
export function authorityOf({ host, port }: Address): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}
