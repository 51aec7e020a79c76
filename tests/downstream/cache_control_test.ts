/**
 * What `cache-control` in a request, and in a reply's metadata, does to sharing and keeping.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import type { Pairs } from "../support/frames.ts";
import { valueOf } from "../support/peer_end.ts";
import { GET, PUT, type RigOptions, withRig } from "../support/proxy_rig.ts";

const NO_CACHE: Pairs = [["cache-control", "no-cache"]];
const NO_STORE: Pairs = [["cache-control", "No-Store"]];
const ONLY_IF_CACHED: Pairs = [["cache-control", "only-if-cached"]];
const NOT_STORED =
  "collapser: no stored result answers the call, which takes nothing else (only-if-cached)";

const PLACES = ["headers", "trailers"] as const;

/** A result that has been stored for `ageMs`, and what then comes of a call with this metadata. */
async function askLater(ageMs: number, metadata: Pairs): Promise<"hit" | "led"> {
  let isHit = false;
  await withRig({ cacheDurationMs: 60_000 }, async (rig) => {
    const caller = await rig.caller();
    caller.call(GET, "1");
    await rig.advance(5_000); // what the backend takes is no part of the age
    rig.request(0).replies(["old"]);
    await rig.advance(ageMs);
    const later = caller.call(GET, "1", { metadata });
    await rig.settle();
    isHit = later.status === 0;
    if (isHit) return;
    rig.request(1).replies(["new"]);
    await rig.settle();
    const repeat = caller.call(GET, "1");
    await rig.settle();
    for (const call of [later, repeat]) call.expects(0, "new");
    assertEquals(rig.outcomes, { led: 2, hit: 1 });
  });
  return isHit ? "hit" : "led";
}

/** How many of three callers at once, and how many of two later, a reply with this metadata makes calls for. */
async function callsFor(
  fields: Pairs,
  options: RigOptions & { place?: typeof PLACES[number]; metadata?: Pairs } = {},
): Promise<readonly [atOnce: number, later: number]> {
  const { place = "headers", metadata = [], ...rest } = options;
  let counts: readonly [number, number] = [0, 0];
  await withRig({ cacheDurationMs: 60_000, ...rest }, async (rig) => {
    const answered = () => rig.requests.filter(({ isOver }) => isOver).length;
    const caller = await rig.caller();
    const ask = async (times: number) => {
      const before = rig.requests.length;
      const calls = Array.from({ length: times }, () => caller.call(GET, "1", { metadata }));
      await rig.settle();
      for (let i = answered(); i < rig.requests.length; i++) {
        rig.request(i).replies(["x"], { [place]: fields });
        await rig.settle();
      }
      for (const call of calls) call.expects(0, "x");
      return rig.requests.length - before;
    };
    counts = [await ask(3), await ask(2)];
  });
  return counts;
}

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

Deno.test("Call heeds directives, and no longer words or quoted ones", async () => {
  for (const value of ["x-no-cache", 'x="no-cache, no-store"', "no-cachet", "nothing"]) {
    assertEquals(await askLater(1_000, [["cache-control", value]]), "hit", value);
  }
  for (const value of ["NO-CACHE", "x, no-cache", 'no-cache="y"']) {
    assertEquals(await askLater(1_000, [["cache-control", value]]), "led", value);
  }
  assertEquals(await askLater(1_000, [["cache-control", "x"], ...NO_CACHE]), "led");
});

Deno.test("Call with max-age takes no result that was stored longer ago", async () => {
  const cases = [[2_000, "hit"], [2_001, "led"]] as const;
  for (const [ageMs, outcome] of cases) {
    assertEquals(await askLater(ageMs, [["cache-control", "max-age=2"]]), outcome, `${ageMs}`);
  }
  assertEquals(await askLater(0, [["cache-control", "max-age=0"]]), "led");
  assertEquals(await askLater(50_000, [["cache-control", "max-age=x"]]), "hit");
});

Deno.test("Call with max-age joins a flight under way, however long that has been", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const calls = [caller.call(GET, "1")];
    await rig.advance(5_000);
    calls.push(caller.call(GET, "1", { metadata: [["cache-control", "max-age=0"]] }));
    await rig.settle();
    rig.expectsRequests(1);
    rig.request(0).replies(["x"]);
    await rig.settle();
    for (const call of calls) call.expects(0, "x");
  });
});

