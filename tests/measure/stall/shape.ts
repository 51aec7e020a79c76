/**
 * Short runs of `collapser stall`, and what must come of them.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { runStall, type StallOptions } from "../../../lib/measure/stall/run_stall.ts";
import type { SidecarWishes } from "../../../lib/measure/stall/systems.ts";
import type { Phase } from "../../../lib/measure/stall/tally.ts";
import { settingsOf } from "../../support/local_sidecar.ts";
import { RecordedScreen } from "../recorded_screen.ts";

/** Healthy backends' calls that must be answered, throughout. */
const HEALTHY = 0.995;

/** What all calls come to where the stalled backend is left out, so that none of its own is answered. */
const TWO_THIRDS = { least: 0.6, most: 0.72 };

/**
 * What a shared pool may still answer once it is full, which it is 0.9 s after the stall begins: 15 places at 50 calls a
 * second, and 90 that wait at 150. From when the first deadline passes, places are free again now and then.
 */
const COLLAPSED = 0.2;
const FULL_AFTER_MS = 1_200;

/** What comes due in a longer pause of this process does not fit into 5 places and 30 that wait, at 50 calls a second. */
const MAX_PAUSE_MS = 500;

/**
 * The p99 of some two hundred calls is the third slowest of them, so on a shared machine one pause decides it: what came
 * due in it was made late, and is answered in turn. Who waits for places that the stalled backend holds waits far
 * longer: until a deadline.
 */
const NOISE_MS = 150;

/** The stalled backend wants 100 places of a pool of 15; the deadline is shorter than the stall, so that it is noticed. */
export const SHORT: StallOptions = {
  backends: [],
  proxies: [],
  port: 0,
  method: "/hello.v1.Hello/GetGreeting",
  header: "x-shard",
  fault: "stall",
  backendPid: undefined,
  announce: false,
  beforeMs: 1_500,
  stallMs: 2_500,
  afterMs: 1_000,
  perSecond: 150,
  deadlineMs: 2_000,
  seed: 1,
  places: 5,
  waiting: 30,
  serviceMs: 5,
  only: [],
  sharedPool: true,
  json: undefined,
  svg: undefined,
};

export interface ToldSystem {
  readonly name: string;
  readonly before: Phase;
  readonly during: Phase;
  readonly after: Phase;
  readonly latestMs: number;
  readonly bins: readonly (readonly number[])[];
}

export interface Told {
  readonly screen: RecordedScreen;
  readonly code: number;
  readonly svg: string;
  readonly systems: ReadonlyMap<string, ToldSystem>;
}

/** Runs it, and reads what it wrote. */
export async function stall(changes: Partial<StallOptions>): Promise<Told> {
  const folder = await Deno.makeTempDir();
  try {
    const [json, svg] = [`${folder}/stall.json`, `${folder}/stall.svg`];
    const screen = new RecordedScreen();
    const code = await runStall({ ...SHORT, ...changes, json, svg }, { screen, settingsFor });
    if (code !== 0) return { screen, code, svg: "", systems: new Map() };
    const { systems } = JSON.parse(await Deno.readTextFile(json)) as { systems: ToldSystem[] };
    return {
      screen,
      code,
      svg: await Deno.readTextFile(svg),
      systems: new Map(systems.map((system) => [system.name, system])),
    };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** The whole claim: who keeps backends apart keeps two thirds, as fast as before; who does not keeps nothing. */
export function assertShape(told: Told): void {
  assertEquals([told.code, told.screen.complaints], [0, []]);
  for (const name of ["direct", "collapser"]) {
    const system = told.systems.get(name);
    if (system === undefined) continue;
    for (const phase of ["before", "during", "after"] as const) {
      const { healthy, healthyStatuses } = system[phase];
      assert(
        healthy.good >= healthy.calls * HEALTHY,
        `${name} ${phase}: ${Deno.inspect(healthyStatuses)}`,
      );
    }
    const { healthy, all } = system.during;
    const own = all.good - healthy.good;
    // What waits in its pool when the stall ends is answered, if its deadline has not passed.
    assert(own <= SHORT.places + SHORT.waiting + 1, `${name}: ${own} calls to what stood still`);
  }
  const { all } = told.systems.get("collapser")!.during;
  const share = all.good / all.calls;
  assert(share >= TWO_THIRDS.least && share <= TWO_THIRDS.most, `${share} of all during the stall`);
  const shared = told.systems.get("shared-pool")!;
  const { healthy } = shared.before;
  assert(healthy.good >= healthy.calls * HEALTHY, "it is the stall that ends it");
  const from = (SHORT.beforeMs + FULL_AFTER_MS) / 100;
  const late = shared.bins.slice(from, (SHORT.beforeMs + SHORT.deadlineMs) / 100);
  const good = late.reduce((sum, [, , allGood]) => sum + allGood!, 0);
  const calls = late.reduce((sum, [, , , all]) => sum + all!, 0);
  assert(good < calls * COLLAPSED, `the shared pool answered ${good} of ${calls} calls`);
}

/** Why the run says nothing about latency, or what it says is wrong; undefined when all is well. */
export function slowness({ systems }: Told): string | undefined {
  for (const name of ["direct", "collapser"]) {
    const system = systems.get(name);
    if (system === undefined) continue;
    const [before, during] = [system.before.p99Ms!, system.during.p99Ms!];
    const noiseMs = NOISE_MS + system.latestMs;
    if (during > 2 * before + noiseMs) return `${name}: p99 ${before} ms before, ${during} during`;
  }
}

/** Whether this process, which is callers and backends too, stood still for longer than the pools can bridge. */
export function stoodStill({ systems }: Told): boolean {
  return [...systems.values()].some(({ latestMs }) => latestMs > MAX_PAUSE_MS);
}

export function settingsFor(wishes: SidecarWishes) {
  return settingsOf({
    BACKEND_ADDRESS: wishes.backends.map(({ name, host, port }) => `${name}=${host}:${port}`)
      .join(","),
    BACKEND_KIND: "shards",
    BACKEND_ROUTING: `header:${wishes.header}`,
    BACKEND_MAX_CONCURRENT: String(wishes.maxConcurrent),
    BACKEND_MAX_PENDING: String(wishes.maxPending),
    BACKEND_OUTLIER_DETECTION: String(wishes.outlierDetection),
  });
}
