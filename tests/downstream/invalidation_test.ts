/**
 * COLLAPSER_INVALIDATE: once a call that is not eligible has been answered, what is older serves nobody new.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { GET, PUT, type RigOptions, withRig } from "../support/proxy_rig.ts";

Deno.test("Call that reads after a write of its service sees the write, stored results or not", async () => {
  await withRig({ cacheDurationMs: 60_000 }, async (rig) => {
    const caller = await rig.caller();
    caller.call(GET, "1");
    const under = caller.call(GET, "2");
    const other = caller.call("/other.Service/GetItem", "1");
    await rig.settle();
    rig.request(0).replies(["old"]);
    rig.request(2).replies(["other"]);
    await rig.settle();
    const write = caller.call(PUT, "new");
    await rig.settle();
    const before = caller.call(GET, "1");
    await rig.settle();
    before.expects(0, "old"); // the write is not answered yet
    rig.request(3).replies(["done"]);
    await rig.settle();
    write.expects(0, "done");
    const after = caller.call(GET, "1");
    const apart = caller.call(GET, "2");
    const others = caller.call("/other.Service/GetItem", "1");
    await rig.settle();
    rig.expectsRequests(6);
    others.expects(0, "other");
    rig.request(1).replies(["two, from before"]);
    rig.request(4).replies(["new"]);
    rig.request(5).replies(["two, from after"]);
    await rig.settle();
    other.expects(0, "other");
    under.expects(0, "two, from before");
    after.expects(0, "new");
    apart.expects(0, "two, from after");
    const repeats = [caller.call(GET, "1"), caller.call(GET, "2")];
    await rig.settle();
    repeats[0]!.expects(0, "new");
    repeats[1]!.expects(0, "two, from after");
    assertEquals([...rig.proxy.counters.invalidated], [["test.Service", 1]]);
  });
});

Deno.test("Call that reads in the same moment as a write's answer comes sees the write", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    caller.call(GET, "1");
    caller.call(PUT, "new");
    await rig.settle();
    rig.request(1).replies(["done"]);
    rig.request(0).replies(["old"]); // in one read, after the write's
    await rig.settle();
    assertEquals(rig.proxy.map.stored.entries, 0); // nobody could be given it
    const read = caller.call(GET, "1");
    await rig.settle();
    rig.expectsRequests(3);
    rig.request(2).replies(["new"]);
    await rig.settle();
    read.expects(0, "new");
  });
});

Deno.test("Call of an eligible method that passes invalidates nothing", async () => {
  await withRig({ cacheDurationMs: 60_000 }, async (rig) => {
    const caller = await rig.caller();
    caller.call(GET, "1");
    await rig.settle();
    rig.request(0).replies(["one"]);
    await rig.settle();
    caller.call(GET, "2", { metadata: [["cache-control", "no-store"]] });
    await rig.settle();
    rig.request(1).replies(["two"]);
    await rig.settle();
    const repeat = caller.call(GET, "1");
    await rig.settle();
    repeat.expects(0, "one");
    assertEquals(rig.proxy.counters.invalidated.size, 0);
  });
});

Deno.test("Call that fails or is given up may have written all the same", async () => {
  await withRig({ cacheDurationMs: 60_000 }, async (rig) => {
    const caller = await rig.caller();
    const ends = [
      () => rig.request(-1).fails(13),
      () => rig.callers[0]!.calls.at(-1)!.cancels(),
      () => rig.request(-1).resets(2),
    ];
    for (const end of ends) {
      caller.call(GET, "1");
      await rig.settle();
      rig.request(-1).replies(["one"]);
      await rig.settle();
      caller.call(PUT, "1");
      await rig.settle();
      end();
      await rig.settle();
    }
    caller.call(GET, "1"); // after the last of them too
    await rig.settle();
    assertEquals(rig.outcomes, { led: 4, passed: 3 });
    assertEquals([...rig.proxy.counters.invalidated], [["test.Service", 3]]);
  });
});

Deno.test("Call invalidates nothing when told so (invalidate off)", async () => {
  await withRig({ cacheDurationMs: 60_000, invalidate: "off" }, async (rig) => {
    const caller = await rig.caller();
    caller.call(GET, "1");
    caller.call(PUT, "1");
    await rig.settle();
    rig.request(0).replies(["one"]);
    rig.request(1).replies(["done"]);
    await rig.settle();
    const repeat = caller.call(GET, "1");
    await rig.settle();
    repeat.expects(0, "one");
    assertEquals(rig.proxy.counters.invalidated.size, 0);
  });
});

Deno.test("Call that writes and never reached the backend has changed nothing", async () => {
  const options = { cacheDurationMs: 60_000, backendMaxConcurrent: 1, backendMaxPending: 0 };
  await withRig(options, async (rig) => {
    const caller = await rig.caller();
    caller.call(GET, "1");
    await rig.settle();
    rig.request(0).replies(["kept"]);
    await rig.settle();
    caller.call(GET, "2"); // takes the only place
    const write = caller.call(PUT, "new");
    const again = caller.call(GET, "1");
    await rig.settle();
    assertEquals(write.status, 8);
    again.expects(0, "kept");
    rig.expectsRequests(2);
    rig.request(1).echoes();
    await rig.settle();
  });
});

Deno.test("Call that reads after an event of a watch is not older than the event, each time", async () => {
  await withRig({ cacheDurationMs: 60_000 }, async (rig) => {
    const caller = await rig.caller();
    const watch = caller.call("/test.Service/WatchItems", "all");
    await rig.settle();
    rig.request(0).begins();
    await rig.settle();
    for (let version = 0; version < 3; version++) {
      const read = caller.call(GET, "1");
      await rig.settle();
      rig.request(-1).replies([`v${version}`]);
      await rig.settle();
      read.expects(0, `v${version}`);
      rig.request(0).sends(`event ${version + 1}`); // the write's own answer is still on its way
      await rig.settle();
      assertEquals(watch.messages.length, version + 1);
    }
    rig.expectsRequests(4);
    rig.request(0).ends();
    await rig.settle();
    const calls = [caller.call(GET, "1"), caller.call(GET, "1")];
    await rig.settle();
    rig.expectsRequests(5);
    rig.request(4).replies(["v3"]);
    await rig.settle();
    for (const call of calls) call.expects(0, "v3");
    assertEquals(rig.proxy.counters.invalidated.get("test.Service"), 4);
  });
});

Deno.test("Call that reads after an acknowledged put within an open stream sees it", async () => {
  await withRig({ cacheDurationMs: 60_000 }, async (rig) => {
    const caller = await rig.caller();
    const stream = caller.call(PUT, "put a", { ends: false });
    const before = caller.call(GET, "1");
    await rig.settle();
    rig.request(1).replies(["old"]);
    await rig.settle();
    before.expects(0, "old");
    rig.request(0).begins(["ack a"]);
    await rig.settle();
    const after = caller.call(GET, "1");
    await rig.settle();
    rig.request(2).replies(["new"]);
    await rig.settle();
    after.expects(0, "new");
    stream.ends();
    rig.request(0).ends();
    await rig.settle();
    stream.expects(0, "ack a");
  });
});

/** How many of these results outlive a call of `write`; each is of a service of its own. */
async function leftAfter(
  write: string,
  options: RigOptions,
  { replies = ["done"] }: { replies?: string[] } = {},
): Promise<string[]> {
  const left: string[] = [];
  await withRig({ cacheDurationMs: 60_000, ...options }, async (rig) => {
    const caller = await rig.caller();
    const reads = ["/a.One/GetItem", "/a.Two/GetItem", "/b.One/GetItem"];
    for (const path of reads) caller.call(path, "k");
    await rig.settle();
    for (const request of [...rig.requests]) request.echoes();
    caller.call(write, "k");
    await rig.settle();
    rig.request(reads.length).replies(replies);
    await rig.settle();
    for (const path of reads) {
      const before = rig.requests.length;
      caller.call(path, "k");
      await rig.settle();
      if (rig.requests.length === before) left.push(path);
      else rig.request(before).echoes();
    }
    await rig.settle();
  });
  return left;
}

