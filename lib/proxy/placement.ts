import type { Exchange } from "./exchange.ts";
import type { Member } from "./member.ts";
import { hashText, weight } from "./rendezvous.ts";

/** How a call picks among several backends (BACKEND_ROUTING). */
export type Routing =
  | { readonly by: "key" | "round-robin" | "least-loaded" }
  | { readonly by: "header"; readonly name: string };

/** Whom a call may go to. */
export type Admits = (member: Member) => boolean;

/** Picks one of those that are admitted; undefined when none is. */
export type Placement = (
  exchange: Exchange,
  members: readonly Member[],
  admits: Admits,
) => Member | undefined;

/** The placement that a routing stands for. */
export function placementFor(routing: Routing): Placement {
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
function byKey(exchange: Exchange, members: readonly Member[], admits: Admits): Member | undefined {
  const { flight, route } = exchange;
  if (flight === undefined) return leastLoaded(exchange, members, admits);
  route.keyHash ??= hashText(flight.head.text);
  return heaviest(hashText(flight.bodyKey, route.keyHash), members, admits);
}

/** A value that is a backend's name means that backend; any other, the missing one too, is hashed. */
function byHeader(name: string): Placement {
  return (exchange, members, admits) => {
    const value = exchange.route.list.get(name) ?? "";
    const named = members.find(({ backend }) => backend.name === value);
    if (named !== undefined && admits(named)) return named;
    return heaviest(hashText(value), members, admits);
  };
}

function byTurn(): Placement {
  let turn = 0;
  return (_exchange, members, admits) => {
    for (let tried = 0; tried < members.length; tried++) {
      const member = members[turn++ % members.length]!;
      if (admits(member)) return member;
    }
    return undefined;
  };
}

/** The one with the fewest calls on its hands; of equals, the one that was sent the fewest. */
function leastLoaded(
  _exchange: Exchange,
  members: readonly Member[],
  admits: Admits,
): Member | undefined {
  let best: Member | undefined;
  for (const member of members) {
    if (!admits(member)) continue;
    const gap = best === undefined ? -1 : member.load - best.load ||
      member.backend.counters.calls - best.backend.counters.calls;
    if (gap < 0) best = member;
  }
  return best;
}

function heaviest(
  keyHash: number,
  members: readonly Member[],
  admits: Admits,
): Member | undefined {
  let best: Member | undefined;
  let most = -1;
  for (const member of members) {
    const wants = weight(keyHash, member.hash);
    if (wants <= most || !admits(member)) continue;
    most = wants;
    best = member;
  }
  return best;
}
