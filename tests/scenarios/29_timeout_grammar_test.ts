/**
 * Scenario 29: a grpc-timeout outside the grammar. In memory, also for streams that go on: tests/proxy/call_deadline_test.ts;
 * the grammar by itself: tests/grpc/timeout_test.ts.
 *
 * The row allows 13 at once or the header passed on. Ours is 13, for each value but `0S`: that is what clients write
 * for a deadline that has just passed, and INTERFACE has 4 for one that has. It is refused all the same, at once, and
 * the backend sees nothing of it.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import type { CallerCall } from "../support/caller_end.ts";
import type { Pairs } from "../support/frames.ts";
import { valueOf } from "../support/peer_end.ts";
import { ended } from "../support/peer_waiting.ts";
import { GET, PUT } from "../support/proxy_rig.ts";
import { withSockets } from "../support/socket_rig.ts";

/** The row's own, then others that some parser or other takes for a number. */
const MALFORMED = [
  ...["123456789m", "10", "-5S", "5s", "1e3m", "S", ""],
  ...[
    "+5S",
    "5 S",
    "0x5S",
    "5.0S",
    "5,0S",
    "1_0S",
    "NaNm",
    "Infinitym",
    "5Sm",
    "5SS",
    "mm",
    "5M5S",
  ],
  ...["000000005S", "5\xb5", "\xb2S", "9".repeat(100) + "S", '"5S"', "5S,6S"],
];

const EXPIRED = ["0S", "0n", "00000000H"];

/** Past the longest that timers of the system can wait (2^31 ms are 597 H), or digits that make it so. */
const LONG = ["99999999H", "99999999M", "99999999S", "600H", "35792M", "2147484S", "99999999m"];

Deno.test("Scenario 29: a timeout outside the grammar is 13 at once, the backend sees nothing of it, and others go on", async () => {
  await withSockets(async (rig) => {
    const caller = await rig.caller();
    const healthy = caller.call(PUT, "healthy", { ends: false });
    const beside = caller.call(GET, "beside");
    await rig.request(1);
    for (const value of MALFORMED) {
      const calls = [
        caller.call(GET, "1", { metadata: timeout(value) }),
        caller.call(PUT, "1", { metadata: timeout(value) }),
        caller.call(GET, undefined, { metadata: timeout(value) }),
        caller.call(PUT, undefined, { metadata: timeout(value), ends: false }),
        caller.call(GET, "beside", { metadata: timeout(value) }), // it would join
      ];
      await ended(...calls);
      for (const call of calls) refused(call, 13, value);
    }
    healthy.ends();
    for (const path of [PUT, GET]) {
      rig.backend.requests.find((request) => request.path === path)!.replies([path]);
    }
    await ended(healthy, beside);
    healthy.expects(0, PUT);
    beside.expects(0, GET);
    rig.expectsRequests(2);
    assertEquals(caller.seen("GOAWAY"), []);
    assertEquals(rig.local.outcomes.rejected, 5 * MALFORMED.length);
  });
});

Deno.test("Scenario 29: a timeout of nothing is 4 at once, and the backend sees nothing of it", async () => {
  await withSockets(async (rig) => {
    const caller = await rig.caller();
    for (const value of EXPIRED) {
      for (const path of [GET, PUT]) {
        const call = caller.call(path, "1", { metadata: timeout(value) });
        await ended(call);
        refused(call, 4, value);
      }
    }
    rig.expectsRequests(0);
  });
});

Deno.test("Scenario 29: a malformed timeout is refused also where the answer is stored, or a good one stands beside it", async () => {
  await withSockets({ variables: { COLLAPSER_CACHE_DURATION: "1m" } }, async (rig) => {
    rig.backend.onRequest = (request) => request.echoes();
    const caller = await rig.caller();
    const good = caller.call(GET, "1", { metadata: timeout("5S") });
    await ended(good);
    good.expects(0, "re:1");
    const stored = caller.call(GET, "1", { metadata: timeout("10") });
    const twice = [["5S", "10"], ["10", "5S"]].map((values) =>
      caller.call(GET, "2", { metadata: values.flatMap(timeout) })
    );
    await ended(stored, ...twice);
    for (const call of [stored, ...twice]) refused(call, 13, "10");
    rig.expectsRequests(1);
  });
});

Deno.test("Scenario 29: the longest timeouts are long: never an instant 4, and never more than given to the backend", async () => {
  await withSockets(async (rig) => {
    const caller = await rig.caller();
    const calls = LONG.flatMap((value) =>
      [GET, PUT].map((path) => caller.call(path, value, { metadata: timeout(value) }))
    );
    await rig.request(calls.length - 1);
    const short = caller.call(GET, "short", { metadata: timeout("50m") });
    await ended(short); // timers have run
    short.expects(4);
    for (const call of calls) call.expectsNothing();
    for (const request of rig.backend.requests) {
      if (request.isOver) continue;
      const [given] = request.messages;
      const sent = valueOf(request.fields, "grpc-timeout")!;
      assert(inHours(sent) <= inHours(given!), `${sent} for ${given}`);
      assert(inHours(sent) > inHours(given!) * 0.99, `${sent} for ${given}`);
      request.echoes();
    }
    await ended(...calls);
    for (const [i, call] of calls.entries()) call.expects(0, `re:${LONG[i >> 1]}`);
  });
});

Deno.test("Scenario 29: timeouts in the finest units count in them", async () => {
  await withSockets(async (rig) => {
    const caller = await rig.caller();
    for (const [value, leastMs] of [["99999999n", 99], ["1n", 0], ["40000u", 40]] as const) {
      const fromMs = performance.now();
      const call = caller.call(PUT, "1", { metadata: timeout(value) });
      await ended(call);
      call.expects(4);
      assert(performance.now() - fromMs >= leastMs, value);
    }
  });
});

function timeout(value: string): Pairs {
  return [["grpc-timeout", value]];
}

/** One HEADERS frame, of the sidecar's own, and nothing else of it. */
function refused(call: CallerCall, status: number, value: string): void {
  const { blocks, text, endedBy } = call.reply;
  assertEquals([call.status, blocks.length, text, endedBy], [status, 1, "", "HEADERS"], value);
  assertEquals(valueOf(blocks[0], ":status"), "200", value);
  assertEquals(call.grpcMessage?.startsWith("collapser: "), true, value);
}

function inHours(value: string): number {
  const perHour: Record<string, number> = { H: 1, M: 60, S: 3_600, m: 3_600_000 };
  return Number(value.slice(0, -1)) / perHour[value.at(-1)!]!;
}
