import { assert, assertEquals } from "@std/assert";
import { AnswerReader } from "../../lib/trial/answer_reader.ts";
import type { BackendRequest } from "../support/backend_end.ts";
import { GET, PUT } from "../support/proxy_rig.ts";
import { as, KEPT_MS, type Rehearsal, withRehearsal } from "./rehearsal.ts";
import { valueOf } from "../support/peer_end.ts";

const tenantOf = ({ fields }: BackendRequest) => valueOf(fields, "x-tenant");
const echo = (request: BackendRequest) => request.echoes();

/** What calls would have been, all that is not told being nothing. */
function expectsShadow({ counters }: Rehearsal, outcomes: Record<string, number>): void {
  const told = Object.entries(counters.trial?.shadow ?? {}).filter(([, count]) => count > 0);
  assertEquals(Object.fromEntries(told), outcomes);
}

Deno.test("Shadow gives every caller an answer of its own, and counts what sharing would come to", async () => {
  await withRehearsal("shadow", undefined, async (rehearsal) => {
    const { rig, caller } = rehearsal;
    const calls = [1, 2, 3].map(() => caller.call(GET, "k"));
    await rig.settle();
    rig.expectsRequests(3);
    [...rig.requests].forEach((request, i) => request.replies([`answer ${i}`]));
    await rig.settle();
    calls.forEach((call, i) => call.expects(0, `answer ${i}`));
    expectsShadow(rehearsal, { led: 1, joined: 2 });
    assertEquals(rehearsal.counters.outcomes.passed, 3);
    assertEquals(rig.proxy.counters.passed.mode, 3);
    assertEquals(rehearsal.counters.trial?.savedCalls, 2);
    rehearsal.answer = echo; // control calls, since no two answers are alike
    await rehearsal.settle();
  });
});

Deno.test("Shadow keeps what would be kept, for as long, and lets a write end it", async () => {
  await withRehearsal("shadow", echo, async (rehearsal) => {
    const { rig } = rehearsal;
    await rehearsal.ask();
    await rehearsal.ask();
    expectsShadow(rehearsal, { led: 1, hit: 1 });
    await rehearsal.ask([], { path: PUT });
    await rehearsal.ask();
    expectsShadow(rehearsal, { led: 2, hit: 1 });
    await rig.advance(KEPT_MS + 1);
    await rehearsal.ask();
    await rehearsal.ask([["cache-control", "no-cache"]]);
    await rehearsal.ask([["cache-control", "no-store"]]);
    await rehearsal.ask([["cache-control", "max-age=60"]]);
    expectsShadow(rehearsal, { led: 4, hit: 2, passed: 1 });
    assertEquals(rig.proxy.map.stored.entries, 0); // nothing is kept for anybody
  });
});

Deno.test("Shadow heeds what a reply says of sharing it: who waited would have passed", async () => {
  await withRehearsal("shadow", undefined, async (rehearsal) => {
    const { rig, caller } = rehearsal;
    for (let i = 0; i < 3; i++) caller.call(GET, "k");
    await rig.settle();
    rig.request(2).replies(["own"]); // a follower has its answer before its leader
    await rig.settle();
    for (const i of [0, 1]) {
      rig.request(i).replies(["own"], { headers: [["cache-control", "private"]] });
    }
    await rig.settle();
    expectsShadow(rehearsal, { led: 1, passed: 2 });
    rehearsal.expects("compared", {});
    rehearsal.answer = echo;
    await rehearsal.ask();
    expectsShadow(rehearsal, { led: 1, passed: 3 }); // its key passes for a while
  });
});

Deno.test("Shadow hands a flight on when the caller who would lead it leaves", async () => {
  await withRehearsal("shadow", undefined, async (rehearsal) => {
    const { rig, caller } = rehearsal;
    const leader = caller.call(GET, "k");
    for (let i = 0; i < 2; i++) caller.call(GET, "k");
    await rig.settle();
    leader.cancels();
    await rig.settle();
    for (const i of [1, 2]) rig.request(i).replies(["one"]);
    await rig.settle();
    expectsShadow(rehearsal, { led: 1, joined: 2 });
    rehearsal.expects("compared", { match: 1 });
    rehearsal.answer = echo;
    await rehearsal.ask();
    assertEquals(rehearsal.counters.trial?.shadow.hit, 1); // and it would have been kept
  });
});

Deno.test("Shadow has nothing to compare where all have answers and their leader has left", async () => {
  await withRehearsal("shadow", undefined, async (rehearsal) => {
    const { rig, caller } = rehearsal;
    const leader = caller.call(GET, "k");
    caller.call(GET, "k");
    await rig.settle();
    rig.request(1).replies(["one"]);
    await rig.settle();
    leader.cancels();
    await rig.settle();
    expectsShadow(rehearsal, { led: 1, joined: 1 });
    rehearsal.expects("compared", {});
  });
});