Deno.test("Write reaches as far as COLLAPSER_INVALIDATE says: its service, its package, the backend, or nothing", async () => {
  const reads = ["/a.One/GetItem", "/a.Two/GetItem", "/b.One/GetItem"];
  const write = "/a.One/PutItem";
  assertEquals(await leftAfter(write, { invalidate: "service" }), reads.slice(1));
  assertEquals(await leftAfter(write, { invalidate: "package" }), reads.slice(2));
  assertEquals(await leftAfter(write, { invalidate: "backend" }), []);
  assertEquals(await leftAfter(write, { invalidate: "off" }), reads);
});

Deno.test("Call that asks how something is writes nothing, unless it streams, or the policy says that it does", async () => {
  const isKept = async (method: string, options: RigOptions = {}, replies = ["done"]) =>
    (await leftAfter(`/a.One/${method}`, options, { replies })).length === 3;
  for (const name of ["Check", "CheckAccess", "Ping", "StatusOfJob", "HealthReport", "Version"]) {
    assertEquals(await isKept(name), true, name);
  }
  for (const name of ["CheckIn", "CheckOut", "CheckTx", "TestAndSet", "PingCreate", "Checkout"]) {
    assertEquals(await isKept(name), false, name);
  }
  assertEquals(await isKept("StatusOfJobs", {}, ["one", "two"]), false);
  const policies = (invalidates: boolean) => [
    { service: "a.One", method: "", collapser: { invalidates } },
  ];
  assertEquals(await isKept("CheckAccess", { policies: policies(true) }), false);
  assertEquals(await isKept("WatchItems", { policies: policies(false) }, ["one", "two"]), true);
});
