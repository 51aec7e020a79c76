import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import type { BackendRequest } from "../support/backend_end.ts";
import { GET, type ProxyRig, type RigOptions, withRig } from "../support/proxy_rig.ts";

const NAMES = ["a", "b", "c"];
const HEALTH = "/grpc.health.v1.Health/Check";

/** HealthCheckResponse.status is SERVING. */
const SERVING = Uint8Array.of(0x08, 1);
const NOT_SERVING = Uint8Array.of(0x08, 2);

const REPLICAS: RigOptions = {
  backends: NAMES.map((name) => ({ name, address: { host: name, port: 1 } })),
  backendRouting: { by: "header", name: "x-to" },
  cacheDurationMs: 0,
};

/** The end of a call. */
type End = (request: BackendRequest) => void;
const WELL: End = (request) => request.echoes();
const UNAVAILABLE: End = (request) => request.fails(14);

/** Makes calls that are meant for one backend, one after the other, and says who got the last one. */
async function calls(
  rig: ProxyRig,
  options: { to: string; count: number; end: End; timeout?: string },
): Promise<string> {
  const caller = rig.callers[0] ?? await rig.caller();
  let reached = "";
  for (let i = 0; i < options.count; i++) {
    const { to, timeout } = options;
    const metadata: [string, string][] = [["x-to", to]];
    if (timeout !== undefined) metadata.push(["grpc-timeout", timeout]);
    caller.call(GET, `${i} ${rig.requests.length}`, { metadata });
    await rig.settle();
    reached = NAMES.find((name) => open(rig, name).length > 0) ?? "";
    for (const request of open(rig, reached)) options.end(request);
    await rig.settle();
  }
  return reached;
}

/** Calls under way at a backend, the sidecar's own questions left out. */
function open(rig: ProxyRig, name: string): BackendRequest[] {
  return rig.openAt(name).filter(({ path }) => path !== HEALTH);
}

function probes(rig: ProxyRig, name: string): BackendRequest[] {
  return rig.openAt(name).filter(({ path }) => path === HEALTH);
}

function ejected(rig: ProxyRig): string[] {
  return rig.proxy.counters.backends.filter((each) => each.ejected).map(({ name }) => name);
}

Deno.test("OutlierDetection ejects a backend after five bad ends in a row, and its calls go to others", async () => {
  await withRig(REPLICAS, async (rig) => {
    assertEquals(await calls(rig, { to: "c", count: 4, end: UNAVAILABLE }), "c");
    assertEquals(await calls(rig, { to: "c", count: 1, end: WELL }), "c"); // breaks the row
    assertEquals(await calls(rig, { to: "c", count: 4, end: UNAVAILABLE }), "c");
    assertEquals(ejected(rig), []);
    await calls(rig, { to: "c", count: 1, end: UNAVAILABLE });
    assertEquals(ejected(rig), ["c"]);
    assertMatch(rig.heard.at(-1)!, /^c ejected: 5 calls in a row/);
    assertNotEquals(await calls(rig, { to: "c", count: 1, end: WELL }), "c");
    assertEquals(rig.proxy.counters.backends[2]!.ejections, 1);
  });
});

Deno.test("OutlierDetection takes a status of the application for an answer, and no caller's haste for a fault", async () => {
  await withRig(REPLICAS, async (rig) => {
    for (const status of [2, 3, 5, 7, 8, 12, 13, 16]) {
      await calls(rig, { to: "c", count: 6, end: (request) => request.fails(status) });
    }
    const caller = rig.callers[0]!;
    for (let i = 0; i < 8; i++) {
      caller.call(GET, `hasty ${i}`, { metadata: [["x-to", "c"], ["grpc-timeout", "20m"]] });
    }
    await rig.advance(50);
    for (let i = 0; i < 8; i++) {
      const call = caller.call(GET, `gone ${i}`, { metadata: [["x-to", "c"]] });
      await rig.advance(200);
      call.cancels();
    }
    await rig.settle();
    assertEquals(ejected(rig), []);
  });
});