Deno.test("Shadow tells a difference by who asks from one by time, by asking again", async () => {
  let turn = 0;
  const answers: Record<string, (request: BackendRequest) => void> = {
    mismatch: (request) => request.replies([`for ${tenantOf(request)}`]),
    unstable: (request) => request.replies([`number ${++turn}`]),
    match: (request) => request.replies(["for all"]),
  };
  for (const [result, answer] of Object.entries(answers)) {
    const told: unknown[] = [];
    const observer = { dependsOnCaller: (...said: unknown[]) => void told.push(said) };
    await withRehearsal("shadow", answer, async (rehearsal) => {
      await rehearsal.ask([...as("a"), ["x-request-id", "1"]]);
      await rehearsal.ask([...as("b"), ["x-request-id", "2"]]);
      rehearsal.expects("compared", { [result]: 1 });
      const names = ["x-request-id", "x-tenant"];
      assertEquals(told, result === "mismatch" ? [[GET, names, "shadow"]] : []);
    }, { observer });
  }
});

Deno.test("Shadow compares a difference with the write that explains it", async () => {
  await withRehearsal("shadow", undefined, async (rehearsal) => {
    const { rig } = rehearsal;
    await rehearsal.ask();
    rig.request(0).replies(["version 0"]);
    await rig.settle();
    await rehearsal.ask();
    await rehearsal.ask([], { path: PUT });
    rig.request(2).replies(["done"]);
    await rig.settle();
    rig.request(1).replies(["version 1"]);
    await rig.settle();
    rehearsal.expects("compared", { raced: 1 });
  });
});

Deno.test("Shadow would answer with what is stale, and take the caller's own call for the refresh", async () => {
  const stale = { cacheDurationMs: 1_000, staleDurationMs: KEPT_MS };
  await withRehearsal("shadow", echo, async (rehearsal) => {
    await rehearsal.ask();
    await rehearsal.rig.advance(2_000);
    await rehearsal.ask();
    await rehearsal.ask();
    expectsShadow(rehearsal, { led: 1, stale: 1, hit: 1 });
    assertEquals(rehearsal.counters.trial?.savedCalls, 1); // the refresh would have been a call as well
  }, stale);
});

Deno.test("Shadow says what sharing would save, now and for other times, and which name keeps calls apart", async () => {
  await withRehearsal("shadow", echo, async (rehearsal) => {
    const { rig } = rehearsal;
    for (let i = 0; i < 3; i++) await rehearsal.ask();
    await rig.advance(2_000);
    await rehearsal.ask();
    await rehearsal.ask([["x-page-view", "1"]]);
    await rehearsal.ask([["x-page-view", "2"]]);
    const [row] = rig.proxy.inspection.report();
    assertEquals(row?.method, GET);
    assertEquals([row?.calls, row?.wouldHit, row?.wouldJoin], [6, 2, 0]);
    assertEquals([row?.keys, row?.largestGroup], [3, 3]);
    assertEquals(row?.ttl, { "0": 0, configured: 2 / 6, "1s": 2 / 6, "10s": 3 / 6 });
    assertEquals(row?.keptApartBy, ["x-page-view"]);
    assertEquals(row?.recommendation, "too early");
  }, { cacheDurationMs: 100 });
});

Deno.test("Shadow and sharing stand side by side, each method as its policy says", async () => {
  const policies = [{
    service: "test.Service",
    method: "GetItem",
    collapser: { mode: "shadow" as const },
  }];
  await withRehearsal("verify", echo, async (rehearsal) => {
    const { rig } = rehearsal;
    const other = "/test.Service/GetOther";
    for (const path of [GET, GET, other, other]) await rehearsal.ask([], { path });
    expectsShadow(rehearsal, { led: 1, hit: 1 });
    assertEquals(rig.proxy.counters.methods.get(other)?.outcomes.hit, 1);
    rig.proxy.setPolicies([]);
    await rehearsal.ask();
    assertEquals(rehearsal.counters.outcomes.led, 1); // what was kept on paper answers nobody
  }, { policies });
});

Deno.test("Shadow and verify that have a fault of ours cost nobody an answer", async () => {
  for (const mode of ["shadow", "verify"] as const) {
    for (const method of ["read", "end"] as const) {
      const whole = Object.getOwnPropertyDescriptor(AnswerReader.prototype, method)!;
      const value = () => {
        throw new Error("planted");
      };
      Object.defineProperty(AnswerReader.prototype, method, { ...whole, value });
      try {
        await withRehearsal(mode, echo, async (rehearsal) => {
          for (let i = 0; i < 3; i++) (await rehearsal.ask()).expects(0, "re:k");
          assert(rehearsal.rig.proxy.counters.faults > 0);
        });
      } finally {
        Object.defineProperty(AnswerReader.prototype, method, whole);
      }
    }
  }
});
