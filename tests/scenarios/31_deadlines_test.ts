/**
 * Scenario 31: deadlines that the sidecar keeps for callers who do not. To the millisecond, in memory, and with all
 * that a leader's deadline means to others: tests/proxy/call_deadline_test.ts. Stock clients that give up by
 * themselves: CUT_SHORT of tests/interop/plans.ts.
 *
 * Here time is the machine's own, so only what may not come early has a bound.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import type { CallerCall } from "../support/caller_end.ts";
import { headers, type Pairs, RESPONSE } from "../support/frames.ts";
import { valueOf } from "../support/peer_end.ts";
import { ended } from "../support/peer_waiting.ts";
import { GET, PUT } from "../support/proxy_rig.ts";
import { LIST, type SocketRig, withSockets } from "../support/socket_rig.ts";
import { until } from "../support/waiting.ts";

const PASSED = "the call's deadline has passed";

/** What may come of a time-out further down; doc/http-grpc-status-mapping.md has 504 as 14, but a grpc-status wins. */
const ANSWERS: readonly { readonly status: number; readonly frames: Pairs }[] = [
  { status: 4, frames: [...RESPONSE, ["grpc-status", "4"], ["grpc-message", "its own words"]] },
  { status: 4, frames: [[":status", "504"], ["grpc-status", "4"]] },
  { status: 14, frames: [[":status", "504"], ["content-type", "text/html"]] },
];

Deno.test("Scenario 31(a): a call whose backend never answers is 4 when its time is up, not before, and its backend call is cancelled", async () => {
  await withSockets(async (rig) => {
    const caller = await rig.caller();
    const fromMs = performance.now();
    const calls = [
      caller.call(GET, "1", { metadata: timeout("200m") }),
      caller.call(PUT, "1", { metadata: timeout("200m") }),
      caller.call(PUT, "2", { metadata: timeout("200m"), ends: false }),
    ];
    await rig.request(1);
    await ended(...calls);
    assert(performance.now() - fromMs >= 200);
    for (const call of calls) call.expectsFailure(4, PASSED);
    assertEquals(calls.map(({ reply }) => reply.reset), [undefined, undefined, "NO_ERROR"]);
    await cancelled(rig, [0, 1, 2]);
    for (const { path, fields } of rig.backend.requests) {
      // Others may wait for what is shared, so the backend is told of BACKEND_TIMEOUT at least.
      if (path === GET) assertEquals(valueOf(fields, "grpc-timeout"), "10S");
      else assert(toldMs(fields)! <= 200);
    }
    const next = caller.call(GET, "1");
    (await rig.request(3)).replies(["one"]);
    await ended(next);
    next.expects(0, "one");
    assertEquals(rig.backend.ends.length, 1);
  });
});

Deno.test("Scenario 31(a): a timeout kept by the sidecar is counted as DeadlineExceeded and never as Unavailable", async () => {
  await withSockets(async (rig) => {
    const caller = await rig.caller();
    const calls = [GET, PUT].map((path) => caller.call(path, "1", { metadata: timeout("50m") }));
    await ended(...calls);
    const series = await rig.local.scrape();
    const codes = [...series].filter(([name]) => name.startsWith("collapser_responses_total{"));
    assertEquals(
      codes.filter(([, count]) => count > 0).map(([name, count]) => [
        /grpc_code="(\w+)"/.exec(name)?.[1],
        count,
      ]),
      [["DeadlineExceeded", 2]],
    );
  });
});

Deno.test("Scenario 31(a): a stream that has begun ends with 4 in trailers, its messages so far before it", async () => {
  await withSockets(async (rig) => {
    const [one, other] = [await rig.caller(), await rig.caller()];
    const calls = [
      one.call(LIST, "1", { metadata: timeout("1S") }),
      other.call(LIST, "1", { metadata: timeout("1S") }),
      other.call(PUT, "1", { metadata: timeout("1S"), ends: false }),
    ];
    await until(() => rig.backend.requests.length === 2, "both at the backend");
    for (const request of rig.backend.requests) request.begins(["a", "b"]);
    await ended(...calls);
    for (const call of calls) {
      call.expects(4, "a", "b");
      call.expectsFailure(4, PASSED);
      assertEquals(call.reply.blocks.length, 2);
    }
    await cancelled(rig, [0, 1]);
  });
});

