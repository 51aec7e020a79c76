/**
 * A soak of seconds, and that it notices what it is there for. `deno task soak` is the long one.
 *
 * @module
 */

import { assertEquals, assertGreater, assertMatch } from "@std/assert";
import { frameMessage } from "../../lib/grpc/mod.ts";
import { everyCut } from "../support/cuts.ts";
import { concat, pattern } from "../support/frames.ts";
import { type Ending, failureText, keyOnce, KINDS, planOf } from "./content.ts";
import { judge, type Outcome } from "./judge.ts";
import { judgeMemory, type MemorySample, slope } from "./memory.ts";
import { MessageReader } from "./message_reader.ts";
import { OutageLog } from "./outages.ts";
import { type BackendKind, Place } from "./place.ts";
import { reportOf } from "./report.ts";
import { soak, type SoakOptions } from "./soak.ts";
import { type CallChoice, SoakCall } from "./soak_call.ts";

/** A few hundred calls, with misfortunes as close together as they can be. */
const SHORT: SoakOptions = {
  minutes: 2 / 60,
  seed: 7,
  perSecond: 150,
  transports: ["tcp"],
  parts: 2,
  pace: 10,
};

const SAMPLES = 10;
const MINUTE_MS = 60_000;

Deno.test("soak finds every reply right and nothing left behind", async () => {
  const result = await soak({
    ...SHORT,
    isEnough: (tally, mischief) =>
      KINDS.every((kind) => tally.counts[kind].OK >= 10) &&
      ["backend", "caller's", "rude caller"].every((who) =>
        [...mischief.keys()].some((what) => what.startsWith(who))
      ),
  });
  const { tally, sidecars: [sidecar] } = result;
  assertEquals(tally.faults, [], reportOf(result));
  const { leftovers, alarms, exitCode } = sidecar!;
  assertEquals([...Object.values(leftovers), alarms, exitCode].filter((left) => left !== 0), []);
});

Deno.test("soak finds the calls of two shards untouched when the third is ill, and that one back", async () => {
  const result = await soak({
    ...{ ...SHORT, parts: 1, backends: 3, kind: "shards" },
    isEnough: (tally, mischief) =>
      KINDS.every((kind) => tally.counts[kind].OK >= 10) && tally.besideIll.count >= 10 &&
      [...mischief.keys()].some((what) => what.startsWith("policy file")),
  });
  const { tally, sidecars: [sidecar], backendCalls } = result;
  assertEquals(tally.faults, [], reportOf(result));
  const { leftovers, alarms, exitCode } = sidecar!;
  assertEquals([...Object.values(leftovers), alarms, exitCode].filter((left) => left !== 0), []);
  assertEquals(backendCalls.map((calls) => calls > 0), [true, true, true]);
});

Deno.test("soak finds the replies that belong to other callers when a sidecar mixes them up", async () => {
  const sidecarArgs = ["--collapser-ignore-headers", "x-tenant"];
  const { tally } = await soak({
    ...{ ...SHORT, parts: 1, pace: 0.01, sidecarArgs },
    isEnough: ({ counts }) => countOf(counts, "WRONG") > 0 && countOf(counts, "OK") > 0,
  });
  assertGreater(tally.faultCount, 0);
  assertMatch(tally.faults.join("\n"), /^\w+:\d+ for a .*: message 0: .*\|[bc]\|0/m);
});

Deno.test("judge takes the status that the key plans and no other, and 4 and 14 only with a reason", () => {
  const key = keyWith("status");
  const text = failureText(key, "a");
  const [failing, answering] = [callFor(key), callFor(keyWith("ok"))];
  const { ending } = failing.plan;
  const planned = ending.how === "status" ? ending.status : NaN;
  const cases: [SoakCall, status: number, message: string, isOut: boolean, Outcome][] = [
    [failing, planned, text, false, "failed as planned"],
    [failing, planned, "no other", false, "WRONG"],
    [failing, 0, "", false, "WRONG"],
    [failing, 13, text, false, "WRONG"],
    [failing, 4, "", false, "WRONG"],
    [callFor(key, { deadlineMs: 1_000 }), 4, "", false, "WRONG"],
    [callFor(key, { deadlineMs: 0 }), 4, "", false, "deadline"],
    [failing, 14, "", false, "WRONG"],
    [failing, 14, "", true, "unavailable"],
    [answering, 0, "", false, "WRONG"], // without its reply
  ];
  for (const [call, status, message, isOut, expected] of cases) {
    call.end = { how: "status", status, message };
    call.endedMs = performance.now();
    const { outcome } = judge(call, { overlap: () => isOut, mayBeShut: () => isOut });
    assertEquals(outcome, expected, `status ${status} "${message}"`);
  }
});

Deno.test("judge takes no other shard's illness for an excuse", () => {
  const outages = new OutageLog();
  outages.begin("b1");
  const outcomes = [undefined, "b1", "b2"].map((shard) => {
    const call = callFor(keyWith("ok"), shard === undefined ? {} : { shard });
    call.end = { how: "status", status: 14, message: "" };
    call.endedMs = performance.now();
    return judge(call, outages).outcome;
  });
  assertEquals(outcomes, ["unavailable", "unavailable", "WRONG"]);
});

