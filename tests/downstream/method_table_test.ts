import { assertEquals, assertNotEquals, assertStrictEquals } from "@std/assert";
import { compileEligibility } from "../../lib/collapse/mod.ts";
import { MethodTable } from "../../lib/downstream/method_table.ts";
import { ProxyCounters, SILENT } from "../../lib/observe/mod.ts";
import { plainSettings } from "../support/settings.ts";
import { GET, PUT, withRig } from "../support/proxy_rig.ts";

Deno.test("MethodTable judges each method once, and tells so once", () => {
  const judged: string[] = [];
  const table = tableOf({ judged });
  const first = table.method("/pkg.S/GetItem");
  assertStrictEquals(table.method("/pkg.S/GetItem"), first);
  assertEquals([first.verdict.eligible, first.behaviour.at(0)], [true, "unknown"]);
  assertEquals(table.method("/pkg.S/PutItem").verdict.eligible, false);
  assertEquals(judged, ["/pkg.S/GetItem", "/pkg.S/PutItem"]);
});

Deno.test("MethodTable gives methods of one service the same service", () => {
  const table = tableOf({});
  assertStrictEquals(table.method("/a.S/GetX").service, table.method("/a.S/PutX").service);
  assertNotEquals(table.method("/b.S/GetX").service, table.method("/a.S/GetX").service);
  assertEquals(table.method("/.env").service.name, "");
});

Deno.test("MethodTable forgets what no backend has answered first, one by one, and no verdict with it", () => {
  let forgotten = 0;
  const table = tableOf({ onForget: () => forgotten++ });
  const real = table.method("/real.Service/GetItem");
  table.confirm(real);
  const first = table.method("/s/m0");
  for (let i = 1; i < 1_000; i++) table.method(`/s/m${i}`);
  assertStrictEquals(table.method("/s/m0"), first);
  table.method("/s/one-more");
  assertEquals(table.known("/s/m0"), undefined);
  assertEquals(table.known("/s/m1")?.path, "/s/m1");
  assertStrictEquals(table.method("/real.Service/GetItem"), real);
  assertEquals([forgotten, table.epoch], [0, 0]);
});

Deno.test("MethodTable bounds the bytes of what callers name", () => {
  const table = tableOf({});
  const long = (i: number) => `/s/${i}`.padEnd(60_000, "x");
  for (let i = 0; i < 10; i++) table.method(long(i));
  const known = Array.from({ length: 10 }, (_, i) => table.known(long(i)) !== undefined);
  assertEquals(known, [...Array(6).fill(false), ...Array(4).fill(true)]); // 256 KiB
});

Deno.test("MethodTable has one service for a name while anybody refers to it, though all is forgotten", () => {
  const table = tableOf({});
  const { service } = table.method("/a.S/PutX"); // a write under way holds it
  table.setPolicies([]);
  assertStrictEquals(table.method("/a.S/GetX").service, service);
});

Deno.test("MethodTable names a method once a backend has answered it, with all it has counted", () => {
  const counters = new ProxyCounters();
  const table = tableOf({ counters });
  const method = table.method("/a.S/GetX");
  method.counters.outcomes.led += 2;
  assertEquals([...counters.methods.keys()], []);
  assertEquals([...counters.all()].map(({ outcomes }) => outcomes.led), [2]);
  table.confirm(method);
  method.counters.outcomes.hit++;
  const { led, hit } = counters.methods.get("/a.S/GetX")!.outcomes;
  assertEquals([led, hit], [2, 1]);
});

Deno.test("Call of a write that is under way when all is forgotten ends what was read meanwhile", async () => {
  await withRig({ cacheDurationMs: 60_000 }, async (rig) => {
    const caller = await rig.caller();
    const write = caller.call(PUT, "1");
    await rig.settle();
    rig.proxy.setPolicies([]);
    const read = caller.call(GET, "1");
    await rig.settle();
    rig.request(1).replies(["old"]);
    await rig.settle();
    read.expects(0, "old");
    rig.request(0).replies(["done"]);
    await rig.settle();
    write.expects(0, "done");
    const after = caller.call(GET, "1");
    await rig.settle();
    rig.request(2).replies(["new"]);
    await rig.settle();
    after.expects(0, "new");
  });
});

function tableOf(
  { judged = [], onForget = () => {}, counters = new ProxyCounters() }: {
    judged?: string[];
    onForget?: () => void;
    counters?: ProxyCounters;
  },
): MethodTable {
  return new MethodTable({
    eligibility: compileEligibility(["auto"]),
    settings: plainSettings(),
    counters,
    observer: { ...SILENT, methodJudged: (method) => void judged.push(method) },
    onForget,
  });
}
