/** What a pool of connections comes back from: itself at the other end, stream ids used up, events in any order. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { Connection } from "../../lib/connection/mod.ts";
import { INSTANCE_SETTING } from "../../lib/connection/settings.ts";
import { ERROR_CODE, SETTING } from "../../lib/wire/mod.ts";
import { rng } from "../support/cuts.ts";
import { goAway, settings } from "../support/frames.ts";
import { EndpointRig } from "./endpoint_rig.ts";

const SEEDS = 40;
const STEPS = 60;
const MAX_CONNECTIONS = 4;

/** The longest pause before a dial, with time for what is dialled then. */
const BACK_AFTER_MS = 1_000;

Deno.test("ConnectionPool finds out that the backend is this very process, and is down with a word for it", async () => {
  const rig = await EndpointRig.open({ backendSettings: [[INSTANCE_SETTING, 7]] });
  assertMatch(rig.endpoint.trouble, /this sidecar itself/);
  const { owner, exchange } = rig.call("1");
  assertEquals([owner.heard, exchange.reply.status], [["ended"], 14]);
  assertEquals([rig.counters.up, rig.requests.length], [false, 0]);
  await rig.finish();
});

Deno.test("ConnectionPool takes another process of the same program for a backend", async () => {
  const rig = await EndpointRig.open({ backendSettings: [[INSTANCE_SETTING, 8]] });
  assertEquals([rig.endpoint.trouble, rig.counters.up], ["", true]);
  await rig.finish();
});

Deno.test("ConnectionPool replaces a connection whose stream ids are used up, and its calls end in peace", async () => {
  const idsOf = new WeakMap<Connection<unknown>, number>();
  const open = Connection.prototype.openStream;
  using _ids = patched("isOutOfIds", {
    get(this: Connection<unknown>) {
      return (idsOf.get(this) ?? 0) >= 3;
    },
  });
  using _open = patched("openStream", {
    value(this: Connection<unknown>, ...rest: Parameters<typeof open>) {
      idsOf.set(this, (idsOf.get(this) ?? 0) + 1);
      return open.apply(this, rest);
    },
  });
  const rig = await EndpointRig.open({ maxConcurrent: 100 });
  for (let i = 0; i < 8; i++) {
    rig.call(`${i}`);
    await rig.advance(60); // no connection has answered anything yet, so each but the first comes after a pause
  }
  assertEquals(rig.backends.map(({ requests }) => requests.length), [3, 3, 2]);
  for (const request of rig.requests) request.echoes();
  await rig.settle();
  for (const { owner, exchange } of rig.made) {
    assertEquals([owner.heard.at(-1), exchange.reply.status], ["ended", 0]);
  }
  assertEquals(rig.backends.map(({ socket }) => socket.isClosed), [true, true, false]);
  await rig.finish();
});

Deno.test("ConnectionPool is as it should be after any order of GOAWAYs, closes, limits and dials", async () => {
  for (let seed = 1; seed <= SEEDS; seed++) await play(seed);
});

/** Random events; then the backend is well, and all that waits must be answered over no more connections than may be. */
async function play(seed: number): Promise<void> {
  const random = rng(seed);
  const rig = await EndpointRig.open({
    maxConcurrent: 20,
    maxPending: 50,
    maxConnections: MAX_CONNECTIONS,
    backendSettings: [[SETTING.maxConcurrentStreams, 2]],
  });
  const any = <T>(items: readonly T[]): T | undefined => items[Math.floor(random() * items.length)];
  const alive = () => rig.backends.filter(({ socket }) => !socket.isClosed);
  const events: (() => unknown)[] = [
    () => rig.call("x"),
    () => rig.call("x"),
    () => any(alive().flatMap(({ open }) => open))?.echoes(),
    () => any(alive().flatMap(({ open }) => open))?.resets(ERROR_CODE.refusedStream),
    () => any(alive())?.sends(goAway(2 * Math.floor(random() * 4) + 1, ERROR_CODE.noError)),
    () => any(alive())?.socket.ends(),
    () => any(alive())?.sends(settings([SETTING.maxConcurrentStreams, Math.floor(random() * 4)])),
    () => rig.dialling = any(["accepts", "refuses", "hangs"] as const)!,
    () => rig.answerDials(),
    () => rig.advance(random() * 700),
  ];
  for (let step = 0; step < STEPS; step++) {
    await any(events)!();
    await rig.settle();
  }
  rig.dialling = "accepts";
  rig.answerDials();
  await rig.settle();
  for (const backend of alive()) backend.sends(settings([SETTING.maxConcurrentStreams, 2]));
  await rig.advance(BACK_AFTER_MS);
  const last = rig.call("last");
  for (let round = 0; rig.made.some(({ owner }) => !owner.heard.includes("ended")); round++) {
    assert(round < 100, `seed ${seed}: calls that never end, ${JSON.stringify(rig.held)}`);
    for (const request of alive().flatMap(({ open }) => open)) request.echoes();
    await rig.advance(20);
  }
  const { endpoint, counters, held } = rig;
  assertEquals(last.exchange.reply.status, 0, `seed ${seed}`);
  assertEquals([endpoint.trouble, counters.up, endpoint.isDown], ["", true, false], `seed ${seed}`);
  assertEquals(held, { inflight: 0, pending: 0 }, `seed ${seed}`);
  for (let i = 0; i < 2 * MAX_CONNECTIONS; i++) rig.call(`full ${i}`);
  await rig.advance(BACK_AFTER_MS);
  const used = alive().filter(({ open }) => open.length > 0);
  assertEquals(used.map(({ open }) => open.length), Array(MAX_CONNECTIONS).fill(2), `seed ${seed}`);
  assertEquals(rig.faults, [], `seed ${seed}`);
  await rig.finish();
}

/** Puts something else in the place of what every connection has, until it is disposed of. */
function patched(name: "isOutOfIds" | "openStream", by: PropertyDescriptor): Disposable {
  const before = Object.getOwnPropertyDescriptor(Connection.prototype, name)!;
  Object.defineProperty(Connection.prototype, name, { ...by, configurable: true });
  return { [Symbol.dispose]: () => Object.defineProperty(Connection.prototype, name, before) };
}
