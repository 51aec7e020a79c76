import { assert, assertEquals } from "@std/assert";
import { ERROR_CODE } from "../../lib/wire/mod.ts";
import { GET, type ProxyRig, PUT, type RigOptions, withRig } from "../support/proxy_rig.ts";

/** Calls open on a connection above which one more does not wait. */
const CROWDED_STREAMS = 3_072;

const NAMES = ["a", "b", "c"];

/** Three backends, named and addressed a, b and c. */
const THREE: RigOptions = {
  backends: NAMES.map((name) => ({ name, address: { host: name, port: 1 } })),
  cacheDurationMs: 0,
};

const SHARDS: RigOptions = {
  ...THREE,
  backendKind: "shards",
  backendRouting: { by: "header", name: "x-shard" },
};

/** Makes a call and says which backend it reached; "" when none. Whoever it is answers, unless told otherwise. */
async function ask(
  rig: ProxyRig,
  message: string,
  options: { method?: string; shard?: string; answers?: boolean } = {},
): Promise<string> {
  const caller = rig.callers[0] ?? await rig.caller();
  const before = new Map(NAMES.map((name) => [name, rig.requestsAt(name).length]));
  const metadata = options.shard === undefined ? [] : [["x-shard", options.shard] as const];
  caller.call(options.method ?? GET, message, { metadata });
  await rig.settle();
  const name = NAMES.find((name) => rig.requestsAt(name).length > before.get(name)!) ?? "";
  if (name !== "" && (options.answers ?? true)) {
    rig.requestsAt(name).at(-1)!.echoes();
    await rig.settle();
  }
  return name;
}

const KEYS = Array.from({ length: 60 }, (_, i) => `key ${i}`);

async function owners(rig: ProxyRig): Promise<Map<string, string>> {
  const owners = new Map<string, string>();
  for (const key of KEYS) owners.set(key, await ask(rig, key));
  return owners;
}

Deno.test("BalancedCluster gives a key always to the same backend, and keys evenly to all", async () => {
  await withRig(THREE, async (rig) => {
    const first = await owners(rig);
    assertEquals(await owners(rig), first);
    for (const name of NAMES) {
      const share = [...first.values()].filter((owner) => owner === name).length;
      assert(share >= 10, `${name} has ${share} of ${KEYS.length}`);
    }
  });
});

Deno.test("BalancedCluster gives a key to the same backend in every sidecar, in whatever order they stand", async () => {
  let first: Map<string, string> | undefined;
  for (const backends of [THREE.backends!, [...THREE.backends!].reverse()]) {
    await withRig({ ...THREE, backends, seed: 7 }, async (rig) => {
      const found = await owners(rig);
      assertEquals(found, first ??= found);
    });
  }
});

Deno.test("BalancedCluster moves the keys of a backend that is gone, shares them out, and gives them back", async () => {
  await withRig(THREE, async (rig) => {
    const before = await owners(rig);
    rig.diallingAt.set("c", "refuses");
    rig.backendAt("c").socket.ends();
    await rig.settle();
    const during = await owners(rig);
    const heirs = new Set<string>();
    for (const [key, owner] of before) {
      if (owner === "c") heirs.add(during.get(key)!);
      else assertEquals(during.get(key), owner);
    }
    assertEquals([...heirs].sort(), ["a", "b"]);
    rig.diallingAt.delete("c");
    await rig.advance(1_000);
    assertEquals(await owners(rig), before);
  });
});

Deno.test("BalancedCluster sends calls without a key to the one with the fewest", async () => {
  await withRig(THREE, async (rig) => {
    const asked: string[] = [];
    for (let i = 0; i < 6; i++) {
      asked.push(await ask(rig, "same", { method: PUT, answers: false }));
    }
    assertEquals(asked.slice(0, 3).sort(), NAMES);
    assertEquals(asked.slice(3).sort(), NAMES);
    rig.openAt("b").forEach((request) => request.echoes());
    await rig.settle();
    assertEquals(await ask(rig, "same", { method: PUT }), "b");
  });
});

Deno.test("BalancedCluster takes turns, those that are gone left out", async () => {
  await withRig({ ...THREE, backendRouting: { by: "round-robin" } }, async (rig) => {
    const asked = async (count: number) => {
      const names: string[] = [];
      for (let i = 0; i < count; i++) names.push(await ask(rig, `${i}`));
      return names.join("");
    };
    assertEquals(await asked(6), "abcabc");
    rig.diallingAt.set("b", "refuses");
    rig.backendAt("b").socket.ends();
    await rig.settle();
    const names = await asked(4);
    assertEquals([...names].filter((name) => name === "b"), []);
  });
});

