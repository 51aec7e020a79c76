import type { Address } from "../../transport/mod.ts";

/** As it stands in `:authority` and in messages: an IPv6 address has brackets there. */
export function authorityOf({ host, port }: Address): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}
