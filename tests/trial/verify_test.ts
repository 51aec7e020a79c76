import { assertEquals } from "@std/assert";
import { valueOf } from "../support/peer_end.ts";
import { GET, PUT } from "../support/proxy_rig.ts";
import type { BackendRequest } from "../support/backend_end.ts";
import { as, withRehearsal } from "./rehearsal.ts";

const tenantOf = ({ fields }: BackendRequest) => valueOf(fields, "x-tenant");

/** Answers that count, so that no two are the same. */
function counting(): (request: BackendRequest) => void {
  let turn = 0;
  return (request) => request.replies([`number ${++turn}`]);
}

Deno.test("Verify asks a follower's question once more, with its own metadata, after it was answered", async () => {
  await withRehearsal("verify", undefined, async ({ rig, caller }) => {
    caller.call(GET, "k", { metadata: as("a") });
    await rig.settle();
    rig.request(0).replies(["one"]);
    await rig.settle();
    const follower = caller.call(GET, "k", {
      metadata: [...as("b"), ["grpc-timeout", "2S"]],
    });
    await rig.settle();
    follower.expects(0, "one"); // though the re-run has no answer
    rig.expectsRequests(2);
    assertEquals(tenantOf(rig.request(1)), "b");
    assertEquals(rig.request(1).messages, ["k"]);
    assertEquals(valueOf(rig.request(1).fields, "grpc-timeout"), "2S");
    rig.request(1).replies(["one"]);
    await rig.settle();
  });
});

Deno.test("Verify takes a method out whose answer depends on who asks, and nothing else", async () => {
  const told: unknown[] = [];
  const observer = { dependsOnCaller: (...said: unknown[]) => void told.push(said) };
  const byTenant = (request: BackendRequest) => request.replies([`for ${tenantOf(request)}`]);
  await withRehearsal("verify", byTenant, async (rehearsal) => {
    const { rig } = rehearsal;
    await rehearsal.ask(as("a"));
    const shared = await rehearsal.ask(as("b"));
    shared.expects(0, "for a"); // what is found out comes too late for this one
    rehearsal.expects("verified", { mismatch: 1 });
    assertEquals(told, [[GET, ["x-tenant"], "verify"]]);
    assertEquals(rig.proxy.map.stored.entries, 0);
    (await rehearsal.ask(as("b"))).expects(0, "for b");
    (await rehearsal.ask(as("a"))).expects(0, "for a");
    assertEquals(rehearsal.counters.outcomes.passed, 2);
    assertEquals(rig.proxy.counters.passed.mode, 2);
    assertEquals([...rig.proxy.trial.methods.off()], [[GET, ["x-tenant"]]]);
    const other = "/test.Service/GetOther";
    await rehearsal.ask([], { path: other });
    await rehearsal.ask([], { path: other });
    assertEquals(rig.proxy.counters.methods.get(other)?.outcomes.hit, 1);
  }, { observer });
});

Deno.test("Verify gives a method back when somebody says so, and finds it out again", async () => {
  const byTenant = (request: BackendRequest) => request.replies([`for ${tenantOf(request)}`]);
  await withRehearsal("verify", byTenant, async (rehearsal) => {
    const { trial } = rehearsal.rig.proxy;
    for (let i = 1; i <= 2; i++) {
      assertEquals(trial.switchOn(GET), i > 1);
      await rehearsal.ask(as("a"));
      await rehearsal.ask(as("b"));
      rehearsal.expects("verified", { mismatch: i });
    }
    assertEquals(trial.switchOn("/test.Service/Unknown"), false);
  });
});

Deno.test("Verify leaves a method out through a reload that says the same of it, and not through another", async () => {
  const byTenant = (request: BackendRequest) => request.replies([`for ${tenantOf(request)}`]);
  const say = (cacheDurationMs: number, other: number) => [
    { service: "test.Service", method: "GetItem", collapser: { cacheDurationMs } },
    { service: "test.Service", method: "GetOther", collapser: { cacheDurationMs: other } },
  ];
  const policies = say(60_000, 1);
  await withRehearsal("verify", byTenant, async (rehearsal) => {
    const { proxy } = rehearsal.rig;
    await rehearsal.ask(as("a"));
    await rehearsal.ask(as("b"));
    proxy.setPolicies(say(60_000, 2));
    (await rehearsal.ask(as("a"))).expects(0, "for a");
    (await rehearsal.ask(as("b"))).expects(0, "for b");
    proxy.setPolicies(say(59_000, 2));
    (await rehearsal.ask(as("a"))).expects(0, "for a");
    (await rehearsal.ask(as("b"))).expects(0, "for a"); // it shares again
  }, { policies });
});

Deno.test("Verify takes an answer that is never the same for unstable, whoever asks", async () => {
  await withRehearsal("verify", counting(), async (rehearsal) => {
    await rehearsal.ask(as("a"));
    for (const tenant of ["b", "a", "b"]) await rehearsal.ask(as(tenant));
    rehearsal.expects("verified", { unstable: 3 });
    assertEquals([...rehearsal.rig.proxy.trial.methods.off()], []);
  });
});

