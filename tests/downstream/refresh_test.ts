/**
 * Stale answers, and the calls that fetch them anew (COLLAPSER_STALE_DURATION; RFC 5861 §3).
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { STATUS } from "../../lib/grpc/mod.ts";
import type { Pairs } from "../support/frames.ts";
import type { BackendRequest } from "../support/backend_end.ts";
import { valueOf } from "../support/peer_end.ts";
import { GET, type ProxyRig, PUT, type RigOptions, withRig } from "../support/proxy_rig.ts";

const TTL_MS = 300;
const STALE_MS = 30_000;
const STALE: RigOptions = { cacheDurationMs: TTL_MS, staleDurationMs: STALE_MS };

/** Calls that nobody waits for, at one backend at once. */
const MAX_BACKGROUND = 8;

/** Makes a call whose answer is stored, and lets that become stale. */
async function goStale(rig: ProxyRig, key = "k", fields: Pairs = []): Promise<void> {
  const caller = rig.callers[0] ?? await rig.caller();
  const before = rig.requests.length;
  caller.call(GET, key);
  await rig.settle();
  rig.request(before).replies([`old ${key}`], { headers: fields });
  await rig.advance(TTL_MS);
}

/** What a call is answered at once; "" when it is not. */
async function ask(rig: ProxyRig, key = "k", metadata: Pairs = []): Promise<string> {
  const call = rig.callers[0]!.call(GET, key, { metadata });
  await rig.settle();
  return call.status === undefined ? "" : call.messages[0] ?? "";
}

/** What waits at the backend. */
function open(rig: ProxyRig): BackendRequest[] {
  return rig.requests.filter(({ isOver }) => !isOver);
}

/** What has come of refreshes so far. */
function refreshes(rig: ProxyRig): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { refreshes } of rig.proxy.counters.all()) {
    for (const [result, count] of Object.entries(refreshes)) {
      if (count > 0) sums[result] = (sums[result] ?? 0) + count;
    }
  }
  return sums;
}

Deno.test("Refresh fetches a stale result anew, once, with the finder's metadata, while all are answered", async () => {
  await withRig(STALE, async (rig) => {
    await goStale(rig);
    assertEquals(
      await ask(rig, "k", [["x-request-id", "finder"], ["grpc-timeout", "1S"]]),
      "old k",
    );
    for (let i = 0; i < 3; i++) assertEquals(await ask(rig), "old k");
    rig.expectsRequests(2);
    assertEquals(valueOf(rig.request(1).fields, "x-request-id"), "finder");
    assertEquals(valueOf(rig.request(1).fields, "grpc-timeout"), "10S"); // BACKEND_TIMEOUT
    await rig.advance(1_500); // the finder's time is up, and no business of the refresh
    rig.request(1).replies(["new k"]);
    await rig.settle();
    assertEquals(await ask(rig), "new k");
    assertEquals(rig.outcomes, { led: 1, stale: 4, hit: 1 });
    assertEquals(refreshes(rig), { ok: 1 });
  });
});

Deno.test("Refresh goes on when its finder leaves, and ends with BACKEND_TIMEOUT", async () => {
  await withRig({ ...STALE, backendTimeoutMs: 2_000 }, async (rig) => {
    await goStale(rig);
    const finder = await rig.caller();
    finder.call(GET, "k").expectsNothing();
    await rig.settle();
    finder.socket.ends();
    await rig.advance(1_900);
    assert(!rig.request(1).isOver);
    await rig.advance(200);
    assert(rig.request(1).isOver);
    assertEquals(refreshes(rig), { error: 1 });
    assertEquals(await ask(rig), "old k");
  });
});

Deno.test("Refresh that fails is followed by the next after the time to live, then twice as long each time", async () => {
  await withRig(STALE, async (rig) => {
    await goStale(rig);
    const begun: number[] = [];
    for (let ms = 0; ms < 5_000; ms += 50) {
      assertEquals(await ask(rig), "old k");
      const request = rig.requests.at(-1)!;
      if (!request.isOver) {
        begun.push(ms);
        request.fails(STATUS.unavailable);
      }
      await rig.advance(50);
    }
    assertEquals(begun, [0, 300, 900, 2_100, 4_500]);
    assertEquals(refreshes(rig), { error: 5 });
  });
});

Deno.test("Refresh that brings another answer than a result to keep ends the stale one", async () => {
  const answers: readonly (readonly [status: number, fields: Pairs])[] = [
    [STATUS.notFound, []],
    [STATUS.permissionDenied, []],
    [STATUS.unauthenticated, []],
    [STATUS.ok, [["cache-control", "no-cache"]]],
    [STATUS.ok, [["cache-control", "max-age=0"]]],
    [STATUS.ok, [["cache-control", "private"]]],
  ];
  for (const [status, fields] of answers) {
    await withRig(STALE, async (rig) => {
      await goStale(rig);
      assertEquals(await ask(rig), "old k");
      if (status === STATUS.ok) rig.request(1).replies(["mine"], { headers: fields });
      else rig.request(1).fails(status);
      await rig.settle();
      assertEquals(refreshes(rig), { removed: 1 });
      assertEquals(await ask(rig), "", `${status} ${fields}`);
      rig.request(2).echoes();
      await rig.settle();
    });
  }
});

