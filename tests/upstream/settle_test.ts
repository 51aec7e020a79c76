/**
 * Every way in which a call can leave an endpoint, and what must hold after each: its place and its queue are as if it had
 * not been, it is counted for what it was, the group heard that it left once for each time it was started, its owner
 * heard of the end once or, where nobody waits any more, not at all, its stream is over on the wire, and whoever waited
 * has what it left.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { NO_STATUS } from "../../lib/upstream/mod.ts";
import type { BackendRequest } from "../support/backend_end.ts";
import { headers, RESPONSE } from "../support/frames.ts";
import { EndpointRig } from "./endpoint_rig.ts";
import { type Exit, EXITS, type Play, subjectsOf, TAKES_MS } from "./exits.ts";
import { exchangeOf, RecordingOwner } from "./exchange_fixture.ts";

for (const exit of EXITS) {
  Deno.test(`Endpoint ends a call once and wholly: ${exit.name}`, async () => {
    const rig = await EndpointRig.open(exit.options);
    const play = await begin(rig, exit);
    const { owner } = play.subject;
    await exit.happens(play);
    await rig.settle();
    expectsEnd(play, exit);
    await expectsNext(play, exit);
    const heard = [...owner.heard];
    const counted = countsOf(rig);
    for (const request of subjectsOf(rig)) {
      const { backend, id } = request;
      const late = headers(id, [...RESPONSE, ["grpc-status", "0"]], { endStream: true });
      if (wireOf(request) === "CANCEL") backend.sends(late);
    }
    await rig.settle();
    await rig.finish();
    assertEquals(owner.heard, heard);
    assertEquals(countsOf(rig), counted);
    assertEquals(rig.faults, exit.faults ?? []);
  });
}

async function begin(rig: EndpointRig, { from, asked = {} }: Exit): Promise<Play> {
  if (from === "queued") rig.call("holder");
  const owner = new RecordingOwner();
  const exchange = exchangeOf(owner, {
    message: "subject",
    metadata: [["x-call", "subject"]],
    ...asked,
  });
  if (from !== "new") rig.endpoint.start(exchange);
  const next = from === "new" ? undefined : rig.call("next");
  await rig.advance(TAKES_MS);
  rig.timers.refresh(); // as whatever brings the end does
  const [request] = subjectsOf(rig);
  return { rig, subject: { exchange, owner }, next, request: request!, elsewhere: [] };
}

/** What is known of the call, where it is over. */
function expectsEnd(play: Play, exit: Exit): void {
  const { rig: { group }, subject: { exchange, owner } } = play;
  const { reply, place, at } = exchange;
  assertEquals(owner.heard, exit.heard ?? ["ended"]);
  assertEquals([reply.ended, reply.status], [exit.status !== undefined, exit.status ?? NO_STATUS]);
  assertEquals(reply.failure?.kind, exit.failure);
  assertEquals([at, place.state, place.countsForMethod], [undefined, "none", false]);
  const left = group.left.filter((each) => each.exchange === exchange);
  const goesOn = new Array((exit.starts ?? 1) - 1).fill(false);
  assertEquals(left.map(({ hasEnded }) => hasEnded), [...goesOn, exit.status !== undefined]);
  const answers = group.answered.filter((each) => each === exchange).length;
  assertEquals(answers, reply.receivedBytes > 0 ? 1 : 0);
  assertEquals(subjectsOf(play.rig).map(wireOf), [...exit.wire]);
  expectsCounts(play, exit);
}

function wireOf({ seen }: BackendRequest): string {
  return seen.reset ?? (seen.endedBy === "DATA" ? "whole" : "open");
}

/** The call has left in the counters what it should, beside what others have. */
function expectsCounts({ rig }: Play, exit: Exit): void {
  const { counters, requests, made } = rig;
  const others = made.filter(({ exchange: { attempt, reply } }) =>
    reply.ended && attempt !== undefined
  );
  const latenciesMs = others.map(({ exchange, owner }) =>
    owner.endedMs - exchange.attempt!.startedMs
  );
  const answers = new Array(counters.answers.counts.length).fill(0);
  for (const { exchange } of others) answers[exchange.reply.status]++;
  if (exit.latencyMs !== undefined) {
    answers[exit.status!]++;
    latenciesMs.push(exit.latencyMs);
  }
  const ofOthers = requests.length - subjectsOf(rig).length;
  assertEquals(counters.calls, (exit.calls ?? exit.wire.length) + ofOthers);
  assertEquals([...counters.answers.counts], answers);
  assertEquals(counters.latency.count, latenciesMs.length);
  const sumMs = latenciesMs.reduce((sum, ms) => sum + ms, 0);
  assertEquals(Math.round(counters.latency.sumSeconds * 1_000), sumMs);
  const none = { pending_full: 0, method_full: 0, unreachable: 0, ejected: 0, queue_timeout: 0 };
  assertEquals(counters.refused, { ...none, ...exit.refused });
}

/** Whoever waited has the place, and everybody ends well. */
async function expectsNext({ rig, next: waiting }: Play, exit: Exit): Promise<void> {
  const fate = exit.next ?? "is sent";
  if (exit.from === "queued" && fate === "is sent") {
    assertEquals(rig.held, { inflight: 1, pending: 1 });
  }
  for (const request of rig.backends.flatMap(({ open }) => open)) {
    if (request.messages[0] === "holder") request.echoes();
  }
  await rig.settle();
  const next = waiting ?? rig.call("next");
  await rig.settle();
  if (fate === "fails") {
    assertEquals([next.owner.heard, next.exchange.reply.status], [["ended"], 14]);
  } else {
    const [request, ...others] = rig.requests.filter(({ messages }) => messages[0] === "next");
    assertEquals([request !== undefined, others.length], [true, 0]);
    if (fate === "is sent") assertEquals(rig.held, { inflight: 1, pending: 0 });
    if (!request!.isOver) request!.echoes();
    await rig.settle();
    assertEquals([next.owner.ends, next.exchange.reply.status], [1, 0]);
  }
  assertEquals(rig.held, { inflight: 0, pending: 0 });
}

function countsOf({ counters: { calls, answers, latency, refused } }: EndpointRig): unknown {
  return structuredClone({ calls, answers: answers.counts, latency: latency.count, refused });
}