Deno.test("OutlierDetection ejects a backend that does not answer in time, by whoever's clock", async () => {
  for (const timeout of ["500m", undefined]) {
    await withRig({ ...REPLICAS, backendTimeoutMs: 700 }, async (rig) => {
      const caller = await rig.caller();
      const metadata: [string, string][] = [["x-to", "c"]];
      if (timeout !== undefined) metadata.push(["grpc-timeout", timeout]);
      const made = Array.from({ length: 5 }, (_, i) => caller.call(GET, `${i}`, { metadata }));
      await rig.advance(800);
      for (const call of made) assertEquals(call.status, 4);
      assertEquals(ejected(rig), ["c"]);
      for (const probe of probes(rig, "c")) probe.replies([SERVING]);
      await rig.settle();
    });
  }
});

Deno.test("OutlierDetection brings a backend back once it says that it is well, and waits longer each time it does not", async () => {
  await withRig(REPLICAS, async (rig) => {
    await calls(rig, { to: "c", count: 5, end: UNAVAILABLE });
    const asked: number[] = [];
    const startMs = rig.clock.now();
    for (const answer of ["ill", "late", "ill", "well"]) {
      while (probes(rig, "c").length === 0) await rig.advance(100);
      asked.push(Math.round((rig.clock.now() - startMs) / 1_000));
      const [probe] = probes(rig, "c");
      if (answer === "ill") probe!.replies([NOT_SERVING]);
      else if (answer === "well") probe!.replies([SERVING]);
      else await rig.advance(1_100);
      await rig.settle();
      assertEquals(ejected(rig), answer === "well" ? [] : ["c"], answer);
    }
    assertEquals(asked, [1, 3, 8, 16]); // 1, 2, 4 (after one second of silence) and 8 later
    assertEquals(rig.heard.at(-1), "c returned");
    assertEquals(await calls(rig, { to: "c", count: 1, end: WELL }), "c");
  });
});

Deno.test("OutlierDetection lets one call decide where a backend has no word about its health", async () => {
  await withRig(REPLICAS, async (rig) => {
    await calls(rig, { to: "c", count: 5, end: UNAVAILABLE });
    await rig.advance(1_100);
    probes(rig, "c")[0]!.fails(12);
    await rig.settle();
    const caller = rig.callers[0]!;
    for (let i = 0; i < 3; i++) caller.call(GET, `trial ${i}`, { metadata: [["x-to", "c"]] });
    await rig.settle();
    assertEquals(open(rig, "c").length, 1);
    assertEquals(open(rig, "a").length + open(rig, "b").length, 2);
    open(rig, "c")[0]!.fails(14);
    for (const name of ["a", "b"]) for (const request of open(rig, name)) request.echoes();
    await rig.settle();
    assertEquals(ejected(rig), ["c"]);
    await rig.advance(2_200);
    probes(rig, "c")[0]!.fails(12);
    await rig.settle();
    assertEquals(await calls(rig, { to: "c", count: 1, end: WELL }), "c");
    assertEquals(await calls(rig, { to: "c", count: 2, end: WELL }), "c");
    assertEquals(ejected(rig), []);
  });
});

Deno.test("OutlierDetection counts and measures nothing of what the sidecar asks by itself", async () => {
  await withRig(REPLICAS, async (rig) => {
    await calls(rig, { to: "c", count: 5, end: UNAVAILABLE });
    const before = structuredClone(rig.proxy.counters.backends[2]!.calls);
    await rig.advance(1_100);
    probes(rig, "c")[0]!.replies([SERVING]);
    await rig.settle();
    const { calls: sent, latency, answers } = rig.proxy.counters.backends[2]!;
    assertEquals([sent, latency.count], [before, before]);
    assertEquals(answers.counts.reduce((sum, count) => sum + count, 0), before);
    assertEquals([...rig.proxy.counters.methods.keys()], [GET]);
  });
});

