/** What is held for all peers, what it is counted as, and who ends when it is too much (COLLAPSER_MAX_BUFFERED_BYTES). */

import { assert, assertEquals, assertGreater, assertLess } from "@std/assert";
import type { Exchange } from "../../lib/upstream/mod.ts";
import { STREAM_WINDOW_BYTES } from "../../lib/connection/limits.ts";
import { type FrameLog, SETTING } from "../../lib/wire/mod.ts";
import type { CallerCall } from "../support/caller_end.ts";
import { rng } from "../support/cuts.ts";
import type { SettingPairs } from "../support/peer_end.ts";
import { GET, type ProxyRig, PUT, withRig } from "../support/proxy_rig.ts";

/** Settings of an end that takes no DATA. */
const SHUT: SettingPairs = [[SETTING.initialWindowSize, 0]];

const UNREAD = "too much is held for callers that read slowly (COLLAPSER_MAX_BUFFERED_BYTES)";
const NO_ROOM = "no room for the request: too much is held already (COLLAPSER_MAX_BUFFERED_BYTES)";

const MIB = 2 ** 20;
const SMALL = { maxBufferedBytes: MIB / 2, maxMessageBytes: 2 ** 16 };

Deno.test("BufferGuard ends those for whom most is held, until there is room again, and nobody else", async () => {
  await withRig(SMALL, async (rig) => {
    const deaf = await rig.caller(SHUT);
    const calls = Array.from({ length: 12 }, (_, i) => deaf.call(PUT, `${i}`));
    const reader = (await rig.caller()).call(PUT, "reader");
    await rig.settle();
    for (const request of rig.requests) request.begins();
    const sizes = calls.map((_, i) => 15_000 * (i % 4));
    for (const [i, size] of sizes.entries()) rig.request(i).sends("x".repeat(size));
    await rig.settle();
    assertEquals(calls.map(({ status }) => status), calls.map(() => undefined));
    for (const [i, size] of sizes.entries()) rig.request(i).sends("y".repeat(size));
    await rig.settle();
    const ended = calls.filter(({ status }) => status !== undefined);
    for (const call of ended) call.expectsFailure(8, UNREAD);
    assertGreater(ended.length, 0);
    assert(ended.every((call) => sizes[calls.indexOf(call)]! >= 30_000), "the largest");
    assertLess(rig.proxy.buffered.bytes, SMALL.maxBufferedBytes * 7 / 8 + 1);
    assertEquals(rig.proxy.counters.overfull, { reply: ended.length, request: 0 });
    rig.requests.at(-1)!.sends("still here");
    rig.requests.at(-1)!.ends();
    await rig.settle();
    reader.expects(0, "still here");
  });
});

Deno.test("BufferGuard ends nobody for a bulkhead full of replies that nobody takes: GRPC_STALL_TIMEOUT does", async () => {
  const calls = 64; // of 1,024, so that what is held in all is a sixteenth of what it is by default
  const limits = { maxBufferedBytes: 256 * MIB / 16, backendMaxConcurrent: calls };
  await withRig({ ...limits, stallTimeoutMs: 3_000 }, async (rig) => {
    const deaf = await rig.caller(SHUT);
    const unread = Array.from({ length: calls }, (_, i) => deaf.call(PUT, `${i}`));
    await rig.settle();
    for (const request of rig.requests) request.begins();
    for (let window = STREAM_WINDOW_BYTES, piece = 16_000; window > 0; window -= piece) {
      for (const request of rig.requests) request.sends("x".repeat(Math.min(piece, window) - 5));
      await rig.settle();
    }
    assertGreater(rig.proxy.buffered.bytes, calls * STREAM_WINDOW_BYTES);
    assertEquals(rig.proxy.counters.overfull, { reply: 0, request: 0 });
    await rig.advance(4_000);
    for (const call of unread) {
      call.expectsFailure(
        8,
        "the caller read nothing of its reply for 3000 ms (GRPC_STALL_TIMEOUT)",
      );
    }
    assertEquals([rig.proxy.counters.stalled, rig.proxy.buffered.bytes], [calls, 0]);
  });
});

