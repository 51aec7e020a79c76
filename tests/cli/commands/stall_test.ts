import { assertEquals, assertStringIncludes } from "@std/assert";
import { defaultStallOptions } from "../../../lib/cli/stall_flags.ts";
import { FAULTS } from "../../../lib/measure/stall/fault.ts";
import { collapser } from "../support.ts";

const DEFAULTS = {
  backends: [],
  proxies: [],
  port: 0,
  method: "/hello.v1.Hello/GetGreeting",
  header: "x-shard",
  fault: "stall",
  backendPid: undefined,
  announce: false,
  beforeMs: 3_000,
  stallMs: 5_000,
  afterMs: 5_000,
  perSecond: 300,
  deadlineMs: 2_000,
  seed: 1,
  places: 10,
  waiting: 10,
  serviceMs: 5,
  only: [],
  sharedPool: true,
  json: undefined,
  svg: undefined,
};

Deno.test("stall needs nothing to be told", async () => {
  const { code, ran } = await collapser("stall");
  assertEquals([code, ran], [0, ["stall", DEFAULTS]]);
});

Deno.test("defaultStallOptions gives what stall measures when it is told nothing", () => {
  assertEquals<unknown>(defaultStallOptions(), DEFAULTS);
});

Deno.test("stall takes everything that decides the numbers", async () => {
  const { ran } = await collapser(
    "stall --before 1s --stall 2s --after 3s --rate 600 --deadline 500ms --seed 7 --pool 4 " +
      "--pending 5 --service 6ms --fault slow-start --shared-pool=false --only direct --only envoy " +
      "--proxy envoy=127.0.0.1:10000 --port 50061 --method /a.B/C --header X-To --json j --svg s",
  );
  assertEquals(ran?.[1], {
    ...DEFAULTS,
    proxies: [{ name: "envoy", host: "127.0.0.1", port: 10_000 }],
    port: 50_061,
    method: "/a.B/C",
    header: "x-to",
    fault: "slow-start",
    beforeMs: 1_000,
    stallMs: 2_000,
    afterMs: 3_000,
    perSecond: 600,
    deadlineMs: 500,
    seed: 7,
    places: 4,
    waiting: 5,
    serviceMs: 6,
    only: ["direct", "envoy"],
    sharedPool: false,
    json: "j",
    svg: "s",
  });
});

Deno.test("stall takes backends of one's own, with a process to stop or somebody who does it", async () => {
  const own = "stall --backends a=db1:1 --backends b=db2:2";
  const backends = [{ name: "a", host: "db1", port: 1 }, { name: "b", host: "db2", port: 2 }];
  const stopped = await collapser(`${own} --fault sigstop --backend-pid 12`);
  assertEquals(stopped.ran?.[1], { ...DEFAULTS, fault: "sigstop", backends, backendPid: 12 });
  const announced = await collapser(`${own} --fault reset --announce`);
  assertEquals(announced.ran?.[1], { ...DEFAULTS, fault: "reset", backends, announce: true });
});

Deno.test("stall knows every fault", async () => {
  for (const fault of FAULTS) {
    const { code, ran } = await collapser(`stall --fault ${fault}`);
    assertEquals([code, ran?.[1]], [0, { ...DEFAULTS, fault }]);
  }
});

Deno.test("stall refuses what cannot be done, with every problem at once", async () => {
  const cases = {
    "--fault flood": 'Cannot parse --fault "flood": expected stall, sigstop, blackhole',
    "--backends a=db:1": "Cannot compare one of --backends",
    "--backends a=db:1 --backends b=db:2 --fault reset": 'Cannot bring about "reset" at backends',
    "--backends a=db:1 --backends b=db:2 --port 5": "Cannot use --port with --backends",
    "--backend-pid 12": "Cannot use --backend-pid without --backends",
    "--only nobody": 'Cannot measure --only "nobody": expected direct, collapser, shared-pool',
    "--proxy a=x:1 --proxy a=y:1": 'Cannot use the name "a" twice',
    "--proxy direct=x:1": 'Cannot use the name "direct" twice',
    "--proxy 127.0.0.1:1": "expected a name and an address, such as a=127.0.0.1:50051",
    "--header a,b": "expected one metadata name",
    "--deadline 0s": "expected a duration above 0",
  };
  for (const [args, said] of Object.entries(cases)) {
    const { code, err, ran } = await collapser(`stall ${args}`);
    assertEquals([code, ran], [64, undefined], args);
    assertStringIncludes(err, said);
  }
  const { err } = await collapser("stall --backends a=db:1 --port 5 --only x");
  assertEquals(err.split("\n").filter((line) => line.startsWith("Cannot")).length, 4, err);
});
