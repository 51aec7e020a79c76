import type { Exchange } from "../upstream/mod.ts";
import type { Host } from "./host.ts";
import { hashText, weight } from "./rendezvous.ts";

/** How a call picks among several backends (BACKEND_ROUTING). */
export type Routing =
  | { readonly by: "key" | "round-robin" | "least-loaded" }
  | { readonly by: "header"; readonly name: string };

/** Whether a call may go to a host. */
export type Admits = (host: Host) => boolean;

/** Picks one of the hosts that are admitted; undefined when none is. */
export type Picker = (
  exchange: Exchange,
  hosts: readonly Host[],
  admits: Admits,
) => Host | undefined;

/** The placement that a routing stands for. */
export function pickerFor(routing: Routing): Picker {
  switch (routing.by) {
    case "key":
      return byKey;
    case "round-robin":
      return byTurn();
    case "least-loaded":
      return leastLoaded;
    case "header":
      return byHeader(routing.name);
  }
}

/** Equal calls meet at one backend, across replicas of the sidecar too; calls without a key have no reason to. */
function byKey(exchange: Exchange, hosts: readonly Host[], admits: Admits): Host | undefined {
  const { key } = exchange;
  if (key === undefined) return leastLoaded(exchange, hosts, admits);
  key.head.placementHash ??= hashText(key.head.text);
  return heaviest(hashText(key.bodyKey, key.head.placementHash), hosts, admits);
}

/** A value that is a backend's name means that backend; any other, the missing one too, is hashed. */
function byHeader(name: string): Picker {
  return (exchange, hosts, admits) => {
    const value = exchange.target.list.get(name) ?? "";
    const named = hosts.find(({ endpoint }) => endpoint.name === value);
    if (named !== undefined && admits(named)) return named;
    return heaviest(hashText(value), hosts, admits);
  };
}

function byTurn(): Picker {
  let turn = 0;
  return (_exchange, hosts, admits) => {
    for (let tried = 0; tried < hosts.length; tried++) {
      const host = hosts[turn++ % hosts.length]!;
      if (admits(host)) return host;
    }
    return undefined;
  };
}

/** The one with the fewest calls on its hands; of equals, the one that was sent the fewest. */
function leastLoaded(
  _exchange: Exchange,
  hosts: readonly Host[],
  admits: Admits,
): Host | undefined {
  let best: Host | undefined;
  for (const host of hosts) {
    if (!admits(host)) continue;
    const gap = best === undefined ? -1 : host.load - best.load ||
      host.endpoint.counters.calls - best.endpoint.counters.calls;
    if (gap < 0) best = host;
  }
  return best;
}

function heaviest(
  keyHash: number,
  hosts: readonly Host[],
  admits: Admits,
): Host | undefined {
  let best: Host | undefined;
  let most = -1;
  for (const host of hosts) {
    const wants = weight(keyHash, host.hash);
    if (wants <= most || !admits(host)) continue;
    most = wants;
    best = host;
  }
  return best;
}
