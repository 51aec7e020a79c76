/**
 * Waiting until nothing moves any more, in tests whose sockets are in memory and whose time stands still.
 *
 * @module
 */

import type { FakeClock } from "./fake_clock.ts";

/** Turns of the microtask queue without any move after which all is quiet: no chain of promises here is so long. */
const QUIET_TURNS = 32;

/** Rounds of quiet and noise after which something is taken to go on for ever. */
const MAX_ROUNDS = 100_000;

/** Resolves when `activity`, a count of all moves so far, stands still and nobody is due to be woken. */
export async function untilQuiet(clock: FakeClock, activity: () => number): Promise<void> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const before = activity();
    for (let turn = 0; turn < QUIET_TURNS; turn++) await undefined;
    if (clock.step(clock.now())) continue; // whoever asked for the next turn of the loop
    if (activity() === before) return;
  }
  throw new Error("Cannot bring this to rest: it goes on and on");
}

/** Lets `ms` pass, everybody being woken when it is due, and all being quiet in between. */
export async function pass(
  clock: FakeClock,
  ms: number,
  quiet: () => Promise<void>,
): Promise<void> {
  await quiet();
  const untilMs = clock.now() + ms;
  while (clock.step(untilMs)) await quiet();
  clock.jump(untilMs);
  await quiet();
}