Deno.test("BufferGuard ends who has read nothing for longest before who has more to read but reads", async () => {
  await withRig(SMALL, async (rig) => {
    const [idle, slow] = [await rig.caller(SHUT), await rig.caller(SHUT)];
    const stuck = idle.call(PUT, "1");
    const reading = slow.call(PUT, "2");
    await rig.settle();
    for (const request of rig.requests) request.begins();
    rig.request(0).sends("x".repeat(100_000));
    rig.request(1).sends("x".repeat(125_000));
    for (let second = 0; second < 5; second++) {
      await rig.advance(1_000);
      reading.grants(10);
    }
    const third = (await rig.caller(SHUT)).call(PUT, "3");
    const fourth = (await rig.caller(SHUT)).call(PUT, "4");
    await rig.settle();
    for (const index of [2, 3]) rig.request(index).begins();
    for (const index of [2, 3]) rig.request(index).sends("x".repeat(70_000));
    await rig.settle();
    stuck.expectsFailure(8, UNREAD);
    assertEquals([reading, third, fourth].map(({ status }) => status), [
      undefined,
      undefined,
      undefined,
    ]);
  });
});

Deno.test("Call is refused while too much is held, though stored results are handed out and flights joined", async () => {
  await withRig({ ...SMALL, cacheDurationMs: 60_000 }, async (rig) => {
    const caller = await rig.caller();
    const stored = caller.call(GET, "stored");
    const flying = caller.call(GET, "flying");
    await rig.settle();
    rig.request(0).replies(["one"]);
    await rig.settle();
    rig.proxy.buffered.add(MIB);
    const calls = [
      caller.call(GET, "stored"),
      caller.call(GET, "flying"),
      caller.call(GET, "new"),
      caller.call(PUT, "new"),
      caller.call(GET),
    ];
    const gathering = caller.call(GET, "half", { ends: false });
    await rig.settle();
    calls[0]!.expects(0, "one");
    for (const refused of [...calls.slice(2), gathering]) refused.expectsFailure(8, NO_ROOM);
    rig.proxy.buffered.add(-MIB);
    rig.request(1).replies(["two"]);
    const after = caller.call(PUT, "after");
    await rig.settle();
    for (const call of [flying, calls[1]!]) call.expects(0, "two");
    stored.expects(0, "one");
    rig.request(2).replies(["three"]);
    await rig.settle();
    after.expects(0, "three");
    assertEquals(rig.outcomes, { hit: 1, joined: 1, led: 2, passed: 1, rejected: 4 });
  });
});

Deno.test("BufferGuard ends requests that no backend takes when they are too much, the largest first", async () => {
  await withRig({ ...SMALL, backendSettings: SHUT }, async (rig) => {
    const caller = await rig.caller();
    const calls = [50_000, 125_000, 100_000, 130_000, 75_000].map((size) =>
      caller.call(PUT, "x".repeat(size))
    );
    await rig.settle();
    assertEquals(calls.map(({ status }) => status), [
      undefined,
      undefined,
      undefined,
      8,
      undefined,
    ]);
    calls[3]!.expectsFailure(8, NO_ROOM);
  });
});

Deno.test("BufferGuard ends connections whose sockets take nothing when nothing else is left", async () => {
  await withRig({ maxBufferedBytes: 250_000, maxMessageBytes: 2 ** 16 }, async (rig) => {
    const [deaf, other] = [await rig.caller(), await rig.caller()];
    deaf.socket.hold();
    const calls = Array.from({ length: 14 }, (_, i) => deaf.call(PUT, `${i}`));
    await rig.settle();
    for (const request of rig.requests) request.replies(["x".repeat(30_000)]);
    await rig.settle();
    assertEquals(rig.proxy.counters.connections, 2);
    await rig.advance(3_000);
    assertEquals([rig.proxy.counters.connections, rig.proxy.counters.unreadConnections], [1, 1]);
    assertEquals(rig.proxy.buffered.bytes, 0);
    assert(calls.every(({ status }) => status === undefined));
    const after = other.call(PUT, "after");
    await rig.settle();
    rig.requests.at(-1)!.replies(["one"]);
    await rig.settle();
    after.expects(0, "one");
  });
});

