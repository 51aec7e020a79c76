import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { SETTING } from "../../lib/wire/mod.ts";
import { settings } from "../support/frames.ts";
import { GET, PUT, withRig } from "../support/proxy_rig.ts";

const SECRET = "alice@example.test";

Deno.test("Inspection.flights tells of each flight what it waits for, how long, and for how many", async () => {
  await withRig(async (rig) => {
    const { inspection } = rig.proxy;
    const caller = await rig.caller();
    caller.call(GET, "1");
    await rig.advance(30);
    caller.call(GET, "1");
    caller.call(GET, "2");
    await rig.advance(10);
    const [first, second, ...others] = inspection.flights(10);
    assertEquals(others, []);
    const { ageMs, key, ...rest } = first!;
    assert(ageMs >= 40 && ageMs < 50, String(ageMs));
    assertMatch(key, /^.{12}$/);
    assertEquals(rest, {
      ...{ method: GET, backend: "main", waiters: 2, takesJoiners: true, waitsFor: "answer" },
    });
    assertNotEquals(second!.key, key);
    assertEquals([second!.waiters, inspection.flights(1).length], [1, 1]);
    for (const request of rig.requests) request.echoes();
    await rig.settle();
    assertEquals(inspection.flights(10), []);
  });
});

Deno.test("Inspection.flights tells what a call that was not sent waits for", async () => {
  const backendSettings = [[SETTING.maxConcurrentStreams, 1]] as const;
  const limits = { backendSettings, backendMaxConcurrent: 2, backendMaxConnections: 1 };
  await withRig({ ...limits, dialling: "hangs" }, async (rig) => {
    const caller = await rig.caller();
    const waitsFor = () => rig.proxy.inspection.flights(10).map((flight) => flight.waitsFor);
    for (const message of ["1", "2"]) caller.call(GET, message);
    await rig.settle();
    assertEquals(waitsFor(), ["connection", "connection"]);
    rig.dialling = "accepts";
    rig.answerDials();
    await rig.settle();
    assertEquals(waitsFor(), ["answer", "stream"]);
    rig.backends[0]!.sends(settings([SETTING.maxConcurrentStreams, 9]));
    caller.call(GET, "3");
    await rig.settle();
    assertEquals(waitsFor(), ["answer", "answer", "place"]);
    for (let at = 0; at < 3; at++) {
      rig.request(at).echoes();
      await rig.settle();
    }
  });
});

Deno.test("Inspection.flights tells of calls that wait for a place, and of answers that have begun", async () => {
  await withRig({ backendMaxConcurrent: 1 }, async (rig) => {
    const { inspection } = rig.proxy;
    const caller = await rig.caller();
    caller.call(GET, "1");
    caller.call(GET, "2");
    await rig.settle();
    const waitsFor = () => inspection.flights(10).map((flight) => flight.waitsFor);
    assertEquals(waitsFor(), ["answer", "place"]);
    rig.request(0).begins(["on"]);
    await rig.settle();
    assertEquals(waitsFor(), ["rest", "place"]);
    rig.request(0).ends();
    await rig.settle();
    assertEquals(waitsFor(), ["answer"]);
    rig.proxy.map.purge(GET);
    assertEquals(inspection.flights(10)[0]!.takesJoiners, false);
    rig.request(1).replies(["two"]);
    await rig.settle();
    assertEquals(rig.proxy.map.stored.entries, 0);
  });
});

Deno.test("Inspection.passing lists calls of their own, the oldest first, without those that stream", async () => {
  await withRig(async (rig) => {
    const { inspection } = rig.proxy;
    const caller = await rig.caller();
    caller.call(PUT, "1");
    await rig.advance(20);
    caller.call(GET, "1");
    caller.call(PUT, "2");
    await rig.advance(20);
    const passing = inspection.passing(10);
    assertEquals(passing.map(({ method, backend, waitsFor }) => [method, backend, waitsFor]), [
      [PUT, "main", "answer"],
      [PUT, "main", "answer"],
    ]);
    assert(passing[0]!.ageMs >= 40 && passing[1]!.ageMs < 40);
    assertEquals(inspection.passing(1), passing.slice(0, 1));
    for (const request of rig.requests) request.echoes();
    await rig.settle();
    assertEquals(inspection.passing(10), []);
  });
});

