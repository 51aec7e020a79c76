import {
  assertEquals,
  assertFalse,
  assertInstanceOf,
  assertNotEquals,
  assertStrictEquals,
} from "@std/assert";
import { CollapseMap, compileEligibility } from "../../lib/collapse/mod.ts";
import { CallerContexts } from "../../lib/downstream/caller_contexts.ts";
import type { CallerContext } from "../../lib/downstream/caller_session.ts";
import { MethodTable } from "../../lib/downstream/method_table.ts";
import { ProxyCounters, SILENT } from "../../lib/observe/mod.ts";
import { IdentityRouter, type RouterOptions } from "../../lib/downstream/request_route.ts";
import type { FlightCall } from "../../lib/downstream/flight_call.ts";
import { HeaderCache } from "../../lib/wire/mod.ts";
import { CallerEnd, requestHead } from "../support/caller_end.ts";
import { valueOf } from "../support/peer_end.ts";
import { GET, type ProxyRig, PUT, withRig } from "../support/proxy_rig.ts";

/** Identities whose routes are remembered at once. */
const MAX_IDENTITIES = 1_024;

/** Routes remembered for one identity. */
const MAX_ROUTES = 1_024;

Deno.test("Proxy shares no answer between callers of different identities, or with one who has none", async () => {
  await withRig({ cacheDurationMs: 60_000 }, async (rig) => {
    const callers = [await rig.caller()];
    for (const identity of ["a", "b"]) callers.push(await identified(rig, identity));
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
    const callers = [await identified(rig, "a"), await identified(rig, "a")];
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
    const before = await identified(rig, "a");
    const first = before.call(GET, "1");
    await rig.settle();
    rig.request(0).replies(["one"]);
    await rig.settle();
    first.expects(0, "one");
    for (let i = 0; i < MAX_IDENTITIES; i++) {
      const other = await identified(rig, `other ${i}`);
      other.leaves();
    }
    const after = await identified(rig, "a");
    const calls = [before.call(GET, "1"), after.call(GET, "1")];
    await rig.settle();
    for (const call of calls) call.expects(0, "one");
    rig.expectsRequests(1);
  });
});

Deno.test("Proxy remembers a bounded number of heads for an identity, and shares all the same", async () => {
  await withRig({ cacheDurationMs: 60_000, maxCacheEntries: 10 }, async (rig) => {
    rig.onRequest = (request) => request.replies(["x"]);
    const caller = await identified(rig, "a");
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
    const [a, b] = [await identified(rig, "a"), await identified(rig, "b")];
    for (const [caller, path, requests] of [[a, GET, 1], [b, PUT, 2], [a, GET, 3]] as const) {
      caller.call(path, "1");
      await rig.settle();
      rig.expectsRequests(requests);
    }
  });
});

Deno.test("IdentityRouter asks again when the key or the methods were forgotten", () => {
  const map = new CollapseMap<FlightCall>({
    ...{ maxCacheEntries: 10, maxCacheBytes: 1e6, joinMaxAgeMs: 1e4, maxFollowers: 10 },
  });
  const methods = new MethodTable({
    eligibility: compileEligibility(["auto"]),
    counters: new ProxyCounters(),
    observer: SILENT,
    onForget: () => map.forgetAll(),
  });
  const router = new IdentityRouter("a", { methods, map, inKey: () => true, collapses: true });
  const head = new HeaderCache().list(requestHead(GET));
  const before = router.route(head);
  assertStrictEquals(router.route(head), before);
  map.forgetAll();
  const after = router.route(head);
  assertNotEquals(after.keyHead, before.keyHead);
  assertEquals(after.keyHead?.text, before.keyHead?.text);
  methods.setPolicies([]);
  assertNotEquals(router.route(head).epoch, after.epoch);
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

for (const usesTls of [false, true]) {
  const scheme = usesTls ? "https" : "http";
  Deno.test(`Proxy calls a backend ${usesTls ? "over" : "without"} TLS with :scheme ${scheme}, whatever the caller's is`, async () => {
    await withRig({ backendUseTls: usesTls }, async (rig) => {
      const callers = [await rig.caller(), await identified(rig, "a")];
      for (const [i, caller] of callers.entries()) {
        const calls = ["http", "https"].map((own) =>
          caller.call(GET, "1", {
            head: [
              [":method", "POST"],
              [":scheme", own],
              [":path", GET],
              [":authority", "service.test"],
              ["te", "trailers"],
              ["content-type", "application/grpc"],
            ],
          })
        );
        await rig.settle();
        rig.expectsRequests(i + 1); // whatever the scheme, the question is one
        const { fields } = rig.request(i);
        assertEquals(fields.map(([name]) => name), [
          ":method",
          ":scheme",
          ":path",
          ":authority",
          "te",
          "content-type",
        ]);
        assertEquals(valueOf(fields, ":scheme"), scheme);
        rig.request(i).replies(["one"]);
        await rig.settle();
        for (const call of calls) call.expects(0, "one");
      }
    });
  });
}

Deno.test("Proxy counts and tells of callers whose handshake failed", async () => {
  await withRig(async (rig) => {
    rig.proxy.refused("TLS: no certificate", "1.2.3.4:5");
    await rig.settle();
    assertEquals(rig.heard.at(-1), "caller failed: TLS: no certificate");
    assertEquals([...rig.proxy.counters.connectionErrors.caller.values()], [1]);
  });
});

/** A new caller whose certificate gave it that identity, its handshake done. */
async function identified(rig: ProxyRig, identity: string): Promise<CallerEnd> {
  const caller = new CallerEnd();
  rig.callers.push(caller);
  rig.proxy.serve(caller.socket, "caller", { identity });
  await rig.settle();
  return caller;
}