Deno.test("Call with only-if-cached is answered from what is stored, or with 14 at once", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const ask = async (metadata: Pairs = ONLY_IF_CACHED) => {
      const call = caller.call(GET, "1", { metadata });
      await rig.settle();
      return call;
    };
    const refused = [await ask()];
    rig.expectsRequests(0);
    caller.call(GET, "1");
    refused.push(await ask()); // waits for no flight
    rig.request(0).replies(["x"]);
    await rig.settle();
    (await ask()).expects(0, "x");
    await rig.advance(50);
    refused.push(await ask([["cache-control", "only-if-cached, max-age=0"]]));
    refused.push(await ask([...ONLY_IF_CACHED, ...NO_CACHE]));
    refused.push(await ask([...ONLY_IF_CACHED, ...NO_STORE]));
    await rig.advance(50); // and it has expired
    refused.push(await ask());
    for (const call of refused) {
      assertEquals([call.status, call.messages], [14, []]);
      assertEquals(valueOf(call.trailers ?? [], "grpc-message"), NOT_STORED);
    }
    rig.expectsRequests(1);
    assertEquals(rig.outcomes, { led: 1, hit: 1, rejected: 6 });
  });
});

Deno.test("Call with only-if-cached makes no backend call that would pass, but of a method that never collapses", async () => {
  await withRig({ maxMessageBytes: 100 }, async (rig) => {
    const caller = await rig.caller();
    const calls = [
      caller.call(GET, "~".repeat(101), { metadata: ONLY_IF_CACHED }),
      caller.call(GET, "1", { metadata: ONLY_IF_CACHED, ends: false }),
      caller.call(GET, undefined, { metadata: ONLY_IF_CACHED }),
    ];
    await rig.advance(2_000);
    for (const call of calls) assertEquals(call.status, 14);
    rig.expectsRequests(0);
    const write = caller.call(PUT, "1", { metadata: ONLY_IF_CACHED });
    await rig.settle();
    rig.request(0).replies(["done"]);
    await rig.settle();
    write.expects(0, "done");
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

Deno.test("FlightCall goes by s-maxage before max-age, wherever they are said", async () => {
  const cases: readonly (readonly [headers: string, trailers: string, requests: number])[] = [
    ["max-age=60, s-maxage=1", "public", 2],
    ["max-age=1, s-maxage=60", "public", 1],
    ["s-maxage=60", "max-age=1", 1],
    ["max-age=60", "s-maxage=1", 2],
    ["s-maxage=60", "s-maxage=1", 2],
    ["s-maxage=60", "no-cache", 2],
  ];
  for (const [headers, trailers, requests] of cases) {
    await withRig({ cacheDurationMs: 60_000 }, async (rig) => {
      const caller = await rig.caller();
      caller.call(GET, "1");
      await rig.settle();
      rig.request(0).replies(["x"], {
        headers: [["cache-control", headers]],
        trailers: [["cache-control", trailers]],
      });
      await rig.advance(1_000);
      caller.call(GET, "1");
      await rig.settle();
      assertEquals(rig.requests.length, requests, `${headers} and ${trailers}`);
    });
  }
});

Deno.test("FlightCall whose reply says no-cache serves those who wait, and nobody who comes later", async () => {
  for (const place of PLACES) {
    assertEquals(await callsFor([["cache-control", "no-cache"]], { place }), [1, 1], place);
  }
});

Deno.test("FlightCall whose reply says no-cache takes no joiners from then on", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const before = [caller.call(GET, "1"), caller.call(GET, "1")];
    await rig.settle();
    rig.request(0).begins(["a"], { headers: [["cache-control", "no-cache"]] });
    await rig.settle();
    caller.call(GET, "1");
    await rig.settle();
    rig.expectsRequests(2);
    rig.request(0).ends();
    await rig.settle();
    for (const call of before) call.expects(0, "a");
  });
});

Deno.test("FlightCall takes a reply with a cookie, or one that varies by what the key has not, for private", async () => {
  const alone = [3, 2] as const;
  const shared = [1, 0] as const;
  const named = { keyHeaders: ["x-tenant", "cache-control"] };
  const cases: readonly (readonly [Pairs, Parameters<typeof callsFor>[1], readonly number[]])[] = [
    [[["set-cookie", "sid=1"]], {}, alone],
    [[["set-cookie", "sid=1"]], { place: "trailers" }, alone],
    [[["x-cookie", "sid=1"]], {}, shared],
    [[["vary", "*"]], {}, alone],
    [[["vary", "x-user, Accept-Encoding"]], {}, shared],
    [[["vary", "x-user"]], { metadata: [["x-user", "1"]] }, shared],
    [[["vary", "x-user, user-agent"]], {}, alone],
    [[["vary", "te"]], {}, alone],
    [[["vary", "traceparent"]], { place: "trailers" }, alone],
    [[["vary", "x-user"]], { ignoreHeaders: ["x-user"] }, alone],
    [[["vary", "X-Tenant"]], named, shared],
    [[["vary", "x-tenant"], ["vary", "x-user"]], named, alone],
    [[["vary", "content-type, grpc-encoding, grpc-accept-encoding"]], named, shared],
    [[["vary", "cache-control"]], named, alone], // read by the sidecar, and so in no key
  ];
  for (const [fields, options, expected] of cases) {
    assertEquals(await callsFor(fields, options), expected, Deno.inspect([fields, options]));
  }
});
