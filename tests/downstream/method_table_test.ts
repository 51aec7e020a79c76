import { assertEquals, assertNotEquals, assertStrictEquals } from "@std/assert";
import { compileEligibility } from "../../lib/collapse/mod.ts";
import { MethodTable } from "../../lib/downstream/method_table.ts";
import { ProxyCounters, SILENT } from "../../lib/observe/mod.ts";
import { GET, PUT, withRig } from "../support/proxy_rig.ts";

Deno.test("MethodTable judges each method once, and tells so once", () => {
  const judged: string[] = [];
  const table = tableOf({ judged });
  const first = table.method("/pkg.S/GetItem");
  assertStrictEquals(table.method("/pkg.S/GetItem"), first);
  assertEquals([first.verdict.eligible, first.behaviour], [true, "unknown"]);
  assertEquals(table.method("/pkg.S/PutItem").verdict.eligible, false);
  assertEquals(judged, ["/pkg.S/GetItem", "/pkg.S/PutItem"]);
});

Deno.test("MethodTable gives methods of one service the same service", () => {
  const table = tableOf({});
  assertStrictEquals(table.method("/a.S/GetX").service, table.method("/a.S/PutX").service);
  assertNotEquals(table.method("/b.S/GetX").service, table.method("/a.S/GetX").service);
  assertEquals(table.method("/.env").service.name, "");
});

Deno.test("MethodTable forgets all methods when there are far too many, and says so", () => {
  let forgotten = 0;
  const table = tableOf({ onForget: () => forgotten++ });
  const first = table.method("/s/m0");
  for (let i = 1; i < 10_000; i++) table.method(`/s/m${i}`);
  assertEquals([forgotten, table.epoch], [0, 0]);
  table.method("/s/one-more");
  assertEquals([forgotten, table.epoch], [1, 1]);
  assertNotEquals(table.method("/s/m0").service, undefined);
  assertEquals(table.method("/s/m0") === first, false);
});

Deno.test("Router asks again for what it knew before all was forgotten", async () => {
  await withRig({ cacheDurationMs: 60_000 }, async (rig) => {
    rig.onRequest = (request) => request.echoes();
    const caller = await rig.caller();
    caller.call(GET, "1");
    caller.call(PUT, "1");
    await rig.settle();
    for (let i = 0; i < 10_000; i++) {
      caller.call(`/s/m${i}`);
      if (i % 500 === 499) await rig.settle();
    }
    await rig.settle();
    const after = [caller.call(GET, "1"), caller.call(GET, "1")];
    await rig.settle();
    for (const call of after) call.expects(0, "re:1");
    const requests = rig.requests.length;
    caller.call(PUT, "1"); // and what is written counts for the service as it is now
    await rig.settle();
    caller.call(GET, "1");
    await rig.settle();
    assertEquals(rig.requests.length, requests + 2);
    assertEquals(rig.outcomes, { led: 3, joined: 1, passed: 10_002 });
  });
});

function tableOf(
  { judged = [], onForget = () => {} }: { judged?: string[]; onForget?: () => void },
): MethodTable {
  return new MethodTable({
    eligibility: compileEligibility(["auto"]),
    counters: new ProxyCounters(),
    observer: { ...SILENT, methodJudged: (method) => void judged.push(method) },
    onForget,
  });
}