Deno.test("Scenario 31(a): a 4 of the backend's own stays 4, and only a gateway's HTTP 504 is 14", async () => {
  await withSockets(async (rig) => {
    const [one, other] = [await rig.caller(), await rig.caller()];
    for (const [i, { status, frames }] of ANSWERS.entries()) {
      const calls = [
        one.call(GET, `${i}`, { metadata: timeout("1M") }),
        other.call(GET, `${i}`),
      ];
      await rig.waits(2);
      const { id, backend } = await rig.request(i);
      backend.sends(headers(id, frames, { endStream: true }));
      await ended(...calls);
      for (const call of calls) call.expects(status);
    }
    rig.expectsRequests(ANSWERS.length);
  });
});

Deno.test("Scenario 31(b): a follower's deadline is its own: 4 for it, OK for its leader, one backend call that nobody cancels", async () => {
  await withSockets(async (rig) => {
    const [one, other] = [await rig.caller(), await rig.caller()];
    const leader = one.call(GET, "1");
    const request = await rig.request(0);
    const fromMs = performance.now();
    const follower = other.call(GET, "1", { metadata: timeout("200m") });
    await ended(follower);
    assert(performance.now() - fromMs >= 200);
    follower.expectsFailure(4, PASSED);
    leader.expectsNothing();
    request.replies(["one"]);
    await ended(leader);
    leader.expects(0, "one");
    rig.expectsRequests(1);
    assertEquals(request.seen.reset, undefined);
    assertEquals(valueOf(request.fields, "grpc-timeout"), undefined); // the leader had none
  });
});

Deno.test("Scenario 31(b): followers end one by one as their times come, and whoever has more time gets the answer", async () => {
  await withSockets(async (rig) => {
    const caller = await rig.caller();
    const leader = caller.call(GET, "1", { metadata: timeout("1M") });
    await rig.request(0);
    const times = [300, 50, 150, 60_000];
    const followers = times.map((ms) => caller.call(GET, "1", { metadata: timeout(`${ms}m`) }));
    await ended(...followers.slice(0, 3));
    const order = caller.seen("HEADERS").map(({ streamId }) => streamId);
    assertEquals(order, [1, 2, 0].map((i) => followers[i]!.id));
    for (const call of followers.slice(0, 3)) call.expectsFailure(4, PASSED);
    await rig.waits(2);
    rig.backend.requests[0]!.replies(["one"]);
    await ended(leader, followers[3]!);
    for (const call of [leader, followers[3]!]) call.expects(0, "one");
    rig.expectsRequests(1);
  });
});

Deno.test("Scenario 31(b): a follower's deadline within a shared stream ends its own copy, and the leader gets all of it", async () => {
  await withSockets(async (rig) => {
    const [one, other] = [await rig.caller(), await rig.caller()];
    const leader = one.call(LIST, "1");
    const request = await rig.request(0);
    const follower = other.call(LIST, "1", { metadata: timeout("1S") });
    await rig.waits(2);
    request.begins(["a"]);
    await ended(follower);
    follower.expects(4, "a");
    request.sends("b");
    request.ends();
    await ended(leader);
    leader.expects(0, "a", "b");
    assertEquals(request.seen.reset, undefined);
  });
});

Deno.test("Scenario 31(b): when leader and followers all run out of time, the backend call is cancelled and the next caller leads", async () => {
  await withSockets(async (rig) => {
    const caller = await rig.caller();
    const calls: CallerCall[] = [80, 120, 160].map((ms) =>
      caller.call(GET, "1", { metadata: timeout(`${ms}m`) })
    );
    await rig.request(0);
    await ended(...calls);
    for (const call of calls) call.expectsFailure(4, PASSED);
    await cancelled(rig, [0]);
    const next = caller.call(GET, "1");
    (await rig.request(1)).replies(["new"]);
    await ended(next);
    next.expects(0, "new");
    rig.expectsRequests(2);
  });
});

function timeout(value: string): Pairs {
  return [["grpc-timeout", value]];
}

/** What the backend was told is left, in milliseconds; here it is always said in them or in finer units. */
function toldMs(fields: Pairs): number | undefined {
  const value = valueOf(fields, "grpc-timeout");
  if (value === undefined) return undefined;
  const perMs: Record<string, number> = { m: 1, u: 1_000, n: 1_000_000 };
  return Number(value.slice(0, -1)) / perMs[value.at(-1)!]!;
}

/** Each of these requests has been reset with CANCEL. */
async function cancelled(rig: SocketRig, indices: readonly number[]): Promise<void> {
  const resets = () => indices.map((i) => rig.backend.requests[i]?.seen.reset);
  await until(() => resets().every((code) => code !== undefined), "backend calls that are reset");
  assertEquals(resets(), indices.map(() => "CANCEL"));
}