Deno.test("OutlierDetection ejects at most half of the replicas, and uses all when most are gone", async () => {
  await withRig(REPLICAS, async (rig) => {
    for (const to of ["a", "b", "c"]) await calls(rig, { to, count: 5, end: UNAVAILABLE });
    assertEquals(ejected(rig), ["a"]);
    rig.diallingAt.set("b", "refuses").set("c", "refuses");
    for (const name of ["b", "c"]) rig.backendAt(name).socket.ends();
    await rig.settle();
    assertEquals(await calls(rig, { to: "b", count: 1, end: WELL }), "a");
  });
});

Deno.test("OutlierDetection breaks the circuit of a shard: its calls fail at once with 14, until it is well", async () => {
  await withRig({ ...REPLICAS, backendKind: "shards" }, async (rig) => {
    for (const to of ["a", "c"]) await calls(rig, { to, count: 5, end: UNAVAILABLE });
    assertEquals(ejected(rig), ["a", "c"]);
    const call = rig.callers[0]!.call(GET, "1", { metadata: [["x-to", "c"]] });
    await rig.settle();
    const why = "5 calls in a row failed or had no answer in time";
    call.expectsFailure(14, `backend c is left out for a while: ${why}`);
    assertEquals(rig.proxy.counters.backends[2]!.refused.ejected, 1);
    assertEquals(await calls(rig, { to: "b", count: 1, end: WELL }), "b");
    await rig.advance(1_100);
    for (const name of ["a", "c"]) probes(rig, name)[0]!.replies([SERVING]);
    await rig.settle();
    assertEquals(await calls(rig, { to: "c", count: 1, end: WELL }), "c");
  });
});

Deno.test("OutlierDetection asks a backend that is reachable again without waiting for its time", async () => {
  await withRig(REPLICAS, async (rig) => {
    await calls(rig, { to: "c", count: 5, end: UNAVAILABLE });
    rig.diallingAt.set("c", "refuses");
    rig.backendAt("c").socket.ends();
    await rig.settle();
    rig.diallingAt.delete("c");
    await rig.advance(200);
    assertEquals(probes(rig, "c").length, 1);
    probes(rig, "c")[0]!.replies([SERVING]);
    await rig.settle();
    assertEquals(ejected(rig), []);
  });
});

Deno.test("OutlierDetection compares success rates where there are backends and calls enough (gRFC A50)", async () => {
  const names = Array.from({ length: 6 }, (_, i) => `n${i}`);
  const options: RigOptions = {
    backends: names.map((name) => ({ name, address: { host: name, port: 1 } })),
    backendRouting: { by: "round-robin" },
    cacheDurationMs: 0,
  };
  await withRig(options, async (rig) => {
    const caller = await rig.caller();
    let count = 0;
    rig.onRequest = (request) => {
      const isIll = rig.requestsAt("n3").includes(request);
      if (isIll && count++ % 3 === 0) request.fails(14); // never five in a row
      else request.echoes();
    };
    for (let i = 0; i < 6 * 120; i++) caller.call(GET, `${i}`);
    await rig.settle();
    assertEquals(ejected(rig), []);
    rig.onRequest = (request) => request.path === HEALTH ? request.replies([SERVING]) : undefined;
    while (ejected(rig).length === 0) await rig.advance(100);
    assert(rig.clock.now() >= 9_000);
    assertEquals(rig.heard.filter((line) => line.includes("ejected")), [
      "n3 ejected: only 67 % of its calls succeeded",
    ]);
  });
});

Deno.test("OutlierDetection leaves everybody in where that is switched off", async () => {
  await withRig({ ...REPLICAS, backendOutlierDetection: false }, async (rig) => {
    assertEquals(await calls(rig, { to: "c", count: 20, end: UNAVAILABLE }), "c");
    assertEquals(ejected(rig), []);
  });
});
