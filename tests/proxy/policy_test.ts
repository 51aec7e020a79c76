import { assertEquals } from "@std/assert";
import { GET, PUT, withRig } from "../support/proxy_rig.ts";

const [, SERVICE = "", GET_ITEM = ""] = GET.split("/");

Deno.test("Proxy keeps the results of a method as long as the policy says", async () => {
  const policies = [{ service: SERVICE, method: GET_ITEM, collapser: { cacheDurationMs: 5_000 } }];
  await withRig({ policies }, async (rig) => {
    const caller = await rig.caller();
    caller.call(GET, "1");
    await rig.settle();
    rig.request(0).echoes();
    await rig.advance(4_900);
    const late = caller.call(GET, "1");
    await rig.settle();
    late.expects(0, "re:1");
    rig.expectsRequests(1);
    await rig.advance(200);
    caller.call(GET, "1");
    await rig.settle();
    rig.expectsRequests(2);
    rig.request(1).echoes();
    await rig.settle();
  });
});

Deno.test("Proxy collapses what the policy says collapses, and nothing that it says does not", async () => {
  const policies = [
    { service: SERVICE, method: GET_ITEM, collapser: { collapse: false } },
    { service: SERVICE, method: "", collapser: { collapse: true } },
    { service: "", method: "", collapser: { collapse: true } },
  ];
  await withRig({ policies }, async (rig) => {
    const caller = await rig.caller();
    const health = "/grpc.health.v1.Health/Check"; // never, whatever anybody says
    for (const path of [GET, PUT, "/other.Service/Do", health]) {
      caller.call(path, "1");
      caller.call(path, "1");
    }
    await rig.settle();
    const counts = [GET, PUT, "/other.Service/Do", health].map((path) =>
      rig.requests.filter((request) => request.path === path).length
    );
    assertEquals(counts, [2, 1, 1, 2]);
    for (const request of [...rig.requests]) request.echoes();
    await rig.settle();
  });
});

Deno.test("Proxy.setPolicies is in force for the next call, and forgets what was stored under the old one", async () => {
  await withRig({ cacheDurationMs: 10_000 }, async (rig) => {
    const caller = await rig.caller();
    caller.call(GET, "1");
    await rig.settle();
    rig.request(0).echoes();
    await rig.settle();
    rig.proxy.setPolicies([{ service: SERVICE, method: "", collapser: { cacheDurationMs: 0 } }]);
    for (const count of [2, 3]) {
      caller.call(GET, "1");
      await rig.settle();
      rig.expectsRequests(count);
      rig.request(-1).echoes();
      await rig.settle();
    }
  });
});