Deno.test("BalancedCluster goes by a header, whose value is part of the key then", async () => {
  const routing: RigOptions = {
    ...THREE,
    backendRouting: { by: "header", name: "x-shard" },
    keyHeaders: ["authorization"],
  };
  await withRig(routing, async (rig) => {
    for (const name of NAMES) assertEquals(await ask(rig, "1", { shard: name }), name);
    const owner = await ask(rig, "1", { shard: "42" });
    for (let i = 0; i < 5; i++) assertEquals(await ask(rig, `${i}`, { shard: "42" }), owner);
    const others = new Set<string>();
    for (let i = 0; i < 20; i++) others.add(await ask(rig, "1", { shard: `${i}` }));
    assertEquals([...others].sort(), NAMES);
    assertEquals(await ask(rig, "1"), await ask(rig, "2")); // without the header
    const caller = rig.callers[0]!;
    const calls = ["a", "b"].map((shard) =>
      caller.call(GET, "at once", { metadata: [["x-shard", shard]] })
    );
    await rig.settle();
    for (const name of ["a", "b"]) rig.openAt(name)[0]!.replies([`from ${name}`]);
    await rig.settle();
    calls[0]!.expects(0, "from a");
    calls[1]!.expects(0, "from b");
  });
});

Deno.test("BalancedCluster of the kind shards fail at once (14) where a stand-in would lack the data", async () => {
  await withRig(SHARDS, async (rig) => {
    assertEquals(await ask(rig, "1", { shard: "c" }), "c");
    rig.diallingAt.set("c", "hangs");
    rig.backendAt("c").socket.ends();
    await rig.settle();
    assertEquals(await ask(rig, "2", { shard: "a" }), "a");
    const call = rig.callers[0]!.call(GET, "3", { metadata: [["x-shard", "c"]] });
    await rig.advance(5_000); // until the dial is given up by whoever dials
    rig.diallingAt.set("c", "refuses");
    rig.answerDials();
    await rig.settle();
    const why = "the backend cannot be reached: Connection refused";
    call.expectsFailure(14, why);
    assertEquals(await ask(rig, "4", { shard: "c" }), "");
    rig.callers[0]!.calls.at(-1)!.expectsFailure(14, why);
    assertEquals(rig.requestsAt("a").length + rig.requestsAt("b").length, 1);
  });
});

Deno.test("BalancedCluster keeps a full backend's queue to itself", async () => {
  const options = { ...THREE, backendMaxConcurrent: 2, backendMaxPending: 1 };
  await withRig({ ...options, backendRouting: { by: "header", name: "x-shard" } }, async (rig) => {
    for (let i = 0; i < 3; i++) await ask(rig, `${i}`, { shard: "c", answers: false });
    assertEquals(await ask(rig, "too many", { shard: "c" }), "");
    rig.callers[0]!.calls.at(-1)!.expectsFailure(8, "too many calls wait for backend c");
    for (let i = 0; i < 5; i++) assertEquals(await ask(rig, `${i}`, { shard: "a" }), "a");
    const [a, , c] = rig.proxy.counters.backends;
    assertEquals([a!.pending, c!.pending, c!.refused.pending_full], [0, 1, 1]);
    rig.openAt("c").forEach((request) => request.echoes());
    await rig.settle();
    rig.openAt("c").forEach((request) => request.echoes());
    await rig.settle();
  });
});

Deno.test("BalancedCluster leaves a connection that is full of calls to one backend a way to the others", async () => {
  const options = { ...THREE, backendMaxConcurrent: 10 };
  await withRig({ ...options, backendRouting: { by: "header", name: "x-shard" } }, async (rig) => {
    const caller = await rig.caller();
    const stuck = Array.from(
      { length: CROWDED_STREAMS + 50 },
      (_, i) => caller.call(i % 2 === 0 ? GET : PUT, `${i}`, { metadata: [["x-shard", "c"]] }),
    );
    await rig.settle();
    const [a, , c] = rig.proxy.counters.backends;
    assertEquals([c!.inflight, c!.pending], [10, CROWDED_STREAMS - 10]);
    for (const call of stuck.slice(CROWDED_STREAMS)) {
      call.expectsFailure(
        8,
        "backend c has no place, and too many calls of this connection are open for one more " +
          "to wait: use more connections",
      );
    }
    assertEquals(c!.refused.pending_full, 50);
    assertEquals(await ask(rig, "healthy", { shard: "a" }), "a");
    assertEquals(a!.calls, 1);
    const other = await rig.caller(); // whose connection is empty, and may wait
    const call = other.call(GET, "another's", { metadata: [["x-shard", "c"]] });
    await rig.settle();
    call.expectsNothing();
  });
});

