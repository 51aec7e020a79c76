import { assertEquals } from "@std/assert";
import type { CollapserPolicy } from "../../lib/downstream/mod.ts";
import { valueOf } from "../support/peer_end.ts";
import { GET, type ProxyRig, PUT, withRig } from "../support/proxy_rig.ts";

const [, SERVICE = "", GET_ITEM = ""] = GET.split("/");
const OTHER = `/${SERVICE}/GetOther`;

function policyOf(collapser: CollapserPolicy) {
  return [{ service: SERVICE, method: GET_ITEM, collapser }];
}

/** Backend calls that two callers of a method make, one after the other, each with its metadata. */
async function callsFor(rig: ProxyRig, path: string, ...callers: [string, string][]) {
  const caller = await rig.caller();
  const before = rig.requests.length;
  for (const metadata of callers) {
    caller.call(path, "k", { metadata: [metadata] });
    await rig.settle();
    for (const request of rig.requests.slice(before)) if (!request.isOver) request.echoes();
    await rig.settle();
  }
  return rig.requests.length - before;
}

Deno.test("Method's own ignoreHeaders leave a name out of its key, and of no other's", async () => {
  await withRig({ policies: policyOf({ ignoreHeaders: ["x-noise"] }) }, async (rig) => {
    assertEquals(await callsFor(rig, GET, ["x-noise", "1"], ["x-noise", "2"]), 1);
    assertEquals(await callsFor(rig, GET, ["x-user", "1"], ["x-user", "2"]), 2);
    assertEquals(await callsFor(rig, OTHER, ["x-noise", "1"], ["x-noise", "2"]), 2);
  });
});

Deno.test("Method's own keyHeaders are all of its key, also a name that is left out for all others", async () => {
  const options = { ignoreHeaders: ["x-user"], policies: policyOf({ keyHeaders: ["x-user"] }) };
  await withRig(options, async (rig) => {
    assertEquals(await callsFor(rig, GET, ["x-user", "1"], ["x-user", "2"], ["x-user", "1"]), 2);
    assertEquals(await callsFor(rig, GET, ["x-noise", "1"], ["x-noise", "2"]), 1);
    assertEquals(await callsFor(rig, OTHER, ["x-user", "1"], ["x-user", "2"]), 1);
  });
});

Deno.test("Method's key heeds a name from the moment its policy says so, on connections that are open", async () => {
  await withRig({ ignoreHeaders: ["x-user"] }, async (rig) => {
    const caller = await rig.caller();
    const ask = async (user: string) => {
      const call = caller.call(GET, "k", { metadata: [["x-user", user]] });
      await rig.settle();
      return call;
    };
    await ask("1");
    rig.request(0).replies(["of 1"]);
    rig.proxy.setPolicies(policyOf({ keyHeaders: ["x-user"] }));
    await ask("1");
    await ask("2");
    rig.expectsRequests(3);
    for (const request of rig.requests.slice(1)) request.echoes();
    await rig.settle();
  });
});

Deno.test("Method's own bounds hold for its calls alone", async () => {
  const bounds = { maxMessageBytes: 1, maxFollowers: 1, joinMaxAgeMs: 50 };
  await withRig({ policies: policyOf(bounds) }, async (rig) => {
    const caller = await rig.caller();
    for (const path of [GET, OTHER]) {
      for (let i = 0; i < 2; i++) caller.call(path, "two");
      await rig.settle();
    }
    rig.expectsRequests(2 + 1);
    for (const path of [GET, OTHER]) for (let i = 0; i < 3; i++) caller.call(path, "1");
    await rig.settle();
    rig.expectsRequests(3 + 2 + 1); // one leads, one follows, one is too many
    await rig.advance(60);
    for (const path of [GET, OTHER]) caller.call(path, "1");
    await rig.settle();
    rig.expectsRequests(6 + 1);
    for (const request of [...rig.requests]) request.echoes();
    await rig.settle();
  });
});

Deno.test("Method's own reply bound keeps a larger reply for nobody", async () => {
  await withRig({ policies: policyOf({ maxMessageBytes: 4 }) }, async (rig) => {
    const caller = await rig.caller();
    for (const path of [GET, OTHER, GET, OTHER]) {
      caller.call(path, "k");
      await rig.settle();
      const last = rig.requests.at(-1)!;
      if (!last.isOver) last.replies(["more than four"]);
      await rig.settle();
    }
    rig.expectsRequests(2 + 1);
  });
});

Deno.test("Method that its policy takes out passes, and its calls outdate nothing", async () => {
  const policies = policyOf({ mode: "off" });
  await withRig({ policies, cacheDurationMs: 5_000 }, async (rig) => {
    assertEquals(await callsFor(rig, OTHER, ["a", "1"]), 1);
    assertEquals(await callsFor(rig, GET, ["a", "1"], ["a", "1"]), 2);
    assertEquals(await callsFor(rig, OTHER, ["a", "1"]), 0);
    assertEquals(rig.proxy.counters.passed.mode, 2);
  });
});

Deno.test("Backend of a shared call is told the method's time-out, whatever its callers have", async () => {
  const policies = [{ service: SERVICE, method: GET_ITEM, timeoutMs: 3_000 }];
  await withRig({ policies }, async (rig) => {
    const caller = await rig.caller();
    caller.call(GET, "1");
    caller.call(GET, "2", { metadata: [["grpc-timeout", "20S"]] });
    caller.call(PUT, "3", { metadata: [["grpc-timeout", "20S"]] });
    await rig.settle();
    assertEquals(rig.requests.map((request) => valueOf(request.fields, "grpc-timeout")), [
      "3S",
      "3S",
      "20S",
    ]);
    for (const request of [...rig.requests]) request.echoes();
    await rig.settle();
  });
});
