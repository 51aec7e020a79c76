import { assertEquals, assertStringIncludes } from "@std/assert";
import { GET, PUT, type RigOptions, withRig } from "../support/proxy_rig.ts";

Deno.test("makeCluster follows a name: new addresses get calls, old ones end theirs in peace", async () => {
  const named: RigOptions = {
    backends: [{ name: "db", address: { host: "db.test", port: 7 }, resolves: true }],
    cacheDurationMs: 0,
    opens: false,
  };
  await withRig(named, async (rig) => {
    const caller = await rig.caller();
    rig.proxy.open();
    await rig.settle();
    const early = caller.call(GET, "1");
    await rig.settle();
    const why = 'the backend cannot be reached: cannot find the addresses of "db.test"';
    early.expectsFailure(14, why);
    assertStringIncludes(rig.proxy.readiness.reason, "db.test");
    rig.names.set("db.test", ["10.0.0.1", "10.0.0.2"]);
    await rig.advance(1_100);
    assertEquals(rig.proxy.readiness.ready, true);
    assertEquals(rig.proxy.counters.backends.map(({ name }) => name), ["10.0.0.1:7", "10.0.0.2:7"]);
    const slow = caller.call(PUT, "slow");
    await rig.settle();
    const [old] = ["10.0.0.1", "10.0.0.2"].filter((host) => rig.openAt(host).length > 0);
    rig.names.set("db.test", ["10.0.0.3"]);
    await rig.advance(30_000);
    assertEquals(rig.proxy.counters.backends.map(({ name }) => name), ["10.0.0.3:7"]);
    const next = caller.call(GET, "2");
    await rig.settle();
    rig.openAt("10.0.0.3")[0]!.replies(["from the new one"]);
    rig.openAt(old!)[0]!.replies(["from the old one"]);
    await rig.settle();
    next.expects(0, "from the new one");
    slow.expects(0, "from the old one");
    assertEquals(rig.backendAt(old!).socket.isClosed, true);
  });
});

Deno.test("makeCluster asks for a name again when one of its backends fails", async () => {
  const named: RigOptions = {
    backends: [{ name: "db", address: { host: "db.test", port: 7 }, resolves: true }],
    opens: false,
  };
  await withRig(named, async (rig) => {
    rig.names.set("db.test", ["10.0.0.2"]);
    rig.proxy.open();
    const caller = await rig.caller();
    await rig.advance(2_000);
    rig.diallingAt.set("10.0.0.2", "refuses");
    rig.names.set("db.test", ["10.0.0.3"]);
    rig.backendAt("10.0.0.2").socket.ends();
    await rig.advance(1_500);
    const call = caller.call(GET, "1");
    await rig.settle();
    rig.openAt("10.0.0.3")[0]!.replies(["moved"]);
    await rig.settle();
    call.expects(0, "moved");
  });
});
