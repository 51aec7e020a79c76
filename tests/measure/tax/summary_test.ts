/**
 * From samples to figures, advice and cautions: what is known of the samples is made up here.
 *
 * @module
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { Histogram } from "../../../lib/measure/report/histogram.ts";
import { cautionsOf } from "../../../lib/measure/tax/cautions.ts";
import { addedPercentiles, curveOf, percentilesOf } from "../../../lib/measure/tax/percentiles.ts";
import { type Sample } from "../../../lib/measure/tax/sample.ts";
import type { Phase } from "../../../lib/measure/tax/schedule.ts";
import {
  type Measured,
  summarizeProxy,
  summarizeSystem,
} from "../../../lib/measure/tax/summarize.ts";
import { type VerdictFacts, verdictOf } from "../../../lib/measure/tax/verdict.ts";
import { subjectOf } from "./rig.ts";

const LOW: Phase = { kind: "rate", perSecond: 100 };
const HIGH: Phase = { kind: "rate", perSecond: 1_000 };
const FULL: Phase = { kind: "saturation" };
const REPEATS: Phase = { kind: "repeats", perSecond: 1_000 };

const FACTS: VerdictFacts = {
  addedMs: 0.1,
  repeatGainMs: undefined,
  repeatsSaved: undefined,
  callersSaved: undefined,
  proxyCpuMs: undefined,
  repeatCpuMs: undefined,
  backendCpuMs: undefined,
};

function histogram(ms: number, count = 1_000): Histogram {
  const made = new Histogram();
  for (let i = 0; i < count; i++) made.record(ms);
  return made;
}

/** A measurement in which every call took the same time. */
function sample(
  phase: Phase,
  ms: number,
  { round = 0, ...more }: Partial<Sample> & { round?: number } = {},
): Sample {
  return {
    step: { round, system: 0, phase },
    latency: histogram(ms),
    lateness: new Histogram(),
    calls: 1_000,
    succeeded: 1_000,
    elapsedMs: 1_000,
    backlogShare: 0,
    sentBytes: 50_000,
    receivedBytes: 70_000,
    cpu: undefined,
    ownCpu: { userMs: 0, systemMs: 0 },
    saved: undefined,
    ...more,
  };
}

function measured(
  name: string,
  samples: readonly Sample[],
  more: Partial<Measured> = {},
): Measured {
  return {
    name,
    address: "127.0.0.1:1",
    samples,
    residentBytes: undefined,
    usageMissing: undefined,
    callsMade: 10_000,
    savedShareSoFar: undefined,
    ...more,
  };
}

/** Within what a histogram tells. */
function near(actual: number | undefined, expected: number): void {
  assert(
    actual !== undefined && Math.abs(actual - expected) < Math.abs(expected) * 0.02 + 1e-9,
    `${actual}, not ${expected}`,
  );
}

Deno.test("percentilesOf tells none that fewer than five calls lie beyond", () => {
  const known = (count: number) =>
    Object.entries(percentilesOf(histogram(1, count))).filter(([, ms]) => ms !== null)
      .map(([name]) => name);
  assertEquals(known(9), []);
  assertEquals(known(10), ["p50"]);
  assertEquals(known(499), ["p50", "p90"]);
  assertEquals(known(500), ["p50", "p90", "p99"]);
  assertEquals(known(5_000), ["p50", "p90", "p99", "p999"]);
  assertEquals(curveOf(histogram(1, 500)).at(-1)?.[0], 99);
});

Deno.test("addedPercentiles takes differences within rounds, whose drift it therefore does not see", () => {
  const rounds = [0, 1, 2];
  const direct = rounds.map((round) => sample(LOW, 1 + round * 10, { round }));
  const proxied = rounds.map((round) => sample(LOW, 1.5 + round * 10 + round * 0.1, { round }));
  const { p50, p99, p999 } = addedPercentiles(proxied, direct);
  assertEquals(p50?.count, 3);
  assert(Math.abs(p50!.median - 0.6) < 0.1 && p50!.most - p50!.least < 0.5, JSON.stringify(p50));
  assertEquals(p99?.count, 3);
  assertEquals(p999, null, "3,000 calls");
});

Deno.test("addedPercentiles pools the rounds for what one round has too few calls for", () => {
  const rounds = Array.from({ length: 6 }, (_, round) => round);
  const { p999 } = addedPercentiles(
    rounds.map((round) => sample(LOW, 3, { round })),
    rounds.map((round) => sample(LOW, 1, { round })),
  );
  assertEquals(p999?.count, 1);
  near(p999?.median, 2);
  // A round that only one side was measured in has no difference.
  const lone = addedPercentiles([sample(LOW, 3, { round: 9 })], [sample(LOW, 1)]);
  assertEquals(lone.p50, null);
});

