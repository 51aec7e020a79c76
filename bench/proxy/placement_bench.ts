/**
 * What it costs a call that leads to be placed among 1 to 100 backends; hits and joins are placed nowhere. The key of
 * the head is hashed once for a head, that of the message for each call.
 *
 * @module
 */

import type { Exchange } from "../../lib/proxy/exchange.ts";
import type { Member } from "../../lib/proxy/member.ts";
import { placementFor, type Routing } from "../../lib/proxy/placement.ts";
import { hashText } from "../../lib/proxy/rendezvous.ts";

const KEYS = 1_024;
const HEAD = "14:/pkg.Service/GetThing9:localhost16:application/grpc-".padEnd(300, "4:name5:value");

/** As much of a member as a placement looks at. */
function members(count: number): Member[] {
  return Array.from({ length: count }, (_, i) => {
    const name = `10.0.0.${i}:50051`;
    const counters = { inflight: i % 7, pending: 0, calls: i };
    return { backend: { name, counters }, hash: hashText(name), load: i % 7, takesCalls: true };
  }) as unknown as Member[];
}

/** As much of a call. */
function exchanges(keyBytes: number): Exchange[] {
  const route = { list: { get: () => "7" }, keyHash: undefined };
  return Array.from({ length: KEYS }, (_, i) => {
    const flight = { head: { text: HEAD }, bodyKey: `${i}`.padEnd(keyBytes, "x") };
    return { flight, route };
  }) as unknown as Exchange[];
}

function benchPlacement(
  routing: Routing,
  { count, keyBytes = 32 }: { count: number; keyBytes?: number },
): void {
  const place = placementFor(routing);
  const all = members(count);
  const calls = exchanges(keyBytes);
  let at = 0;
  const name = `${routing.by}, ${count} backends, key of ${keyBytes} bytes`;
  Deno.bench(name, { group: "placement" }, () => {
    const placed = place(calls[at++ % KEYS]!, all, (member) => member.takesCalls);
    if (placed === undefined) throw new Error("Cannot place a call: nobody took it");
  });
}

for (const count of [2, 10, 100]) benchPlacement({ by: "key" }, { count });
benchPlacement({ by: "key" }, { count: 100, keyBytes: 2_048 });
benchPlacement({ by: "header", name: "x-shard" }, { count: 100 });
benchPlacement({ by: "round-robin" }, { count: 100 });
benchPlacement({ by: "least-loaded" }, { count: 100 });