Deno.test("Inspection.keys names methods and digests, never what is in a key", async () => {
  await withRig(async (rig) => {
    const { inspection } = rig.proxy;
    rig.onRequest = (request) => request.echoes();
    const caller = await rig.caller();
    for (let i = 0; i < 3; i++) {
      caller.call(GET, SECRET, { metadata: [["authorization", SECRET]] });
      await rig.settle();
    }
    const { keys } = inspection.keys(10);
    assertEquals(keys.map(({ method, calls }) => [method, calls]), [[GET, 3]]);
    assertMatch(keys[0]!.key, /^[A-Za-z0-9+/]{12}$/);
    assertEquals(inspection.keys(10).keys, keys); // the same key, the same digest
    const said = JSON.stringify([keys, inspection.flights(10), inspection.passing(10)]);
    assert(!said.includes(SECRET) && !said.includes(SECRET.slice(0, 5)));
  });
});

Deno.test("Inspection.keys gives a key another digest in another process", async () => {
  const digests = new Set<string>();
  for (let i = 0; i < 2; i++) {
    await withRig(async (rig) => {
      const caller = await rig.caller();
      caller.call(GET, "1");
      caller.call(GET, "1");
      await rig.settle();
      rig.request(0).echoes();
      await rig.settle();
      digests.add(rig.proxy.inspection.keys(1).keys[0]!.key);
    });
  }
  assertEquals(digests.size, 2);
});

Deno.test("Inspection.methods tells how each method was judged", async () => {
  await withRig(async (rig) => {
    rig.onRequest = (request) => request.echoes();
    const caller = await rig.caller();
    caller.call(GET, "1");
    caller.call(PUT, "1");
    await rig.settle();
    const methods = rig.proxy.inspection.methods();
    assertEquals(methods.map(({ method, verdict }) => [method, verdict?.eligible]), [
      [GET, true],
      [PUT, false],
    ]);
    assertEquals(methods[0]!.verdict!.why, "its name begins with get");
    assertEquals(methods[0]!.counters.outcomes.led, 1);
  });
});

Deno.test("Inspection.backends tells of one backend, and of each of several, how it is", async () => {
  await withRig({ dialling: "refuses" }, async (rig) => {
    const [only] = rig.proxy.inspection.backends();
    assertEquals([only!.counters.name, only!.standing, only!.counters.up], [
      "main",
      "healthy",
      false,
    ]);
    assertMatch(only!.trouble, /refused/);
    rig.dialling = "accepts";
    await rig.advance(5_000);
    assertEquals(rig.proxy.inspection.backends()[0]!.trouble, "");
  });
  const backends = ["a", "b"].map((name) => ({ name, address: { host: `${name}.test`, port: 1 } }));
  await withRig({ backends }, async (rig) => {
    rig.onRequest = (request) => request.fails(14);
    const caller = await rig.caller();
    for (let i = 0; i < 40; i++) {
      caller.call(GET, String(i));
      await rig.settle();
    }
    const out = rig.proxy.inspection.backends().filter(({ standing }) => standing === "ejected");
    assertEquals(out.length, 1); // of two, one at most
    assertMatch(out[0]!.why, /calls in a row failed/);
  });
});

Deno.test("Inspection.hints keeps what was told about sharing that is given away", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    for (const hop of ["a", "b"]) caller.call(GET, "1", { metadata: [["x-hop", hop]] });
    for (let i = 0; i < 2; i++) caller.call(PUT, "1");
    await rig.settle();
    const hints = [...rig.proxy.inspection.hints()];
    assertEquals(hints, [
      { method: GET, metadataName: "x-hop" },
      { method: PUT, metadataName: undefined },
    ]);
    for (const request of rig.requests) request.echoes();
    await rig.settle();
  });
});