Deno.test("FlightCall lets those whose answer was another's share its request", async () => {
  await withRig(async (rig) => {
    const callers = [await rig.caller(), await rig.caller()];
    const question = "?".repeat(50_000);
    const calls = Array.from({ length: 20 }, (_, i) => callers[i % 2]!.call(GET, question));
    await rig.settle();
    const before = rig.proxy.buffered.bytes;
    rig.request(0).replies(["mine"], { headers: [["cache-control", "private"]] });
    await rig.settle();
    rig.expectsRequests(20);
    assertLess(rig.proxy.buffered.bytes, before + 20_000);
    for (const request of rig.requests.slice(1)) {
      assertEquals(request.messages, [question]);
      request.replies(["own"]);
    }
    await rig.settle();
    for (const [i, call] of calls.entries()) call.expects(0, i === 0 ? "mine" : "own");
    assertEquals(rig.proxy.buffered.bytes, 0);
  });
});

for (const seed of [1, 2, 3, 4, 5, 6]) {
  Deno.test(`BufferedBytes is what a walk over the logs of all calls finds, whatever happens (seed ${seed})`, async () => {
    const random = rng(seed);
    const below = (n: number) => Math.floor(random() * n);
    const maxBufferedBytes = seed % 2 === 0 ? 2 * MIB : 200_000;
    const options = { maxMessageBytes: 20_000, maxBufferedBytes, cacheDurationMs: below(3) * 500 };
    await withRig({ ...options, seed, stallTimeoutMs: 4_000 }, async (rig) => {
      const callers = [await rig.caller(), await rig.caller(SHUT), await rig.caller(SHUT)];
      const calls: CallerCall[] = [];
      for (let step = 0; step < 150; step++) {
        const caller = callers[below(callers.length)]!;
        const request = rig.requests[below(rig.requests.length)];
        const isOpen = request !== undefined && !request.isOver;
        const call = calls[below(calls.length)];
        const said = "x".repeat(below(5) === 0 ? below(30_000) : below(300));
        const metadata = below(5) === 0 ? [["x-collapser-debug", "1"]] as const : [];
        switch (below(9)) {
          case 0:
          case 1:
          case 2:
            calls.push(
              caller.call(below(2) === 0 ? GET : PUT, said.slice(0, 5 + below(3) * 9_000), {
                metadata,
              }),
            );
            break;
          case 3:
            calls.push(caller.call(below(2) === 0 ? GET : PUT, said, { ends: false }));
            break;
          case 4:
            if (isOpen) request.replies([said]);
            break;
          case 5:
            if (isOpen) request.replies([said], { headers: [["cache-control", "private"]] });
            break;
          case 6:
            if (call !== undefined && call.status === undefined && !call.cancelled) {
              call.grants(1 + below(20_000));
            }
            break;
          case 7:
            if (call !== undefined && call.status === undefined && !call.cancelled) call.cancels();
            break;
          case 8:
            await rig.advance(below(700));
        }
        if (below(3) > 0) continue;
        await rig.settle();
        assertEquals(rig.proxy.buffered.bytes, heldBytes(rig), `step ${step}`);
        assertLess(rig.proxy.buffered.bytes, maxBufferedBytes + 1);
      }
      for (const caller of callers) caller.leaves();
      await rig.settle();
      assertEquals(rig.proxy.buffered.bytes, 0, "at rest");
    });
  });
}

/** The storage of all logs that calls of callers lead to and that are counted, and output that is counted. */
function heldBytes({ proxy }: ProxyRig): number {
  const logs = new Set<FrameLog | undefined>();
  let bytes = 0;
  for (const { connection } of proxy.sessions) {
    bytes += connection.countedOutputBytes;
    for (const { owner, log } of connection.streams()) {
      if (owner === undefined) continue;
      logs.add(log);
      const { flight, ownExchange } = owner;
      for (const exchange of [ownExchange, flight?.reply.exchange]) addLogs(logs, exchange);
      logs.add(flight?.reply.log).add(owner["body"]?.log);
    }
  }
  for (const log of logs) if (log?.account !== undefined) bytes += log.heldBytes;
  return bytes;
}

function addLogs(logs: Set<FrameLog | undefined>, exchange: Exchange | undefined): void {
  logs.add(exchange?.body).add(exchange?.reply.log);
}
