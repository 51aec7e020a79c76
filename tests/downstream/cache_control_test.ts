/**
 * What `cache-control` in a request, and in a reply's metadata, does to sharing and keeping.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { type Pairs } from "../support/frames.ts";
import { GET, withRig } from "../support/proxy_rig.ts";

const NO_CACHE: Pairs = [["cache-control", "no-cache"]];
const NO_STORE: Pairs = [["cache-control", "No-Store"]];

Deno.test("Call with no-cache takes no stored result, and its own answer is stored", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    caller.call(GET, "1");
    await rig.settle();
    rig.request(0).replies(["old"]);
    await rig.settle();
    const fresh = caller.call(GET, "1", { metadata: NO_CACHE });
    await rig.settle();
    rig.expectsRequests(2);
    rig.request(1).replies(["new"]);
    await rig.settle();
    fresh.expects(0, "new");
    const repeat = caller.call(GET, "1");
    await rig.settle();
    repeat.expects(0, "new");
    assertEquals(rig.outcomes, { led: 2, hit: 1 });
  });
});

Deno.test("Call with no-cache joins no flight under way, and others may join its own", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const first = caller.call(GET, "1");
    const fresh = caller.call(GET, "1", { metadata: NO_CACHE });
    const joined = caller.call(GET, "1");
    const fresher = caller.call(GET, "1", { metadata: NO_CACHE });
    await rig.settle();
    rig.expectsRequests(3);
    for (const i of [2, 1, 0]) rig.request(i).replies([`${i}`]);
    await rig.settle();
    first.expects(0, "0");
    fresh.expects(0, "1");
    joined.expects(0, "1");
    fresher.expects(0, "2");
    const repeat = caller.call(GET, "1");
    await rig.settle();
    repeat.expects(0, "2");
  });
});

Deno.test("Call with no-store is made alone, shared with nobody and not kept", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const calls = [
      caller.call(GET, "1", { metadata: NO_STORE }),
      caller.call(GET, "1", { metadata: NO_STORE }),
      caller.call(GET, "1"),
    ];
    await rig.settle();
    rig.expectsRequests(3);
    rig.requests.forEach((request, i) => request.replies([`${i}`]));
    await rig.settle();
    calls.forEach((call, i) => call.expects(0, `${i}`));
    const repeat = caller.call(GET, "1");
    const another = caller.call(GET, "1", { metadata: NO_STORE });
    await rig.settle();
    repeat.expects(0, "2");
    another.expectsNothing();
    rig.expectsRequests(4);
    assertEquals(rig.passed, { no_store: 3 });
  });
});

Deno.test("FlightCall keeps a result no longer than max-age says, in headers or trailers", async () => {
  for (const place of ["headers", "trailers"] as const) {
    await withRig({ cacheDurationMs: 60_000 }, async (rig) => {
      const caller = await rig.caller();
      caller.call(GET, "1");
      caller.call(GET, "2");
      await rig.settle();
      rig.request(0).replies(["one"], { [place]: [["cache-control", "max-age=2"]] });
      rig.request(1).replies(["two"], { [place]: [["cache-control", "max-age=0"]] });
      await rig.advance(1_999);
      caller.call(GET, "1");
      caller.call(GET, "2");
      await rig.settle();
      rig.expectsRequests(3);
      await rig.advance(1);
      caller.call(GET, "1");
      await rig.settle();
      rig.expectsRequests(4);
      assertEquals(rig.outcomes, { led: 4, hit: 1 });
    });
  }
});

Deno.test("FlightCall whose max-age is longer keeps its result as long as any", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    caller.call(GET, "1");
    await rig.settle();
    rig.request(0).replies(["one"], { headers: [["cache-control", "max-age=60"]] });
    await rig.advance(100);
    caller.call(GET, "1");
    await rig.settle();
    rig.expectsRequests(2);
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
    rig.expectsRequests(5);
    rig.request(4).replies(["z"]);
    await rig.settle();
    for (const call of later) call.expects(0, "z");
    assertEquals(rig.passed, { no_store: 2 });
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