Deno.test("Verify takes a difference for a race where a write came between", async () => {
  await withRehearsal("verify", undefined, async (rehearsal) => {
    const { rig, caller } = rehearsal;
    await rehearsal.ask(as("a"));
    rig.request(0).replies(["version 0"]);
    await rig.settle();
    await rehearsal.ask(as("b"));
    caller.call(PUT, "new");
    await rig.settle();
    rig.request(2).replies(["done"]);
    await rig.settle();
    rig.request(1).replies(["version 1"]);
    await rig.settle();
    rehearsal.expects("verified", { raced: 1 });
  });
});

Deno.test("Verify counts a re-run that has no answer as an error, and any other status as an answer", async () => {
  for (
    const [status, results] of [[1, "error"], [4, "error"], [8, "error"], [14, "error"]] as const
  ) {
    let turn = 0;
    const answer = (request: BackendRequest) =>
      turn++ === 0 ? request.replies(["one"]) : request.fails(status);
    await withRehearsal("verify", answer, async (rehearsal) => {
      await rehearsal.ask();
      await rehearsal.ask();
      rehearsal.expects("verified", { [results]: 1 });
    });
  }
  const forbids = (request: BackendRequest) =>
    tenantOf(request) === "a" ? request.replies(["one"]) : request.fails(7);
  await withRehearsal("verify", forbids, async (rehearsal) => {
    await rehearsal.ask(as("a"));
    await rehearsal.ask(as("b"));
    rehearsal.expects("verified", { mismatch: 1 });
  });
});

Deno.test("Verify compares those who join as well, and whoever leaves is not asked for", async () => {
  await withRehearsal("verify", undefined, async (rehearsal) => {
    const { rig, caller } = rehearsal;
    for (const tenant of ["a", "b", "c"]) caller.call(GET, "k", { metadata: as(tenant) });
    await rig.settle();
    rig.expectsRequests(1);
    caller.calls[2]!.cancels();
    await rig.settle();
    rig.request(0).replies(["one"]);
    await rig.settle();
    rig.expectsRequests(2);
    rig.request(1).replies(["one"]);
    await rig.settle();
    rehearsal.expects("verified", { match: 1 });
  });
});

Deno.test("Verify asks two at once at one backend, and gives up what hangs after BACKEND_TIMEOUT", async () => {
  await withRehearsal("verify", undefined, async (rehearsal) => {
    const { rig } = rehearsal;
    await rehearsal.ask();
    rig.request(0).replies(["one"]);
    for (let i = 0; i < 5; i++) (await rehearsal.ask()).expects(0, "one");
    rig.expectsRequests(3);
    await rig.advance(1_100);
    await rig.settle();
    rehearsal.expects("verified", { error: 2 });
    rig.expectsRequests(5); // the next two have their turn
    for (const request of rig.requests.slice(3)) request.replies(["one"]);
    await rig.settle();
    rig.request(5).replies(["one"]);
    await rig.settle();
    rehearsal.expects("verified", { error: 2, match: 3 });
  }, { backendTimeoutMs: 1_000 });
});

Deno.test("Verify asks nothing while callers wait for a place, and then after them", async () => {
  await withRehearsal("verify", undefined, async (rehearsal) => {
    const { rig, caller } = rehearsal;
    await rehearsal.ask();
    rig.request(0).replies(["one"]);
    await rig.settle();
    caller.call(GET, "in the place");
    caller.call(GET, "waits");
    await rig.settle();
    (await rehearsal.ask()).expects(0, "one");
    await rig.advance(500);
    rig.expectsRequests(2);
    rig.request(1).replies(["two"]);
    await rig.settle();
    assertEquals(rig.request(2).messages, ["waits"]);
    rig.request(2).replies(["three"]);
    await rig.settle();
    await rig.advance(100);
    await rig.settle();
    assertEquals(rig.request(3).messages, ["k"]);
    rig.request(3).replies(["one"]);
    await rig.settle();
    rehearsal.expects("verified", { match: 1 });
  }, { backendMaxConcurrent: 1 });
});

Deno.test("Verify skips what is too large to be kept, and asks nothing of who passes or writes", async () => {
  const echo = (request: BackendRequest) => request.echoes();
  await withRehearsal("verify", echo, async (rehearsal) => {
    const message = "x".repeat(70_000);
    await rehearsal.ask([], { message });
    await rehearsal.ask([], { message });
    rehearsal.expects("verified", { skipped: 1 });
    assertEquals(rehearsal.rig.proxy.counters.verifySkipped.size, 1);
    const before = rehearsal.rig.requests.length;
    for (const path of [PUT, PUT]) await rehearsal.ask([], { path });
    await rehearsal.ask([["cache-control", "no-store"]]);
    rehearsal.rig.expectsRequests(before + 3);
  });
});
