/**
 * Replies that turn out to be for one caller alone: who waited for them, and what becomes of their key.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { ERROR_CODE } from "../../lib/wire/mod.ts";
import type { CallerEnd } from "../support/caller_end.ts";
import type { Pairs } from "../support/frames.ts";
import { GET, type ProxyRig, withRig } from "../support/proxy_rig.ts";

const NO_CACHE: Pairs = [["cache-control", "no-cache"]];

Deno.test("FlightCall with hitForPassMs 0 forgets that an answer was private", async () => {
  await withRig({ hitForPassMs: 0 }, async (rig) => {
    const caller = await rig.caller();
    for (const requests of [1, 3]) {
      caller.call(GET, "1");
      caller.call(GET, "1");
      await rig.settle();
      rig.expectsRequests(requests);
      rig.request(-1).replies(["x"], { headers: [["cache-control", "private"]] });
      await rig.settle();
      rig.request(-1).replies(["x"]);
      await rig.settle();
    }
    assertEquals(rig.outcomes, { led: 2, passed: 2 });
  });
});

Deno.test("FlightCall whose answer turns out private sends its followers on, each on its own", async () => {
  const ways = [["headers", "no-store"], ["headers", "private"], ["trailers", "no-store"]] as const;
  for (const [place, directive] of ways) {
    await withRig(async (rig) => {
      const caller = await rig.caller();
      const leader = caller.call(GET, "1");
      const followers = Array.from({ length: 3 }, () => caller.call(GET, "1"));
      await rig.settle();
      rig.request(0).replies(["mine"], { [place]: [["cache-control", directive]] });
      await rig.settle();
      leader.expects(0, "mine");
      rig.expectsRequests(4);
      for (const call of followers) call.expectsNothing();
      rig.requests.slice(1).forEach((request, i) => {
        assertEquals(request.messages, ["1"]);
        assertEquals(request.ended, true);
        request.replies([`yours ${i}`]);
      });
      await rig.settle();
      const answers = followers.flatMap(({ messages }) => messages).sort();
      assertEquals(answers, ["yours 0", "yours 1", "yours 2"]);
      assertEquals(rig.outcomes, { led: 1, passed: 3 });
      assertEquals(rig.passed, { no_store: 3 });
    });
  }
});

Deno.test("FlightCall whose followers were sent on leaves each its request until its own end", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const calls = Array.from({ length: 4 }, () => caller.call(GET, "1"));
    await rig.settle();
    rig.request(0).replies(["mine"], { headers: [["cache-control", "private"]] });
    await rig.settle();
    rig.expectsRequests(4);
    for (const request of rig.requests.slice(1, 3)) {
      request.replies(["yours"]);
      await rig.settle();
    }
    rig.request(3).resets(ERROR_CODE.refusedStream);
    await rig.settle();
    assertEquals(rig.request(4).messages, ["1"]);
    assertEquals(rig.request(4).ended, true);
    rig.request(4).replies(["yours"]);
    await rig.settle();
    assertEquals(calls.flatMap(({ messages }) => messages).sort(), [
      "mine",
      "yours",
      "yours",
      "yours",
    ]);
  });
});

Deno.test("FlightCall passes calls of a private key through for 10 s, and then tries again", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    caller.call(GET, "1");
    await rig.settle();
    rig.request(0).replies(["x"], { headers: [["cache-control", "private"]] });
    await rig.advance(9_990);
    const pair = [caller.call(GET, "1"), caller.call(GET, "1")];
    const other = [caller.call(GET, "2"), caller.call(GET, "2")];
    await rig.settle();
    rig.expectsRequests(4); // two of their own, and one shared
    for (const request of rig.requests.slice(1)) request.replies(["y"]);
    await rig.settle();
    for (const call of [...pair, ...other]) call.expects(0, "y");
    await rig.advance(11);
    const later = [caller.call(GET, "1"), caller.call(GET, "1")];
    await rig.settle();
    rig.expectsRequests(6); // one tries it, and nobody waits for that
    for (const request of rig.requests.slice(4)) request.replies(["z"]);
    await rig.settle();
    for (const call of later) call.expects(0, "z");
    assertEquals(rig.passed, { no_store: 3 });
    const hit = caller.call(GET, "1");
    await rig.settle();
    hit.expects(0, "z");
    await rig.advance(100);
    caller.call(GET, "1");
    caller.call(GET, "1");
    await rig.settle();
    rig.expectsRequests(7); // shared again
  });
});

/** A rig whose key "1" was private, and whose time of passing is over. */
async function withTrial(
  body: (rig: ProxyRig, caller: CallerEnd) => Promise<void>,
): Promise<void> {
  await withRig({ hitForPassMs: 1_000 }, async (rig) => {
    const caller = await rig.caller();
    caller.call(GET, "1");
    await rig.settle();
    rig.request(0).replies(["x"], { headers: [["cache-control", "private"]] });
    await rig.advance(1_004);
    await body(rig, caller);
  });
}

