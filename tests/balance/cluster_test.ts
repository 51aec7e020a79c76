import { assertEquals, assertInstanceOf, assertStringIncludes, assertThrows } from "@std/assert";
import { BalancedCluster } from "../../lib/balance/balanced_cluster.ts";
import { type ClusterOptions, makeCluster } from "../../lib/balance/mod.ts";
import { ProxyCounters, SILENT } from "../../lib/observe/mod.ts";
import { Timers, Turn } from "../../lib/transport/mod.ts";
import { BackendInstances, Endpoint, type UpstreamContext } from "../../lib/upstream/mod.ts";
import { BufferedBytes, HeaderCache } from "../../lib/wire/mod.ts";
import { FakeClock } from "../support/fake_clock.ts";
import { GET, PUT, type RigOptions, withRig } from "../support/proxy_rig.ts";
import { untilQuiet } from "../support/quiet.ts";

/** Everything that a cluster is made with; nobody answers when it dials. */
function parts(names: Readonly<Record<string, readonly string[]>> = {}) {
  const clock = new FakeClock();
  const timers = new Timers(clock);
  const counters = new ProxyCounters();
  const dials: { host: string; timeoutMs: number }[] = [];
  const context: UpstreamContext = {
    dial: ({ host }, { timeoutMs }) => {
      dials.push({ host, timeoutMs });
      return Promise.reject(new Error("nobody is there"));
    },
    ...{ timers, turn: new Turn(), counters, observer: SILENT, random: () => 0, instance: 7 },
    instances: new BackendInstances(),
    buffered: new BufferedBytes(Infinity, () => {}),
    replyHeaders: new HeaderCache(),
  };
  const resolve = (host: string) =>
    host in names ? Promise.resolve(names[host]!) : Promise.reject(new Error(`no ${host}`));
  return { context, dials, clock, parts: { context, resolve, scheme: "http" as const } };
}

const OPTIONS: ClusterOptions = {
  backends: [{ name: "a", address: { host: "10.0.0.1", port: 1 } }],
  backendKind: "replicas",
  backendRouting: { by: "key" },
  backendConnections: 1,
  backendOutlierDetection: true,
  backendAdaptiveConcurrency: false,
  backendConnectTimeoutMs: 1_234,
  backendMaxConcurrent: 17,
  backendMaxPending: 3,
  backendMaxConnections: 8,
  backendTimeoutMs: 10_000,
};
const NAMED = { name: "db", address: { host: "db.test", port: 7 }, resolves: true } as const;

function quiet(clock: FakeClock): Promise<void> {
  return untilQuiet(clock, () => clock.woken);
}

Deno.test("makeCluster has one backend by itself where there is only ever one", async () => {
  const { context, dials, clock, parts: made } = parts();
  const cluster = makeCluster(OPTIONS, made);
  assertInstanceOf(cluster, Endpoint);
  assertEquals(context.counters.backends.map(({ name, limit }) => [name, limit]), [["a", 17]]);
  assertEquals([cluster.trouble, dials], ["not connected yet", []]);
  cluster.open();
  await quiet(clock);
  assertEquals(dials, [{ host: "10.0.0.1", timeoutMs: 1_234 }]);
  assertEquals(cluster.trouble, "nobody is there");
  assertEquals(
    cluster.reports().map(({ counters: { name }, ...report }) => ({ name, ...report })),
    [
      { name: "a", trouble: "nobody is there", standing: "healthy", why: "" },
    ],
  );
  cluster.stop();
  assertEquals(context.timers.pending, 0);
});

Deno.test("makeCluster has several backends where there are several, or a name may stand for them", async () => {
  const two = [...OPTIONS.backends, { name: "b", address: { host: "10.0.0.2", port: 2 } }];
  for (const backends of [two, [NAMED]]) {
    const { context, dials, clock, parts: made } = parts({ "db.test": ["10.0.0.1", "10.0.0.2"] });
    const cluster = makeCluster({ ...OPTIONS, backends, backendConnections: 2 }, made);
    assertInstanceOf(cluster, BalancedCluster);
    assertEquals([cluster.trouble, dials], ["its name is being looked up", []]);
    cluster.open();
    await quiet(clock);
    const names = backends === two ? ["a", "b"] : ["10.0.0.1:7", "10.0.0.2:7"];
    assertEquals(context.counters.backends.map(({ name, limit }) => [name, limit]), [
      [names[0], 17],
      [names[1], 17],
    ]);
    assertEquals(dials.map(({ host }) => host), ["10.0.0.1", "10.0.0.2"]);
    assertEquals(cluster.reports().map(({ counters }) => counters.name), names);
    assertEquals(cluster.trouble, `${names[0]}: nobody is there`);
    cluster.stop();
    assertEquals(context.timers.pending, 0);
  }
});

Deno.test("makeCluster says what is wrong with a name while nothing is known of it", async () => {
  const { context, clock, parts: made } = parts();
  const cluster = makeCluster({ ...OPTIONS, backends: [NAMED] }, made);
  cluster.open();
  assertEquals(cluster.trouble, "its name is being looked up");
  await quiet(clock);
  assertEquals([cluster.trouble, cluster.reports()], ["no db.test", []]);
  cluster.stop();
  assertEquals(context.timers.pending, 0);
});

Deno.test("makeCluster follows the limit that answers teach where it is told to", () => {
  const { context, parts: made } = parts();
  makeCluster({ ...OPTIONS, backendAdaptiveConcurrency: true }, made);
  assertEquals(context.counters.backends[0]!.limit, 8); // the least, while it is measured
});

Deno.test("makeCluster without any backend is a mistake of who makes it", () => {
  const { parts: made } = parts();
  const error = assertThrows(() => makeCluster({ ...OPTIONS, backends: [] }, made), Error);
  assertEquals(error.message, "Cannot make a proxy without a backend");
});

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