Deno.test("BalancedCluster hands on the calls that wait for a backend that goes down, and a call that it refused", async () => {
  await withRig({ ...THREE, dialling: "hangs" }, async (rig) => {
    const caller = await rig.caller();
    const early = KEYS.slice(0, 9).map((key) => caller.call(GET, key));
    await rig.settle();
    rig.diallingAt.set("a", "accepts").set("b", "refuses").set("c", "refuses");
    rig.answerDials();
    await rig.settle();
    for (const request of rig.openAt("a")) request.echoes();
    await rig.settle();
    for (const call of early) assertEquals(call.status, 0);
  });
  await withRig(THREE, async (rig) => {
    const name = await ask(rig, "refused", { answers: false });
    rig.requestsAt(name)[0]!.resets(ERROR_CODE.refusedStream);
    await rig.settle();
    const other = NAMES.filter((each) => each !== name).find((each) => rig.openAt(each).length > 0);
    assert(other !== undefined, "nobody else was asked");
    rig.openAt(other)[0]!.replies(["from another"]);
    await rig.settle();
    rig.callers[0]!.calls[0]!.expects(0, "from another");
  });
});

const BOTH: RigOptions = {
  backends: [{ name: "db", address: { host: "db.test", port: 7 }, resolves: true }],
  cacheDurationMs: 0,
  opens: false,
};

/** The backends by name, as metrics have them. */
function backendsOf(rig: ProxyRig): readonly string[] {
  return rig.proxy.counters.backends.map(({ name }) => name);
}

Deno.test("BalancedCluster uses a name's IPv4 addresses alone while one of them can be reached", async () => {
  await withRig(BOTH, async (rig) => {
    rig.names.set("db.test", ["10.0.0.1", "10.0.0.2", "fd00::1"]);
    rig.diallingAt.set("10.0.0.1", "refuses");
    rig.proxy.open();
    await rig.advance(5_000);
    assertEquals(backendsOf(rig), ["10.0.0.1:7", "10.0.0.2:7"]);
    assertEquals(rig.dials.some(({ address }) => address.host === "fd00::1"), false);
  });
});

Deno.test("BalancedCluster tries a name's IPv6 addresses when none of its IPv4 ones can be reached, and back", async () => {
  await withRig(BOTH, async (rig) => {
    rig.names.set("db.test", ["10.0.0.1", "10.0.0.2", "fd00::1"]);
    for (const host of ["10.0.0.1", "10.0.0.2"]) rig.diallingAt.set(host, "refuses");
    rig.proxy.open();
    await rig.advance(500);
    assertEquals(rig.proxy.readiness.ready, true);
    assertEquals(backendsOf(rig), ["[fd00::1]:7"]);
    rig.diallingAt.clear();
    await rig.advance(60_000); // whatever the name server says meanwhile, it works
    assertEquals(backendsOf(rig), ["[fd00::1]:7"]);
    rig.diallingAt.set("fd00::1", "refuses");
    rig.backendAt("fd00::1").socket.ends();
    await rig.advance(1_000);
    assertEquals(rig.proxy.readiness.ready, true);
    assertEquals(backendsOf(rig), ["10.0.0.1:7", "10.0.0.2:7"]);
  });
});

Deno.test("BalancedCluster tries the IP versions of a name by turns, and is ready within a second of either", async () => {
  await withRig(BOTH, async (rig) => {
    rig.names.set("db.test", ["10.0.0.1", "fd00::1"]);
    rig.dialling = "refuses";
    rig.proxy.open();
    await rig.advance(10_000);
    const turns = rig.dials.filter(({ address }, at) =>
      address.host !== rig.dials[at - 1]?.address.host
    );
    assertEquals(turns.length, 2 + 24); // both at once, and then one each 400 ms
    rig.diallingAt.set("10.0.0.1", "accepts");
    await rig.advance(1_000);
    assertEquals(rig.proxy.readiness.ready, true);
    assertEquals(backendsOf(rig), ["10.0.0.1:7"]);
  });
});
