/**
 * What it costs a call that leads to be placed among 1 to 100 backends; hits and joins are placed nowhere. The key of
 * the head is hashed once for a head, that of the message for each call.
 *
 * @module
 */

import type { Exchange } from "../../lib/upstream/exchange.ts";
import type { Host } from "../../lib/balance/host.ts";
import { pickerFor, type Routing } from "../../lib/balance/picker.ts";
import { hashText } from "../../lib/balance/rendezvous.ts";

const KEYS = 1_024;
const HEAD = "14:/pkg.Service/GetThing9:localhost16:application/grpc-".padEnd(300, "4:name5:value");

/** As much of a host as a picker looks at. */
function hosts(count: number): Host[] {
  return Array.from({ length: count }, (_, i) => {
    const name = `10.0.0.${i}:50051`;
    const counters = { inflight: i % 7, pending: 0, calls: i };
    return { endpoint: { name, counters }, hash: hashText(name), load: i % 7, takesCalls: true };
  }) as unknown as Host[];
}

/** As much of a call. */
function exchanges(keyBytes: number): Exchange[] {
  const target = { list: { get: () => "7" } };
  const head = { text: HEAD, placementHash: undefined };
  return Array.from({ length: KEYS }, (_, i) => {
    return { key: { head, bodyKey: `${i}`.padEnd(keyBytes, "x") }, target };
  }) as unknown as Exchange[];
}

function benchPicker(
  routing: Routing,
  { count, keyBytes = 32 }: { count: number; keyBytes?: number },
): void {
  const place = pickerFor(routing);
  const all = hosts(count);
  const calls = exchanges(keyBytes);
  let at = 0;
  const name = `${routing.by}, ${count} backends, key of ${keyBytes} bytes`;
  Deno.bench(name, { group: "placement" }, () => {
    const placed = place(calls[at++ % KEYS]!, all, (member) => member.takesCalls);
    if (placed === undefined) throw new Error("Cannot place a call: nobody took it");
  });
}

for (const count of [2, 10, 100]) benchPicker({ by: "key" }, { count });
benchPicker({ by: "key" }, { count: 100, keyBytes: 2_048 });
benchPicker({ by: "header", name: "x-shard" }, { count: 100 });
benchPicker({ by: "round-robin" }, { count: 100 });
benchPicker({ by: "least-loaded" }, { count: 100 });