Deno.test("summarizeProxy splits what it adds, prices it, and compares throughput", () => {
  const cpu = (userMs: number, systemMs: number) => ({ cpu: { userMs, systemMs } });
  const direct = measured("direct", [
    sample(LOW, 1),
    sample(HIGH, 1.2, cpu(100, 100)),
    sample(FULL, 4, { ...cpu(1, 1), calls: 4_000, succeeded: 4_000 }),
    sample(REPEATS, 1.2),
  ]);
  const relay = measured("relay", [sample(LOW, 1.3)]);
  const proxy = measured("p", [
    sample(LOW, 1.8),
    sample(HIGH, 3.2, cpu(40, 10)),
    sample(FULL, 8, { ...cpu(1, 1), calls: 3_000, succeeded: 3_000 }),
    sample(REPEATS, 0.2, { ...cpu(5, 0), saved: 900 }),
  ], { residentBytes: 5e7 });
  const subject = subjectOf({ rates: [100, 1_000], rounds: 1 });
  const figures = summarizeProxy(proxy, { subject, direct, relay });
  near(figures.added[0]!.ms.p50?.median, 0.8);
  near(figures.added[1]!.ms.p50?.median, 2);
  const split = figures.added[1]!.split!;
  near(split.hopMs, 0.3);
  near(split.processingMs, 0.5);
  near(split.queueingMs, 1.2);
  near(figures.throughputShare?.median, 0.75);
  near(figures.rates[1]!.cpu?.userMs, 0.04);
  near(figures.rates[1]!.cpu?.systemMs ?? undefined, 0.01);
  assertEquals(figures.rates[0]!.cpu, null, "it was not read there");
  near(figures.cost.cpu, 1.46);
  assertEquals(figures.rates[1]!.bytesPerCall, { sent: 50, received: 70 });
  assertEquals(figures.repeats?.savedShare, 0.9);
  // In time: 0.8 added, 1.0 gained. In CPU: 0.05 a call; a repeat takes (0.005 - 0.1 * 0.05) / 0.9 = 0, the backend 0.2.
  near(figures.verdict.breakEven.time as number, 0.8 / 1.8);
  near(figures.verdict.breakEven.cpu as number, 0.2);
  assertEquals(figures.verdict.advice, "shrink");
});

Deno.test("summarizeProxy tells the CPU of a process it shares by the difference to direct calls", () => {
  const own = (userMs: number) => ({ ownCpu: { userMs, systemMs: 10 } });
  const direct = measured("direct", [sample(LOW, 1), sample(FULL, 1, own(100))]);
  const proxy = measured("p", [sample(LOW, 2), sample(FULL, 2, own(180))]);
  const relay = measured("relay", [sample(LOW, 1)]);
  const subject = subjectOf({ rates: [100], rounds: 1, embedded: true });
  const { saturation, cost } = summarizeProxy(proxy, { subject, direct, relay });
  near(saturation?.cpu?.userMs, 0.08);
  assertEquals(saturation?.cpu?.systemMs, 0);
  near(cost.cpu, 0.08 * 730 * 0.04);
});

Deno.test("summarizeSystem counts failures and does not tell CPU that was not read every time", () => {
  const system = measured("p", [
    sample(LOW, 1, { succeeded: 990, cpu: { userMs: 5, systemMs: undefined } }),
    sample(LOW, 1, { round: 1 }),
  ], { usageMissing: "it is elsewhere" });
  const { rates, usageMissing } = summarizeSystem(system, subjectOf({ rates: [100], rounds: 2 }));
  assertEquals([rates[0]!.failed, rates[0]!.calls, rates[0]!.cpu], [10, 2_000, null]);
  assertEquals(usageMissing, "it is elsewhere");
});

Deno.test("verdictOf sends callers direct where nothing was answered without the backend", () => {
  const unknown = verdictOf(FACTS);
  assertEquals(unknown.advice, "go direct");
  assertMatch(
    unknown.why,
    /^Nothing says that it answered a call itself, and each call waits 100 µs/,
  );
  const known = verdictOf({ ...FACTS, repeatsSaved: 0, callersSaved: 0, repeatGainMs: -0.1 });
  assertEquals(known.advice, "go direct");
  assertMatch(known.why, /^It answered no call itself/);
  assertMatch(verdictOf({ ...FACTS, addedMs: -0.01 }).why, /it adds no time/);
});

Deno.test("verdictOf keeps what answers the share from which it pays, and shrinks what does not", () => {
  const facts = { ...FACTS, repeatGainMs: 0.3, repeatsSaved: 0.9 };
  for (const [callersSaved, advice] of [[0.26, "keep"], [0.24, "shrink"]] as const) {
    assertEquals(verdictOf({ ...facts, callersSaved }).advice, advice);
  }
  const unknown = verdictOf(facts);
  assertEquals([unknown.advice, unknown.breakEven], ["shrink", {
    time: 0.25,
    cpu: "not measured",
  }]);
  assertStringIncludes(unknown.why, "in time 25.0 %, in CPU not measured");
});

