/**
 * What a hit costs with 1 to 100,000 results stored: the same work however many there are. Where the same key comes
 * again that is all there is to see. Where every key comes in turn, memory has its say as well: a plain `Map` of as
 * many keys stands beside it to tell how much of that any map would pay; the rest is the result itself and its two
 * neighbours in the order of use. The file ends with the same checks as `paths_bench.ts`.
 *
 * @module
 */

import { CollapseMap } from "../../lib/collapse/mod.ts";
import { Ledger, Outcomes } from "../support/ledger.ts";
import { GatheredReply } from "../support/replies.ts";

/** Room for all of them. */
const LIMITS = {
  maxCacheEntries: 1e6,
  maxCacheBytes: 2 ** 30,
  joinMaxAgeMs: 10_000,
  maxFollowers: 1e5,
};

const TTL_MS = 100;

/** It has no factor in common with the sizes, so each key comes once before any comes again, far from the last one. */
const STRIDE = 7_919;

/** None, but for what counting them adds. */
const NO_BYTES = 0.5;

const ledger = new Ledger();

for (const size of [1, 100, 10_000, 100_000]) {
  benchHits(size, { group: "the same key again", stride: 0, baseline: size === 1 });
}
for (const size of [100, 10_000, 100_000]) {
  const group = `every key in turn, ${countOf(size)}`;
  benchPlainMap(size, group);
  benchHits(size, { group, stride: STRIDE, baseline: false });
}

function benchHits(
  size: number,
  { group, stride, baseline }: { group: string; stride: number; baseline: boolean },
): void {
  const map = new CollapseMap<GatheredReply>(LIMITS);
  const head = map.head("head", { name: "a.S", generation: 0 });
  const keys = keysOf(size);
  const outcomes = new Outcomes();
  for (const key of keys) {
    const flight = map.lead(head, key, { reply: new GatheredReply(), nowMs: 0 });
    map.keep(flight, 0, TTL_MS);
  }
  let at = size >> 1;
  function call(): void {
    outcomes.calls++;
    at = (at + stride) % size;
    const found = map.lookUp(head, keys[at]!, 50);
    if (found === undefined) outcomes.leads++;
    else if (found.stored) outcomes.hits++;
    else outcomes.joins++;
  }
  const facts = () => ({
    "all of them are stored": map.stored.entries === size && head.flights.size === size,
    "nothing flies or waits": map.flying === 0 && map.waiting === 0,
  });
  const name = `hit, ${stride === 0 ? "one of" : "each of"} ${countOf(size)}`;
  ledger.bench(
    { name, outcomes, path: "hits", call, maxBytes: NO_BYTES, facts },
    { group, baseline },
  );
}

function benchPlainMap(size: number, group: string): void {
  const keys = keysOf(size);
  const map = new Map(keys.map((key) => [key, { found: true }]));
  const outcomes = new Outcomes();
  let at = size >> 1;
  let found = 0;
  function call(): void {
    outcomes.calls++;
    at = (at + STRIDE) % size;
    if (map.get(keys[at]!)?.found) found++;
  }
  const facts = () => ({ "every key is found": found === outcomes.calls });
  const name = `plain Map, each of ${countOf(size)}`;
  ledger.bench(
    { name, outcomes, path: undefined, call, maxBytes: NO_BYTES, facts },
    { group, baseline: true },
  );
}

function keysOf(size: number): string[] {
  return Array.from({ length: size }, (_, i) => `key ${i}`);
}

function countOf(size: number): string {
  return size.toLocaleString("en");
}
