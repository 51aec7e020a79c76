/**
 * Every way in which a call can end at one of several backends, in random order: whatever came before, a backend that
 * answers is given calls again in bounded time, and nothing is left of the calls that ended.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { ERROR_CODE } from "../../lib/wire/mod.ts";
import type { BackendRequest } from "../support/backend_end.ts";
import type { CallerCall, CallerEnd } from "../support/caller_end.ts";
import { rng } from "../support/cuts.ts";
import { goAway } from "../support/frames.ts";
import { GET, type ProxyRig, PUT, withRig } from "../support/proxy_rig.ts";

const LIST = "/test.Service/ListItems";
const HEALTH = "/grpc.health.v1.Health/Check";

const SERVING = Uint8Array.of(0x08, 1);
const NOT_SERVING = Uint8Array.of(0x08, 2);

const SEEDS = 60;
const STEPS = 80;
const MAX_CONCURRENT = 3;
const MAX_PENDING = 3;

/** The longest ejection, a probe that is not answered, a lease, and a call that is: then everybody must be back. */
const BACK_AFTER_MS = 30_000 + 1_000 + 1_000 + 2_000;

interface Play {
  readonly rig: ProxyRig;
  readonly caller: CallerEnd;
  readonly hosts: readonly string[];
  /** A whole number below `below`. */
  readonly draw: (below: number) => number;
  readonly calls: CallerCall[];
}

/** Something that happens to a request at its backend. */
type Happening = (request: BackendRequest, play: Play) => void;

const TO_A_REQUEST: readonly Happening[] = [
  (request) => request.echoes(),
  (request) => request.echoes(),
  (request) => request.fails(14),
  (request) => request.fails(5),
  (request) => request.resets(ERROR_CODE.refusedStream),
  (request) => request.resets(ERROR_CODE.internalError),
  (request) => request.resets(ERROR_CODE.cancel),
  (request) => request.begins(), // headers, and then silence
  (request) => request.begins(["a"]), // an endless stream of one message
  (request) => request.begins(["a", "b"]), // and of two
  ({ backend, id }) => backend.sends(goAway(id, ERROR_CODE.noError)),
  ({ backend, id }) => backend.sends(goAway(id - 1, ERROR_CODE.noError)), // and does not look at it
  ({ backend }) => backend.socket.ends(),
];

const TO_A_PROBE: readonly Happening[] = [
  (request) => request.replies([SERVING]),
  (request) => request.replies([NOT_SERVING]),
  (request) => request.fails(12),
  (request) => request.fails(16),
  (request) => request.resets(ERROR_CODE.refusedStream),
  () => {}, // it hangs
];

const STEPS_OF: readonly ((play: Play) => void | Promise<void>)[] = [
  makesCalls,
  makesCalls,
  makesCalls,
  aRequestHappens,
  aRequestHappens,
  aRequestHappens,
  aProbeHappens,
  ({ calls, draw }) => calls[draw(calls.length)]?.cancels(),
  ({ rig, hosts, draw }) => {
    const dialling = (["accepts", "refuses", "hangs"] as const)[draw(3)]!;
    rig.diallingAt.set(hosts[draw(hosts.length)]!, dialling);
    rig.answerDials();
  },
  ({ rig, draw }) => rig.advance(1 + draw(40)),
  ({ rig, draw }) => rig.advance(200 + draw(1_800)),
];

function makesCalls({ caller, hosts, draw, calls }: Play): void {
  for (let more = 1 + draw(4); more > 0; more--) {
    const metadata: [string, string][] = [["x-to", hosts[draw(hosts.length)]!]];
    if (draw(2) === 0) metadata.push(["grpc-timeout", `${50 + draw(1_500)}m`]);
    calls.push(caller.call([GET, PUT, LIST][draw(3)]!, `call ${calls.length}`, { metadata }));
  }
}

function aRequestHappens(play: Play): void {
  happens(play, TO_A_REQUEST, ({ path }) => path !== HEALTH);
}

