import { assertEquals, assertFalse, assertInstanceOf, assertStrictEquals } from "@std/assert";
import { CallerContexts } from "../../lib/downstream/caller_contexts.ts";
import type { CallerContext } from "../../lib/downstream/caller_session.ts";
import { IdentityRouter, type RouterOptions } from "../../lib/downstream/request_route.ts";
import { WIDE } from "../support/peer_end.ts";
import { GET, PUT, withRig } from "../support/proxy_rig.ts";

/** Identities whose routes are remembered at once. */
const MAX_IDENTITIES = 1_024;

/** Routes remembered for one identity. */
const MAX_ROUTES = 1_024;

Deno.test("Proxy shares no answer between callers of different identities, or with one who has none", async () => {
  await withRig({ cacheDurationMs: 60_000 }, async (rig) => {
    const callers = [await rig.caller()];
    for (const identity of ["a", "b"]) callers.push(await rig.caller(WIDE, { identity: identity }));
    const calls = callers.map((caller) => caller.call(GET, "1"));
    await rig.settle();
    rig.expectsRequests(3); // at the same time
    for (const i of [0, 1, 2]) rig.request(i).replies([`for ${i}`]);
    await rig.settle();
    for (const [i, call] of calls.entries()) call.expects(0, `for ${i}`);
    const again = callers.toReversed().map((caller) => caller.call(GET, "1"));
    await rig.settle();
    for (const [i, call] of again.entries()) call.expects(0, `for ${2 - i}`);
    rig.expectsRequests(3); // stored, each for its own
  });
});

Deno.test("Proxy shares answers between connections of one identity", async () => {
  await withRig(async (rig) => {
    const callers = [
      await rig.caller(WIDE, { identity: "a" }),
      await rig.caller(WIDE, { identity: "a" }),
    ];
    const calls = callers.map((caller) => caller.call(GET, "1"));
    await rig.settle();
    rig.request(0).replies(["one"]);
    await rig.settle();
    for (const call of calls) call.expects(0, "one");
    rig.expectsRequests(1);
    assertEquals(rig.outcomes, { led: 1, joined: 1 });
  });
});

Deno.test("Proxy shares between callers of one identity also when it had to forget it", async () => {
  await withRig({ cacheDurationMs: 60_000 }, async (rig) => {
    const before = await rig.caller(WIDE, { identity: "a" });
    const first = before.call(GET, "1");
    await rig.settle();
    rig.request(0).replies(["one"]);
    await rig.settle();
    first.expects(0, "one");
    for (let i = 0; i < MAX_IDENTITIES; i++) {
      const other = await rig.caller(WIDE, { identity: `other ${i}` });
      other.leaves();
    }
    const after = await rig.caller(WIDE, { identity: "a" });
    const calls = [before.call(GET, "1"), after.call(GET, "1")];
    await rig.settle();
    for (const call of calls) call.expects(0, "one");
    rig.expectsRequests(1);
  });
});

Deno.test("Proxy remembers a bounded number of heads for an identity, and shares all the same", async () => {
  await withRig({ cacheDurationMs: 60_000, maxCacheEntries: 10 }, async (rig) => {
    rig.onRequest = (request) => request.replies(["x"]);
    const caller = await rig.caller(WIDE, { identity: "a" });
    for (let i = 0; i <= MAX_ROUTES; i++) {
      caller.call(GET, "1", { metadata: [["x-tenant", String(i)]] });
      await rig.settle();
    }
    const count = rig.requests.length;
    caller.call(GET, "1", { metadata: [["x-tenant", String(MAX_ROUTES)]] });
    await rig.settle();
    rig.expectsRequests(count);
  });
});

Deno.test("Proxy lets a write of one identity outdate what another has stored", async () => {
  await withRig({ cacheDurationMs: 60_000 }, async (rig) => {
    rig.onRequest = (request) => request.replies(["x"]);
    const [a, b] = [
      await rig.caller(WIDE, { identity: "a" }),
      await rig.caller(WIDE, { identity: "b" }),
    ];
    for (const [caller, path, requests] of [[a, GET, 1], [b, PUT, 2], [a, GET, 3]] as const) {
      caller.call(path, "1");
      await rig.settle();
      rig.expectsRequests(requests);
    }
  });
});

Deno.test("CallerContexts gives callers without an identity what all have, and others a router", () => {
  const common = { router: "common", turn: "of all" } as unknown as CallerContext;
  const contexts = new CallerContexts(common, {} as RouterOptions);
  assertStrictEquals(contexts.of(""), common);
  const ofA = contexts.of("a");
  assertInstanceOf(ofA.router, IdentityRouter);
  assertStrictEquals(ofA.turn, common.turn);
  assertStrictEquals(contexts.of("a"), ofA);
  for (let i = 0; i < MAX_IDENTITIES - 1; i++) contexts.of(`other ${i}`);
  assertStrictEquals(contexts.of("a"), ofA);
  contexts.of("one more");
  assertFalse(contexts.of("a") === ofA);
});