Deno.test("Refresh of a key whose answer has become private makes the key pass", async () => {
  await withRig(STALE, async (rig) => {
    await goStale(rig);
    await ask(rig);
    rig.request(1).replies(["mine"], { headers: [["cache-control", "private"]] });
    await rig.settle();
    for (let i = 0; i < 3; i++) assertEquals(await ask(rig), "");
    rig.expectsRequests(5); // one for each
    for (const request of open(rig)) request.echoes();
    await rig.settle();
  });
});

Deno.test("Refresh never waits for a place, and takes eight at one backend at most", async () => {
  await withRig(STALE, async (rig) => {
    const keys = Array.from({ length: 20 }, (_, i) => `${i}`);
    const caller = await rig.caller();
    for (const key of keys) caller.call(GET, key);
    await rig.settle();
    for (const request of rig.requests) request.echoes();
    await rig.advance(TTL_MS);
    for (const key of keys) assertEquals(await ask(rig, key), `re:${key}`);
    rig.expectsRequests(20 + MAX_BACKGROUND);
    assertEquals(refreshes(rig), { skipped: 20 - MAX_BACKGROUND });
    const [backend] = rig.proxy.counters.backends;
    assertEquals([backend!.pending, backend!.refused.pending_full], [0, 0]);
    for (const request of open(rig)) request.echoes();
    await rig.settle();
    assertEquals(await ask(rig, "19"), "re:19"); // skipped before, and begun now
    rig.expectsRequests(20 + MAX_BACKGROUND + 1);
    open(rig)[0]!.echoes();
    await rig.settle();
  });
  await withRig({ ...STALE, backendMaxConcurrent: 1 }, async (rig) => {
    await goStale(rig);
    const held = rig.callers[0]!.call(PUT, "write");
    await rig.settle();
    assertEquals(await ask(rig), "old k");
    rig.expectsRequests(2); // no place: stale answers go on
    assertEquals(refreshes(rig), { skipped: 1 });
    rig.request(1).echoes();
    await rig.settle();
    held.expects(0, "re:write");
  });
});

Deno.test("Call of a method that must revalidate, or whose time is over, finds nothing stale", async () => {
  const cases: readonly (readonly [fields: Pairs, afterMs: number, isStale: boolean])[] = [
    [[], 0, true],
    [[], STALE_MS - 1, true],
    [[], STALE_MS, false],
    [[["cache-control", "must-revalidate"]], 0, false],
    [[["cache-control", "stale-while-revalidate=1"]], 999, true],
    [[["cache-control", "stale-while-revalidate=1"]], 1_000, false],
    [[["cache-control", "stale-while-revalidate=60"]], STALE_MS, false],
  ];
  for (const [fields, afterMs, isStale] of cases) {
    await withRig(STALE, async (rig) => {
      await goStale(rig, "k", fields);
      await rig.advance(afterMs);
      assertEquals(await ask(rig), isStale ? "old k" : "", `${fields} ${afterMs}`);
      rig.request(1).echoes();
      await rig.settle();
    });
  }
});

Deno.test("Call that takes nothing old joins the refresh under way, and one that takes nothing else does not wait", async () => {
  await withRig(STALE, async (rig) => {
    await goStale(rig);
    const only: Pairs = [["cache-control", "only-if-cached"]];
    assertEquals(await ask(rig, "k", only), "old k");
    rig.expectsRequests(2);
    const fresh = rig.callers[0]!.call(GET, "k", { metadata: [["cache-control", "max-age=0"]] });
    await rig.settle();
    rig.expectsRequests(2);
    fresh.expectsNothing();
    rig.request(1).replies(["new k"]);
    await rig.settle();
    fresh.expects(0, "new k");
    assertEquals(refreshes(rig), { ok: 1 });
  });
});

Deno.test("Refresh goes on when the last caller who joined it leaves", async () => {
  await withRig(STALE, async (rig) => {
    await goStale(rig);
    await ask(rig);
    const fresh = rig.callers[0]!.call(GET, "k", { metadata: [["cache-control", "max-age=0"]] });
    await rig.settle();
    fresh.cancels();
    await rig.settle();
    rig.request(1).replies(["new k"]);
    await rig.settle();
    assertEquals(await ask(rig), "new k");
  });
});

Deno.test("Write ends what is stale, and a refresh that began before it stores nothing", async () => {
  await withRig(STALE, async (rig) => {
    await goStale(rig);
    assertEquals(await ask(rig), "old k");
    rig.callers[0]!.call(PUT, "write");
    await rig.settle();
    rig.request(2).echoes();
    await rig.settle();
    rig.request(1).replies(["before the write"]);
    await rig.settle();
    assertEquals(refreshes(rig), { raced: 1 });
    assertEquals(await ask(rig), "");
    rig.request(3).replies(["after it"]);
    await rig.settle();
    assertEquals(await ask(rig), "after it");
  });
});