function aProbeHappens(play: Play): void {
  happens(play, TO_A_PROBE, ({ path }) => path === HEALTH);
}

function happens(
  play: Play,
  happenings: readonly Happening[],
  isMeant: (request: BackendRequest) => boolean,
): void {
  const { rig, draw } = play;
  const open = rig.requests.filter((request) => isMeant(request) && isOpen(request));
  const request = open[draw(open.length)];
  if (request !== undefined) happenings[draw(happenings.length)]!(request, play);
}

function isOpen({ isOver, ended, backend }: BackendRequest): boolean {
  return !isOver && ended && !backend.socket.isClosed;
}

/** From now on everybody can be reached and answers; whoever keeps no health says so. */
async function heals({ rig, hosts, draw }: Play): Promise<void> {
  for (const host of hosts) rig.diallingAt.set(host, "accepts");
  rig.answerDials();
  rig.onRequest = answers;
  await rig.settle();
  for (const request of rig.requests.filter(isOpen)) answers(request);
  await rig.settle();

  function answers(request: BackendRequest): void {
    if (request.path !== HEALTH) request.echoes();
    else if (draw(2) === 0) request.replies([SERVING]);
    else request.fails([5, 7, 12, 16][draw(4)]!);
  }
}

function expectsBounds({ proxy }: ProxyRig, when: string): void {
  for (const { name, inflight, pending } of proxy.counters.backends) {
    assert(inflight >= 0 && inflight <= MAX_CONCURRENT, `${name}: ${inflight} in flight, ${when}`);
    assert(pending >= 0 && pending <= MAX_PENDING, `${name}: ${pending} pending, ${when}`);
  }
}

/** Each backend gets the call that is meant for it, and answers it. */
async function expectsAllBack({ rig, caller, hosts }: Play, when: string): Promise<void> {
  const untilMs = rig.clock.now() + BACK_AFTER_MS;
  const away = new Set(hosts);
  const ill = () =>
    rig.proxy.inspection.backends().filter(({ standing }) => standing !== "healthy")
      .map(({ counters: { name }, standing }) => `${name} is ${standing}`);
  while (away.size + ill().length > 0 && rig.clock.now() < untilMs) {
    await rig.advance(250);
    for (const host of hosts) {
      const before = rig.requestsAt(host).length;
      const call = caller.call(PUT, "back?", { metadata: [["x-to", host]] });
      await rig.settle();
      if (call.status === 0 && rig.requestsAt(host).length > before) away.delete(host);
    }
  }
  assertEquals([...away], [], `never given calls again, ${when}`);
  assertEquals(ill(), [], when);
}

for (const backendKind of ["replicas", "shards"] as const) {
  for (const hosts of [["a", "b"], ["a", "b", "c"]]) {
    Deno.test(`BalancedCluster has every one of ${hosts.length} ${backendKind} back, however calls end`, async () => {
      for (let seed = 1; seed <= SEEDS; seed++) {
        const options = {
          backends: hosts.map((name) => ({ name, address: { host: name, port: 1 } })),
          backendKind,
          backendRouting: { by: "header", name: "x-to" } as const,
          backendMaxConcurrent: MAX_CONCURRENT,
          backendMaxPending: MAX_PENDING,
          backendTimeoutMs: 2_000,
          cacheDurationMs: 0,
          seed,
        };
        await withRig(options, async (rig) => {
          const random = rng(seed);
          const caller = await rig.caller();
          const draw = (below: number) => Math.floor(random() * below);
          const play: Play = { rig, caller, hosts, draw, calls: [] };
          for (let step = 0; step < STEPS; step++) {
            await STEPS_OF[draw(STEPS_OF.length)]!(play);
            await rig.settle();
            expectsBounds(rig, `seed ${seed}, step ${step}`);
          }
          await heals(play);
          await expectsAllBack(play, `seed ${seed}`);
        });
      }
    });
  }
}
