import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import type { Host } from "../../lib/balance/host.ts";
import { type Admits, pickerFor } from "../../lib/balance/picker.ts";
import { hashText, weight } from "../../lib/balance/rendezvous.ts";
import type { Exchange, PlacementKey } from "../../lib/upstream/mod.ts";
import { exchangeOf, RecordingOwner } from "../upstream/exchange_fixture.ts";
import { hostOf } from "./host_fixture.ts";

const HOSTS = ["a", "b", "c", "d"].map((name) => hostOf(name));

const everybody: Admits = () => true;

function allBut(...names: string[]): Admits {
  return ({ endpoint }) => !names.includes(endpoint.name);
}

function keyed(
  bodyKey: string,
  head: PlacementKey["head"] = { text: "h", placementHash: undefined },
) {
  return exchangeOf(new RecordingOwner(), { key: { head, bodyKey } });
}

function withHeader(value?: string): Exchange {
  const metadata = value === undefined ? [] : [["x-to", value] as const];
  return exchangeOf(new RecordingOwner(), { metadata });
}

/** Sets how busy hosts are, and how many calls they were sent. */
function load(numbers: Record<string, readonly [load: number, calls: number]>): Host[] {
  return Object.entries(numbers).map(([name, [inflight, calls]]) => {
    const host = hostOf(name);
    Object.assign(host.endpoint.counters, { inflight, calls });
    return host;
  });
}

/** The order in which hosts want a hash, most first. */
function wanting(keyHash: number): string[] {
  return HOSTS.toSorted((one, other) => weight(keyHash, other.hash) - weight(keyHash, one.hash))
    .map(({ endpoint }) => endpoint.name);
}

function nameOf(host: Host | undefined): string | undefined {
  return host?.endpoint.name;
}

Deno.test("pickerFor by key gives a key to whoever wants it most, and to the next one when that is left out", () => {
  const pick = pickerFor({ by: "key" });
  const owners = new Set<string | undefined>();
  for (let i = 0; i < 100; i++) {
    const order = wanting(hashText(`key ${i}`, hashText("h")));
    const exchange = keyed(`key ${i}`);
    for (let out = 0; out < HOSTS.length; out++) {
      const host = pick(exchange, HOSTS, allBut(...order.slice(0, out)));
      assertEquals(nameOf(host), order[out], `key ${i} without ${out}`);
    }
    assertEquals(pick(exchange, HOSTS, () => false), undefined);
    assertEquals(nameOf(pick(exchange, [...HOSTS].reverse(), everybody)), order[0]);
    owners.add(order[0]);
  }
  assertEquals(owners.size, HOSTS.length);
});

Deno.test("pickerFor by key hashes a head once, and tells heads apart", () => {
  const pick = pickerFor({ by: "key" });
  const head = { text: "some head", placementHash: undefined as number | undefined };
  pick(keyed("1", head), HOSTS, everybody);
  assertEquals(head.placementHash, hashText("some head"));
  head.placementHash = 77; // as if it had been that
  for (let i = 0; i < 20; i++) {
    const [expected] = wanting(hashText(`${i}`, 77));
    assertEquals(nameOf(pick(keyed(`${i}`, head), HOSTS, everybody)), expected);
  }
  const owners = Array.from({ length: 20 }, (_, i) => {
    return nameOf(
      pick(keyed("1", { text: `head ${i}`, placementHash: undefined }), HOSTS, everybody),
    );
  });
  assertEquals(new Set(owners).size, HOSTS.length);
});

Deno.test("pickerFor by key gives a call without one to the least loaded", () => {
  const hosts = load({ a: [2, 0], b: [1, 9], c: [2, 0] });
  const pick = pickerFor({ by: "key" });
  assertEquals(nameOf(pick(exchangeOf(new RecordingOwner()), hosts, everybody)), "b");
  assertEquals(nameOf(pick(exchangeOf(new RecordingOwner()), hosts, allBut("b"))), "a");
});

Deno.test("pickerFor least-loaded goes by calls on their hands, then by calls sent, then by their order", () => {
  const pick = pickerFor({ by: "least-loaded" });
  const cases: [Parameters<typeof load>[0], string][] = [
    [{ a: [1, 0], b: [0, 50], c: [1, 0] }, "b"],
    [{ a: [1, 7], b: [1, 6], c: [1, 8] }, "b"],
    [{ a: [1, 7], b: [1, 7], c: [2, 0] }, "a"],
    [{ a: [5, 5], b: [4, 5], c: [3, 9] }, "c"],
  ];
  for (const [numbers, expected] of cases) {
    const host = pick(keyed("any"), load(numbers), everybody); // whatever the key
    assertEquals(nameOf(host), expected, Deno.inspect(numbers));
  }
  assertEquals(pick(keyed("any"), load({ a: [0, 0] }), () => false), undefined);
  assertEquals(pick(keyed("any"), [], everybody), undefined);
});

Deno.test("pickerFor round-robin takes turns, and a host that is left out passes its turn on", () => {
  const pick = pickerFor({ by: "round-robin" });
  const turns = (count: number, admits: Admits) =>
    Array.from({ length: count }, () => nameOf(pick(keyed("any"), HOSTS, admits))).join("");
  assertEquals(turns(6, everybody), "abcdab");
  assertEquals(turns(5, allBut("c", "d")), "ababa");
  assertEquals(turns(3, everybody), "bcd");
  assertEquals(pick(keyed("any"), HOSTS, () => false), undefined);
  assertEquals(turns(4, everybody), "abcd"); // everybody was asked once for nothing
  const other = pickerFor({ by: "round-robin" });
  assertEquals(nameOf(other(keyed("any"), HOSTS, everybody)), "a"); // each has a turn of its own
});

Deno.test("pickerFor round-robin goes on when there are fewer hosts than its turn", () => {
  const pick = pickerFor({ by: "round-robin" });
  for (let i = 0; i < 3; i++) pick(keyed("any"), HOSTS, everybody);
  const [a, b] = HOSTS;
  assertStrictEquals(pick(keyed("any"), [a!, b!], everybody), b);
  assertEquals(pick(keyed("any"), [], everybody), undefined);
});

Deno.test("pickerFor header takes a backend's name for that backend, and hashes everything else", () => {
  const pick = pickerFor({ by: "header", name: "x-to" });
  for (const { endpoint: { name } } of HOSTS) {
    assertEquals(nameOf(pick(withHeader(name), HOSTS, everybody)), name);
    const [first, second] = wanting(hashText(name));
    const stand = pick(withHeader(name), HOSTS, allBut(name));
    assertEquals(nameOf(stand), first === name ? second : first);
  }
  const owners = new Set<string | undefined>();
  for (let i = 0; i < 50; i++) {
    const owner = nameOf(pick(withHeader(`shard ${i}`), HOSTS, everybody));
    assertEquals(owner, wanting(hashText(`shard ${i}`))[0]);
    owners.add(owner);
  }
  assertEquals(owners.size, HOSTS.length);
  assertEquals(nameOf(pick(withHeader(), HOSTS, everybody)), wanting(hashText(""))[0]);
  assert(pick(withHeader("a"), HOSTS, () => false) === undefined);
});
