import { showCount, showCounted, showTime } from "../report/mod.ts";
import type { SystemFigures, TaxSubject } from "./result.ts";
import { showRate } from "./show.ts";

/** Lateness of the client, as a share of what it measured, from which on the figures are too much its own. */
const LATE_SHARE = 0.25;

/** Backlog in the end, as a share of the time in which it grew, from which on a queue was growing all the time. */
const BACKLOG_SHARE = 0.15;

/** Rounds below which a spread says nothing. */
const FEW_ROUNDS = 3;

export interface CautionFacts {
  readonly subject: TaxSubject;
  readonly systems: readonly SystemFigures[];
  /** Different messages that there are to send. */
  readonly distinctMessages: number;
}

/** Sentences that a reader must know before believing the figures. */
export function cautionsOf({ subject, systems, distinctMessages }: CautionFacts): string[] {
  return [
    ...subject.embedded ? [ONE_THREAD] : [],
    ...subject.rounds < FEW_ROUNDS
      ? [`${showCounted(subject.rounds, "round")}: the spread says little`]
      : [],
    ...sameMessages(systems, distinctMessages),
    ...systems.flatMap(failures),
    ...behind(subject.rates, systems),
    ...lateClient(systems),
  ];
}

const ONE_THREAD = "client, proxy and backend are one process with one thread here: " +
  "they wait for each other, and real ones take less";

function sameMessages(systems: readonly SystemFigures[], distinct: number): string[] {
  if (distinct <= 1) {
    return [
      "all calls ask the same, since --data has no {n}: what shares or stores looks too good",
    ];
  }
  const most = Math.max(...systems.map(({ callsMade }) => callsMade));
  return most <= distinct ? [] : [
    `only ${showCount(distinct)} different messages for up to ${showCount(most)} calls: give {n} ` +
    "more digits, as in {nnnnnnnnn}",
  ];
}

function failures({ name, rates, saturation, repeats }: SystemFigures): string[] {
  const phases = [
    ...rates,
    ...saturation === null ? [] : [saturation],
    ...repeats === null ? [] : [repeats],
  ];
  const failed = phases.reduce((sum, phase) => sum + phase.failed, 0);
  const calls = phases.reduce((sum, phase) => sum + phase.calls, 0);
  return failed === 0 ? [] : [
    `${name}: ${showCount(failed)} of ${
      showCounted(calls, "call")
    } failed; times are those of the others`,
  ];
}

/** A sentence for each rate that somebody did not keep up with. */
function behind(rates: readonly number[], systems: readonly SystemFigures[]): string[] {
  return rates.flatMap((rate) => {
    const slow = systems.filter((system) =>
      system.rates.some(({ duePerSecond, backlogShare }) =>
        duePerSecond === rate && backlogShare > BACKLOG_SHARE
      )
    );
    if (slow.length === 0) return [];
    const names = slow.map(({ name }) => name).join(", ");
    return [
      `${names} did not keep up with ${showCount(rate)} calls/s: times there are those of a ` +
      "growing queue; give lower --rates",
    ];
  });
}

/** A sentence about a late client, one for all: the system that it was worst for says enough. */
function lateClient(systems: readonly SystemFigures[]): string[] {
  const late = systems.flatMap(({ name, rates }) =>
    rates.map(({ duePerSecond, latenessP99Ms, latencyMs }) => ({
      name,
      duePerSecond,
      latenessP99Ms,
      p99Ms: latencyMs.p99 ?? 0,
    }))
  ).filter(({ latenessP99Ms, p99Ms }) => p99Ms > 0 && latenessP99Ms > p99Ms * LATE_SHARE);
  if (late.length === 0) return [];
  const worst = late.reduce((one, other) =>
    other.latenessP99Ms / other.p99Ms > one.latenessP99Ms / one.p99Ms ? other : one
  );
  return [
    `the client itself was late: p99 ${showTime(worst.latenessP99Ms)} of the ${
      showTime(worst.p99Ms)
    } measured for ${worst.name} at ${showRate(worst.duePerSecond)} (${
      showCounted(late.length, "measurement")
    } in all); so much of the high percentiles is not the proxy's`,
  ];
}
