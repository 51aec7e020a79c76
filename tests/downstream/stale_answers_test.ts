/**
 * Stale answers in place of failures (COLLAPSER_STALE_IF_ERROR; RFC 5861 §4).
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { STATUS } from "../../lib/grpc/mod.ts";
import { endsStale } from "../../lib/freshness/mod.ts";
import { ERROR_CODE } from "../../lib/wire/mod.ts";
import type { Pairs } from "../support/frames.ts";
import { GET, type ProxyRig, PUT, type RigOptions, withRig } from "../support/proxy_rig.ts";

const TTL_MS = 300;
const ERROR_MS = 30_000;
const STALE: RigOptions = { cacheDurationMs: TTL_MS, staleIfErrorMs: ERROR_MS };

/** Stores an answer, and lets its time go by. */
async function goStale(rig: ProxyRig, fields: Pairs = []): Promise<void> {
  const caller = await rig.caller();
  caller.call(GET, "k");
  await rig.settle();
  rig.request(0).replies(["old"], { headers: fields });
  await rig.advance(TTL_MS);
}

/** The stale answers so far that stood in for failures. */
function standIns(rig: ProxyRig): number {
  return [...rig.proxy.counters.all()].reduce((sum, { staleForErrors }) => sum + staleForErrors, 0);
}

Deno.test("FlightCall that fails for want of a backend gives all who wait the stale answer, counted so", async () => {
  for (const status of [STATUS.unavailable, STATUS.deadlineExceeded, STATUS.resourceExhausted]) {
    await withRig(STALE, async (rig) => {
      await goStale(rig);
      const calls = Array.from({ length: 3 }, () => rig.callers[0]!.call(GET, "k"));
      await rig.settle();
      for (const call of calls) call.expectsNothing(); // the backend is asked first
      rig.expectsRequests(2);
      rig.request(1).fails(status);
      await rig.settle();
      for (const call of calls) call.expects(0, "old");
      assertEquals(rig.outcomes, { led: 1, stale: 3 });
      assertEquals(standIns(rig), 3);
      const next = rig.callers[0]!.call(GET, "k"); // who asks the backend again
      await rig.settle();
      rig.request(2).replies(["new"]);
      await rig.settle();
      next.expects(0, "new");
      assertEquals(rig.outcomes, { led: 2, stale: 3 });
    });
  }
});

Deno.test("FlightCall that is refused, times out or loses its connection gives the stale answer", async () => {
  const ends: Record<string, (rig: ProxyRig) => Promise<void>> = {
    "the backend is silent": (rig) => rig.advance(3_000),
    "its connection is lost": async (rig) => {
      rig.dialling = "refuses";
      rig.backends[0]!.socket.ends();
      await rig.advance(2_000);
    },
    "it resets the stream": (rig) => {
      rig.request(1).resets(ERROR_CODE.internalError);
      return rig.settle();
    },
  };
  for (const [name, end] of Object.entries(ends)) {
    await withRig({ ...STALE, backendTimeoutMs: 2_000 }, async (rig) => {
      await goStale(rig);
      const call = rig.callers[0]!.call(GET, "k");
      await rig.settle();
      await end(rig);
      if (name === "it resets the stream") assertEquals(call.status, STATUS.internal, name);
      else call.expects(0, "old");
    });
  }
  await withRig({ ...STALE, backendMaxConcurrent: 1, backendMaxPending: 0 }, async (rig) => {
    await goStale(rig);
    rig.callers[0]!.call(PUT, "holds the place");
    await rig.settle();
    const refused = rig.callers[0]!.call(GET, "k");
    await rig.settle();
    refused.expects(0, "old");
    rig.request(1).echoes();
    await rig.settle();
  });
});

Deno.test("FlightCall that brings any other failure hands that on, and only what is about the question ends the stale answer", async () => {
  for (
    const status of [STATUS.internal, STATUS.unknown, STATUS.notFound, STATUS.permissionDenied]
  ) {
    await withRig(STALE, async (rig) => {
      await goStale(rig);
      const call = rig.callers[0]!.call(GET, "k");
      await rig.settle();
      rig.request(1).fails(status);
      await rig.settle();
      assertEquals(call.status, status);
      const later = rig.callers[0]!.call(GET, "k");
      await rig.settle();
      rig.request(2).fails(STATUS.unavailable);
      await rig.settle();
      assertEquals(later.status, endsStale(status) ? STATUS.unavailable : 0);
      assertEquals(rig.outcomes, endsStale(status) ? { led: 3 } : { led: 2, stale: 1 });
    });
  }
});