Deno.test("FlightCall that tries a private key and finds it private lets it pass for as long again", async () => {
  await withTrial(async (rig, caller) => {
    caller.call(GET, "1");
    await rig.settle();
    rig.request(1).replies(["y"], { headers: [["cache-control", "private"]] });
    await rig.advance(990);
    caller.call(GET, "1");
    caller.call(GET, "1");
    await rig.settle();
    rig.expectsRequests(4);
    assertEquals(rig.outcomes, { led: 2, passed: 2 });
  });
});

Deno.test("FlightCall that tries a private key and comes to nothing leaves that to the next one", async () => {
  for (const ending of ["cancelled", "failed"] as const) {
    await withTrial(async (rig, caller) => {
      const trial = caller.call(GET, "1");
      await rig.settle();
      if (ending === "cancelled") trial.cancels();
      else rig.request(1).resets(2);
      await rig.settle();
      caller.call(GET, "1");
      caller.call(GET, "1");
      await rig.settle();
      rig.expectsRequests(4);
      assertEquals(rig.outcomes, { led: 3, passed: 1 });
    });
  }
});

Deno.test("FlightCall that tries a private key takes an error of the backend's for an answer", async () => {
  await withTrial(async (rig, caller) => {
    caller.call(GET, "1");
    await rig.settle();
    rig.request(1).fails(5);
    await rig.settle();
    caller.call(GET, "1");
    caller.call(GET, "1");
    await rig.settle();
    rig.expectsRequests(3);
  });
});

Deno.test("Call with no-cache or max-age passes as well while its key is private", async () => {
  await withTrial(async (rig, caller) => {
    const metadata: Pairs = [["cache-control", "max-age=0"]];
    caller.call(GET, "1", { metadata: NO_CACHE });
    await rig.settle();
    caller.call(GET, "1", { metadata: NO_CACHE });
    caller.call(GET, "1", { metadata });
    await rig.settle();
    assertEquals(rig.outcomes, { led: 2, passed: 2 });
    rig.request(1).replies(["y"], { headers: [["cache-control", "private"]] });
    await rig.settle();
    caller.call(GET, "1", { metadata: NO_CACHE });
    await rig.settle();
    assertEquals(rig.outcomes, { led: 2, passed: 3 });
  });
});

Deno.test("FlightCall whose private trailers come late keeps those who have read some of it already", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const calls = [caller.call(GET, "1"), caller.call(GET, "1")];
    await rig.settle();
    rig.request(0).begins(["a"]);
    await rig.settle();
    rig.request(0).ends({ trailers: [["cache-control", "no-store"]] });
    await rig.settle();
    for (const call of calls) call.expects(0, "a");
    caller.call(GET, "1");
    await rig.settle();
    rig.expectsRequests(2); // not kept
  });
});

Deno.test("FlightCall without its leader gives a private answer to nobody, and its call is cancelled", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const leader = caller.call(GET, "1");
    const follower = caller.call(GET, "1");
    await rig.settle();
    leader.cancels();
    await rig.settle();
    rig.request(0).begins(["leader's own"], { headers: [["cache-control", "private"]] });
    await rig.settle();
    assertEquals(rig.request(0).seen.reset, "CANCEL");
    rig.expectsRequests(2);
    rig.request(1).replies(["follower's own"]);
    await rig.settle();
    follower.expects(0, "follower's own");
    assertEquals(rig.outcomes, { led: 1, passed: 1 });
  });
});

Deno.test("FlightCall sends followers on within their own deadlines", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    caller.call(GET, "1");
    const follower = caller.call(GET, "1", { metadata: [["grpc-timeout", "300m"]] });
    await rig.advance(100);
    rig.request(0).replies(["x"], { headers: [["cache-control", "no-store"]] });
    await rig.settle();
    assertEquals(rig.request(1).fields.find(([name]) => name === "grpc-timeout"), [
      "grpc-timeout",
      "200m",
    ]);
    await rig.advance(204);
    assertEquals(follower.status, 4);
    assertEquals(rig.request(1).seen.reset, "CANCEL");
  });
});