Deno.test("verdictOf does not decide by a gain that cannot be told from noise", () => {
  const facts = { ...FACTS, repeatGainMs: null, repeatsSaved: 0.9, callersSaved: 0.9 };
  const alone = verdictOf(facts);
  assertEquals([alone.advice, alone.breakEven.time], ["shrink", "too close to call"]);
  assertStringIncludes(alone.why, "in time too close to call, in CPU not measured");
  const cpu = (backendCpuMs: number) =>
    verdictOf({ ...facts, proxyCpuMs: 0.05, repeatCpuMs: 0.05, backendCpuMs }).advice;
  assertEquals([cpu(0.2), cpu(0.04)], ["keep", "shrink"]);
});

Deno.test("summarizeProxy calls a gain noise when the rounds disagree about it", () => {
  const subject = subjectOf({ rates: [100], rounds: 4 });
  const rounds = [0, 1, 2, 3];
  const system = (name: string, repeatMs: (round: number) => number) =>
    measured(name, [
      ...rounds.map((round) => sample(LOW, name === "p" ? 1.5 : 1, { round })),
      ...rounds.map((round) => sample(REPEATS, repeatMs(round), { round, saved: 900 })),
    ]);
  const direct = system("direct", () => 1);
  const relay = measured("relay", rounds.map((round) => sample(LOW, 1.2, { round })));
  const breakEven = (repeatMs: (round: number) => number) =>
    summarizeProxy(system("p", repeatMs), { subject, direct, relay }).verdict.breakEven.time;
  assertEquals(breakEven((round) => round % 2 === 0 ? 0.5 : 1.6), "too close to call");
  near(breakEven(() => 0.5) as number, 0.5);
  assertEquals(breakEven(() => 1.3), "never");
});

Deno.test("verdictOf wants it to pay in CPU too, where that was measured", () => {
  const facts = { ...FACTS, repeatGainMs: 0.3, repeatsSaved: 0.9, callersSaved: 0.5 };
  const cpu = (proxyCpuMs: number, backendCpuMs: number, repeatCpuMs?: number) =>
    verdictOf({ ...facts, proxyCpuMs, backendCpuMs, repeatCpuMs });
  assertEquals(cpu(0.05, 0.2).advice, "keep");
  assertEquals(cpu(0.05, 0.2).breakEven.cpu, 0.25);
  assertEquals(cpu(0.05, 0.06, 0.01).breakEven.cpu, 0.5);
  assertEquals(cpu(0.05, 0.04).advice, "shrink");
  assertStringIncludes(cpu(0.05, 0.04).why, "in CPU never, for a call costs it more");
  const hopeless = verdictOf({ ...facts, repeatGainMs: -1, proxyCpuMs: 0.05, backendCpuMs: 0.04 });
  assertEquals(hopeless.advice, "go direct");
  assertEquals(verdictOf({ ...facts, addedMs: 0 }).breakEven.time, 0, "it costs no time at all");
});

Deno.test("cautionsOf says whose times are a queue's, or the client's own, and what failed", () => {
  const late = new Histogram();
  for (let i = 0; i < 1_000; i++) late.record(0.6);
  const subject = subjectOf({ rates: [100, 1_000], rounds: 2 });
  const system = summarizeSystem(
    measured("p", [
      sample(LOW, 1, { lateness: late }),
      sample(HIGH, 9, { succeeded: 999, backlogShare: 0.4 }),
    ], { callsMade: 1_001 }),
    subject,
  );
  const said = cautionsOf({ subject, systems: [system], distinctMessages: 1_000 });
  assertEquals(said.length, 5);
  assertMatch(said[0]!, /^2 rounds: the spread says little/);
  assertMatch(said[1]!, /^only 1,000 different messages for up to 1,001 calls/);
  assertMatch(said[2]!, /^p: 1 of 2,000 calls failed/);
  assertMatch(said[3]!, /^p did not keep up with 1,000 calls\/s/);
  assertMatch(
    said[4]!,
    /^the client itself was late: p99 60\d µs of the 1\.00 ms measured for p at 100\/s/,
  );

  const quiet = summarizeSystem(measured("p", [sample(LOW, 1)]), subject);
  const calm = subjectOf({ rates: [100], rounds: 5 });
  assertEquals(cautionsOf({ subject: calm, systems: [quiet], distinctMessages: 1e9 }), []);
  const embedded = { ...calm, embedded: true };
  const same = cautionsOf({ subject: embedded, systems: [quiet], distinctMessages: 1 });
  assertMatch(
    same.join("\n"),
    /^client, proxy and backend are one process[^]*\nall calls ask the same/,
  );
});
