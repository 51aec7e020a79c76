import type { BackendEntry, Routing } from "../../../lib/balance/mod.ts";
import { addressName } from "../../../lib/transport/mod.ts";
import type { Draws } from "../draws.ts";

/** Metadata that says where a call is meant to go, where the routing heeds any. */
const ROUTING_HEADER = "x-shard";

/** A name that stands for all hosts, where they have no entries of their own. */
const NAME = "pods.test";
const PORT = 1;

/** What stands behind the proxy. */
export interface Hosts {
  /** Hosts as they are dialled, those included that the name stands for only later. */
  readonly addresses: readonly string[];
  readonly kind: "replicas" | "shards";
  readonly routing: Routing;
  /** A name stands for them. */
  readonly isNamed: boolean;
}

export function randomHosts(draws: Draws): Hosts {
  const count = draws.pick([1, 2, 3, 2, 3]);
  const addresses = ["a", "b", "c"].slice(0, count);
  const kind = draws.chance(0.3) ? "shards" : "replicas";
  const routing = draws.pick<Routing>([
    { by: "key" },
    { by: "header", name: ROUTING_HEADER },
    { by: "round-robin" },
    { by: "least-loaded" },
  ]);
  return {
    addresses,
    kind,
    routing: kind === "shards" ? { by: "header", name: ROUTING_HEADER } : routing, // as BACKEND_KIND demands
    isNamed: draws.chance(0.25),
  };
}

/** As BACKEND_ADDRESS names them. */
export function entriesOf({ addresses, isNamed }: Hosts): readonly BackendEntry[] {
  if (isNamed) return [{ name: NAME, address: { host: NAME, port: PORT }, resolves: true }];
  return addresses.map((host) => ({ name: host, address: { host, port: PORT } }));
}

/** What the proxy calls the backend at this host. */
export function nameAt(host: string, { isNamed }: Hosts): string {
  return isNamed ? addressName({ host, port: PORT }) : host;
}

/** The metadata that places a call, where the routing heeds any. */
export function routingHeader({ routing }: Hosts): string | undefined {
  return routing.by === "header" ? routing.name : undefined;
}

/** The name that is resolved, where there is one. */
export function resolvedName({ isNamed }: Hosts): string | undefined {
  return isNamed ? NAME : undefined;
}

/** Where there is no other host and will be none, the proxy has no use for a picker or for ejections. */
export function areBalanced({ addresses, isNamed }: Hosts): boolean {
  return addresses.length > 1 || isNamed;
}