Deno.test("FlightCall has no stale answer for who takes none, nor past its time, nor after a write", async () => {
  const cases: readonly (readonly [
    what: string,
    { fields?: Pairs; afterMs?: number; metadata?: Pairs; writes?: boolean },
    isStale: boolean,
  ])[] = [
    ["plain", {}, true],
    ["just in time", { afterMs: ERROR_MS - 10 }, true],
    ["too late", { afterMs: ERROR_MS }, false],
    ["must-revalidate", { fields: [["cache-control", "must-revalidate"]] }, false],
    ["capped", { fields: [["cache-control", "stale-if-error=1"]], afterMs: 1_000 }, false],
    ["no-cache", { metadata: [["cache-control", "no-cache"]] }, false],
    ["max-age", { metadata: [["cache-control", "max-age=0"]] }, false],
    ["max-age of plenty", { metadata: [["cache-control", "max-age=60"]] }, true],
    ["after a write", { writes: true }, false],
  ];
  for (const [what, { fields, afterMs = 0, metadata = [], writes = false }, isStale] of cases) {
    await withRig(STALE, async (rig) => {
      await goStale(rig, fields);
      await rig.advance(afterMs);
      if (writes) {
        rig.callers[0]!.call(PUT, "w");
        await rig.settle();
        rig.requests.at(-1)!.echoes();
        await rig.settle();
      }
      const call = rig.callers[0]!.call(GET, "k", { metadata });
      await rig.settle();
      rig.requests.at(-1)!.fails(STATUS.unavailable);
      await rig.settle();
      assertEquals(call.status, isStale ? 0 : STATUS.unavailable, what);
    });
  }
});

Deno.test("FlightCall whose caller was given a part already ends it with the failure", async () => {
  await withRig(STALE, async (rig) => {
    await goStale(rig);
    const call = rig.callers[0]!.call(GET, "k");
    await rig.settle();
    rig.request(1).begins(["part"]);
    await rig.settle();
    rig.request(1).ends({ status: STATUS.unavailable });
    await rig.settle();
    assertEquals(call.status, STATUS.unavailable);
    assertEquals(standIns(rig), 0);
  });
});

Deno.test("Stale answers while the backend is down go on as long as they may, each asked for in vain", async () => {
  await withRig({ ...STALE, staleDurationMs: 1_000 }, async (rig) => {
    await goStale(rig);
    rig.dialling = "refuses";
    rig.backends[0]!.socket.ends();
    await rig.settle();
    let calls = 0;
    for (let ms = 0; ms < 10_000; ms += 500, calls++) {
      const call = rig.callers[0]!.call(GET, "k");
      await rig.advance(500);
      call.expects(0, "old");
    }
    assertEquals(rig.outcomes, { led: 1, stale: calls });
  });
});

Deno.test("Method whose policy says what becomes of its answers goes by that, and others by the options", async () => {
  const policies = [
    { service: "test.Service", method: "GetItem", collapser: { staleIfErrorMs: ERROR_MS } },
  ];
  await withRig({ cacheDurationMs: TTL_MS, policies }, async (rig) => {
    const caller = await rig.caller();
    const other = GET.replace(/[^/]+$/, "ListOthers");
    for (const path of [GET, other]) caller.call(path, "k");
    await rig.settle();
    for (const request of rig.requests) request.replies(["old"]);
    await rig.advance(TTL_MS);
    const calls = [GET, other].map((path) => caller.call(path, "k"));
    await rig.settle();
    for (const request of rig.requests.slice(2)) request.fails(STATUS.unavailable);
    await rig.settle();
    assertEquals(calls.map(({ status }) => status), [0, STATUS.unavailable]);
  });
});

Deno.test("Caller whose time is over while others have longer has the stale answer, and they wait on", async () => {
  await withRig({ ...STALE, backendTimeoutMs: 2_000 }, async (rig) => {
    await goStale(rig);
    const early = rig.callers[0]!.call(GET, "k");
    await rig.advance(1_500);
    const late = rig.callers[0]!.call(GET, "k");
    const own = rig.callers[0]!.call(GET, "k", { metadata: [["grpc-timeout", "300m"]] });
    await rig.advance(1_000);
    early.expects(0, "old");
    assertEquals(own.status, STATUS.deadlineExceeded); // a deadline of its own stays one
    late.expectsNothing();
    rig.request(1).replies(["new"]);
    await rig.settle();
    late.expects(0, "new");
    assertEquals(rig.outcomes, { led: 1, stale: 1, joined: 2 });
  });
});

Deno.test("Method whose policy names statuses has a stale answer stand in for those, and for no other", async () => {
  const collapser = { staleIfErrorCodes: [STATUS.internal, STATUS.unavailable] };
  const policies = [{ service: "test.Service", method: "GetItem", collapser }];
  for (const [status, stands] of [[13, true], [14, true], [8, false], [4, false]] as const) {
    await withRig({ ...STALE, policies }, async (rig) => {
      await goStale(rig);
      const call = rig.callers[0]!.call(GET, "k");
      await rig.settle();
      rig.request(1).fails(status);
      await rig.settle();
      assertEquals(call.status, stands ? STATUS.ok : status);
    });
  }
});