Deno.test("Place has one of several replicas refuse a key, and each shard its own", () => {
  const keys = Array.from({ length: 50 }, (_, n) => keyOnce("post", `${n}`));
  const places = (kind: BackendKind) => [0, 1, 2].map((n) => new Place(n, { count: 3, kind }));
  for (const key of keys) {
    const refusing = (kind: BackendKind) => places(kind).filter((place) => place.refuses(key));
    assertEquals([refusing("replicas").length, refusing("shards").length], [1, 3]);
  }
  assertEquals(places("shards").map((place) => place.takes("b1")), [false, true, false]);
});

Deno.test("MessageReader gives whole messages, wherever their bytes are cut", () => {
  const messages = [pattern(0), pattern(3), pattern(700), pattern(1)];
  const bytes = concat(...messages.map((message) => frameMessage(message)));
  for (const pieces of everyCut(bytes)) {
    const found: Uint8Array[] = [];
    const reader = new MessageReader((message) => found.push(message.slice()));
    for (const piece of pieces) reader.push(piece, 0, piece.length);
    assertEquals(found, messages);
    assertEquals([reader.count, reader.isPartial], [messages.length, false]);
  }
});

Deno.test("judgeMemory passes what is flat after it has settled, and noise", () => {
  const settling = [60, 75, 80, 84, 84, 85, 84, 86, 85, 85];
  assertEquals(judgeMemory(samplesOf((n) => ({ resident: settling[n]!, heap: 12 }))).faults, []);
});

Deno.test("judgeMemory takes a step of the engine's heap for none of ours", () => {
  const samples = samplesOf((n) => ({ resident: n < 6 ? 146 : 193, heap: 12 }));
  assertEquals(judgeMemory(samples).faults.length, 1);
  const stepped = samples.map((sample, n) => ({
    ...sample,
    committedBytes: sample.committedBytes + (n < 6 ? 0 : 47 * 2 ** 20),
  }));
  assertEquals(judgeMemory(stepped).faults, []);
});

Deno.test("judgeMemory finds what rises by a little in every part", () => {
  const leak = judgeMemory(samplesOf((n) => ({ resident: 80 + 8 * n, heap: 12 + n / 4 }))).faults;
  assertEquals(leak, [
    "the heap rises by 171 KiB a minute",
    "resident memory outside the heap rises by 5461 KiB a minute",
  ]);
});

Deno.test("slope is that of the line of least squares", () => {
  assertEquals(slope([[0, 1], [1, 3], [2, 5]]), 2);
  assertEquals(slope([[0, 1], [1, 2], [2, 1]]), 0);
  assertEquals([slope([]), slope([[1, 1]])], [0, 0]);
});

Deno.test("OutageLog overlaps a call that any part of an outage touches, of its own backend where it has one", () => {
  const outages = new OutageLog();
  const beforeMs = performance.now() - 1;
  assertEquals(outages.overlap(beforeMs, Infinity), false);
  const end = outages.begin("b0");
  const nowMs = performance.now() + 1;
  assertEquals(outages.overlap(beforeMs, nowMs), true);
  assertEquals([..."012"].map((n) => outages.overlap(beforeMs, nowMs, `b${n}`)), [
    true,
    false,
    false,
  ]);
  assertEquals(outages.overlapOthersOnly(beforeMs, nowMs, "b0"), false);
  assertEquals(outages.overlapOthersOnly(beforeMs, nowMs, "b1"), true);
  end();
  assertEquals(outages.overlap(beforeMs, Infinity), true);
  assertEquals(outages.overlap(performance.now() + 1, Infinity), false);
  assertEquals(outages.overlap(-Infinity, beforeMs), false);
});

/** The first key of a unary call that ends so. */
function keyWith(how: Ending["how"]): string {
  for (let n = 0;; n++) {
    const key = keyOnce("post", `${n}`);
    if (planOf(key).ending.how === how) return key;
  }
}

function callFor(key: string, choice: Partial<CallChoice> = {}): SoakCall {
  return new SoakCall({
    ...{ name: "post", key, tenant: "a", wantsDebug: false, isSlow: false },
    ...{ deadlineMs: undefined, cancelAfterMs: undefined, cacheControl: undefined },
    ...choice,
  }, { carrier: { relay: () => {}, cancel: () => {} }, onEnd: () => {} });
}

function countOf(
  counts: Readonly<Record<string, Readonly<Record<Outcome, number>>>>,
  outcome: Outcome,
): number {
  return Object.values(counts).reduce((sum, each) => sum + each[outcome], 0);
}

/** One sample each minute and a half, in MiB. */
function samplesOf(at: (n: number) => { resident: number; heap: number }): MemorySample[] {
  return Array.from({ length: SAMPLES }, (_, n) => {
    const { resident, heap } = at(n);
    return {
      atMs: (n + 1) * 1.5 * MINUTE_MS,
      residentBytes: resident * 2 ** 20,
      heapBytes: heap * 2 ** 20,
      committedBytes: 30 * 2 ** 20,
      externalBytes: 0,
    };
  });
}
