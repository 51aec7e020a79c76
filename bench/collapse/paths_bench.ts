/**
 * What the collapser costs a call on each of its paths, in process: answered from the store, joining a flight, leading
 * one, beside a call without any collapser. One iteration is one call, counting included. Run with
 * `deno bench bench/collapse/`.
 *
 * The table at the end says what happened to the calls of each benchmark, by what `lookUp` gave them, and the run
 * fails when one of them took another path than its name says. It says as well how many bytes a call allocates on the
 * JavaScript heap (see `allocatedBytes`), and the run fails when there are more than the path may have.
 *
 * Targets: hit 25 ns, 0 bytes; join 100 ns, 64 bytes; lead 1.5 µs.
 *
 * @module
 */

import { bodyKey, CollapseMap, type KeyHead, Waiter } from "../../lib/collapse/mod.ts";
import { latin1 } from "../../lib/wire/mod.ts";
import { Ledger, Outcomes } from "../support/ledger.ts";
import { copyRequest, GatheredReply, MESSAGE } from "../support/replies.ts";

const GROUP = "one call";

const LIMITS = {
  maxCacheEntries: 10_000,
  maxCacheBytes: 2 ** 26,
  joinMaxAgeMs: 10_000,
  maxFollowers: 1e5,
};

const TTL_MS = 100;

/** What a waiter may cost; a call is one itself, so that of these only its three fields are added. */
const MAX_WAITER_BYTES = 64;

/** Waiters on the flight that is joined: each that comes takes the place of the one that came first. */
const WAITERS = 1_024;

/** Keys that are led in turn: when one comes again, its result has expired and is gone long since. */
const LED_KEYS = 4_096;

const CODEC = { latin1, digest: () => "", digestText: () => "" };

const ledger = new Ledger();

/** A map with one head under which everything happens. */
class Stage {
  readonly map = new CollapseMap<GatheredReply>(LIMITS);
  readonly head: KeyHead<GatheredReply> = this.map.head("head", { name: "a.S", generation: 0 });
  readonly outcomes = new Outcomes();
}

benchPlainCall();
benchHit("hit", () => "key");
benchHit("hit, its key made from 64 bytes", () => bodyKey(MESSAGE, 0, MESSAGE.length, CODEC));
benchJoin();
benchLead("lead, and keep the result", { ttlMs: TTL_MS, gathers: false });
benchLead("lead, and keep nothing", { ttlMs: 0, gathers: false });
benchLead("lead, with request and reply of 64 bytes gathered", { ttlMs: TTL_MS, gathers: true });

function benchPlainCall(): void {
  const { outcomes } = new Stage();
  const reply = new GatheredReply();
  let answered = 0;
  function backend(key: string): GatheredReply | undefined {
    answered++;
    return key === "" ? undefined : reply;
  }
  function call(): void {
    outcomes.calls++;
    if (backend("key") === undefined) throw new Error("Cannot happen");
  }
  const facts = () => ({ "every call is answered by the backend": answered === outcomes.calls });
  ledger.bench(
    { name: "no collapser", outcomes, path: undefined, call, maxBytes: 0.5, facts },
    { group: GROUP, baseline: true },
  );
}

function benchHit(name: string, makeKey: () => string): void {
  const { map, head, outcomes } = new Stage();
  const flight = map.lead(head, makeKey(), { reply: new GatheredReply(), nowMs: 0 });
  map.keep(flight, 0, TTL_MS);
  function call(): void {
    outcomes.calls++;
    const found = map.lookUp(head, makeKey(), 50);
    if (found === undefined) outcomes.leads++;
    else if (found.stored) outcomes.hits++;
    else outcomes.joins++;
  }
  const facts = () => ({
    "one result is stored": map.stored.entries === 1,
    "nothing flies or waits": map.flying === 0 && map.waiting === 0,
  });
  const maxBytes = name === "hit" ? 0.5 : 2 * MESSAGE.length;
  ledger.bench({ name, outcomes, path: "hits", call, maxBytes, facts }, { group: GROUP });
}

/** Includes the leaving of another waiter, without which they would pile up. */
function benchJoin(): void {
  const { map, head, outcomes } = new Stage();
  const flight = map.lead(head, "key", { reply: new GatheredReply(), nowMs: 0 });
  const waiters = Array.from({ length: WAITERS }, () => new Waiter<GatheredReply>());
  for (const waiter of waiters) map.join(flight, waiter);
  let at = 0;
  function call(): void {
    outcomes.calls++;
    const found = map.lookUp(head, "key", 50);
    if (found === undefined || map.isFull(found)) outcomes.leads++;
    else if (found.stored) outcomes.hits++;
    else {
      const waiter = new Waiter<GatheredReply>();
      map.join(found, waiter);
      map.leave(waiters[at]!);
      waiters[at] = waiter;
      at = (at + 1) % WAITERS;
      outcomes.joins++;
    }
  }
  const facts = () => ({
    "one flight flies": map.flying === 1 && map.lookUp(head, "key", 50) === flight,
    "as many wait as ever": map.waiting === WAITERS && flight.waiterCount === WAITERS,
    "nothing is stored": map.stored.entries === 0,
  });
  ledger.bench(
    {
      name: "join, and leave",
      outcomes,
      path: "joins",
      call,
      maxBytes: MAX_WAITER_BYTES,
      facts,
    },
    { group: GROUP },
  );
}

/** From the look that finds nothing to the leader's leaving; a millisecond passes from one call to the next. */
function benchLead(name: string, { ttlMs, gathers }: { ttlMs: number; gathers: boolean }): void {
  const { map, head, outcomes } = new Stage();
  const keys = Array.from({ length: LED_KEYS }, (_, i) => `key ${i}`);
  let nowMs = 0;
  function call(): void {
    outcomes.calls++;
    nowMs++;
    const key = keys[nowMs % LED_KEYS]!;
    const found = map.lookUp(head, key, nowMs);
    if (found === undefined) {
      const reply = new GatheredReply();
      const body = gathers ? copyRequest() : undefined;
      const flight = map.lead(head, key, { reply, nowMs });
      const leader = new Waiter<GatheredReply>();
      map.join(flight, leader);
      if (gathers) reply.answer();
      map.keep(flight, nowMs, ttlMs);
      map.leave(leader);
      body?.clear();
      if (!flight.stored) reply.forget();
      outcomes.leads++;
    } else if (found.stored) outcomes.hits++;
    else outcomes.joins++;
  }
  const facts = () => ({
    "results of one lifetime are stored": map.stored.entries === ttlMs,
    "nothing flies or waits": map.flying === 0 && map.waiting === 0,
  });
  const maxBytes = 2_048;
  ledger.bench({ name, outcomes, path: "leads", call, maxBytes, facts }, { group: GROUP });
}
