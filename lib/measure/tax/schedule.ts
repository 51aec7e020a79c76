/** The kind of calls that one measurement makes. */
export type Phase =
  /** Calls at a fixed rate, whatever comes back; each asks something else. */
  | { readonly kind: "rate"; readonly perSecond: number }
  /** A fixed number of callers, each calling again when answered; each call asks something else. */
  | { readonly kind: "saturation" }
  /** Calls at a fixed rate that ask for one of a few things. */
  | { readonly kind: "repeats"; readonly perSecond: number };

/** One measurement: of which system, doing what, in which round. */
export interface Step {
  readonly round: number;
  /** Index of the system. */
  readonly system: number;
  readonly phase: Phase;
}

export interface ScheduleOptions {
  readonly rounds: number;
  /** Calls a second, ascending. */
  readonly rates: readonly number[];
  readonly systems: number;
  /** Index of the relay, which is measured at the lowest rate only. */
  readonly relay: number;
  /** Whether repeats are measured too. */
  readonly repeats: boolean;
}

/**
 * Every measurement in the order in which it is made. Within a round all systems have their turn at a phase before the
 * next phase begins, so that what drifts (a neighbour on the machine, its temperature) meets all of them; and their
 * order turns from round to round and is reversed in every other one, so that none is always first.
 */
export function schedule({ rounds, rates, systems, relay, repeats }: ScheduleOptions): Step[] {
  const phases: Phase[] = rates.map((perSecond) => ({ kind: "rate", perSecond }));
  phases.push({ kind: "saturation" });
  if (repeats) phases.push({ kind: "repeats", perSecond: rates.at(-1)! });
  const steps: Step[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const phase of phases) {
      for (const system of turned(systems, round)) {
        if (system !== relay || phase === phases[0]) steps.push({ round, system, phase });
      }
    }
  }
  return steps;
}

function turned(count: number, round: number): number[] {
  const order = Array.from({ length: count }, (_, i) => (i + (round >> 1)) % count);
  return round % 2 === 0 ? order : order.reverse();
}
