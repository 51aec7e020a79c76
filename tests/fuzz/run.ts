/**
 * The engine: plays a target's cases from seeds, and makes the first that fails as small as it can.
 *
 * Case number i of a run has the seed `seed + i` and nothing else in common with the cases before it, so a finding is
 * played again by `deno task fuzz --target NAME --seed SEED --runs 1`.
 *
 * @module
 */

import { within } from "../support/waiting.ts";
import { Draws } from "./draws.ts";

/** Tries spent on making a failing case smaller, and the time for it. */
const MAX_TRIES = 3_000;
const MAX_SHRINK_MS = 10_000;

/** A case takes milliseconds; one that waits for what never comes must be a finding and not the end of all. */
const PATIENCE_MS = 60_000;

/** Something to be fuzzed. */
export interface Target {
  readonly name: string;
  /** What is looked at, in a line of the help. */
  readonly about: string;
  /** Its share of the time, where others have 1. @default 1 */
  readonly weight?: number;
  /** One case; throws when what was promised does not hold. */
  run(draws: Draws): void | Promise<void>;
}

/** A case that failed. */
export interface Finding {
  readonly target: string;
  readonly seed: number;
  readonly error: unknown;
  /** What the smallest case that fails alike does. */
  readonly notes: readonly string[];
}

/** What came of a target. */
export interface Tally {
  readonly target: string;
  cases: number;
  ms: number;
  finding: Finding | undefined;
}

export interface RunLimits {
  /** Of the first case. */
  readonly seed: number;
  /** Cases at most. @default Infinity */
  readonly runs?: number;
  /** No case begins after so long. @default Infinity */
  readonly forMs?: number;
  /** Time for making a failing case smaller. @default ten seconds */
  readonly shrinkMs?: number;
}

/** Plays cases until one fails or the limits are reached, and adds what came of it to `tally`. */
export async function play(
  target: Target,
  limits: RunLimits,
  tally: Tally = newTally(target),
): Promise<Tally> {
  const { seed, runs = Infinity, forMs = Infinity, shrinkMs = MAX_SHRINK_MS } = limits;
  const beganMs = performance.now();
  for (let i = 0; i < runs && performance.now() - beganMs < forMs; i++) {
    const draws = new Draws((seed + i) >>> 0);
    tally.cases++;
    try {
      await ended(target.run(draws));
    } catch (error) {
      tally.finding = await smallest(target, draws, { seed: (seed + i) >>> 0, error, shrinkMs });
      break;
    }
  }
  tally.ms += performance.now() - beganMs;
  return tally;
}

/** Resolves with the case; most are over already. */
function ended(running: void | Promise<void>): void | Promise<void> {
  if (running === undefined) return;
  return within(running, "the end of a case", PATIENCE_MS);
}

export function newTally({ name }: Target): Tally {
  return { target: name, cases: 0, ms: 0, finding: undefined };
}

/** Leaves out runs of draws, and sets others to the dullest value, as long as the case fails alike. */
async function smallest(
  target: Target,
  failed: Draws,
  { seed, error, shrinkMs }: { seed: number; error: unknown; shrinkMs: number },
): Promise<Finding> {
  const untilMs = performance.now() + shrinkMs;
  let best = failed;
  let bestError = error;
  let tries = 0;
  async function attempt(list: number[]): Promise<boolean> {
    if (tries++ >= MAX_TRIES || performance.now() > untilMs) return false;
    const draws = new Draws(list);
    try {
      await ended(target.run(draws));
      return false;
    } catch (again) {
      if (kindOf(again) !== kindOf(error) || !isSmaller(draws, best)) return false;
      best = draws;
      bestError = again;
      return true;
    }
  }
  let before: Draws;
  do {
    before = best;
    for (let size = best.drawn.length >> 1; size >= 1; size >>= 1) {
      for (let at = 0; at < best.drawn.length; at += size) {
        const { drawn } = best;
        if (await attempt([...drawn.slice(0, at), ...drawn.slice(at + size)])) at -= size;
        else if (drawn.slice(at, at + size).some((value) => value !== 0)) {
          await attempt(drawn.map((value, i) => i >= at && i < at + size ? 0 : value));
        }
      }
    }
  } while (before !== best);
  return { target: target.name, seed, error: bestError, notes: best.notes };
}

/** Fewer draws, or as many of which more are dull. */
function isSmaller({ drawn }: Draws, than: Draws): boolean {
  const fewer = drawn.length - than.drawn.length;
  const weight = (list: readonly number[]) =>
    list.reduce((sum, value) => sum + Math.sign(value), 0);
  return fewer < 0 || fewer === 0 && weight(drawn) < weight(than.drawn);
}

/** Failures that differ in numbers alone are alike. */
function kindOf(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return text.split("\n", 1)[0]!.replace(/\d+/g, "N");
}
