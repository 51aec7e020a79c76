import { assertEquals } from "@std/assert";
import { INSTANCE_SETTING } from "../../lib/connection/settings.ts";
import { BackendInstances } from "../../lib/upstream/mod.ts";
import { GET, PUT, withRig } from "../support/proxy_rig.ts";

Deno.test("BackendInstances knows a process as long as one connection to it is open", () => {
  const instances = new BackendInstances();
  instances.met(0); // something else than this program
  instances.met(5);
  instances.met(5);
  assertEquals([instances.has(0), instances.has(5), instances.has(6)], [false, true, false]);
  instances.left(5);
  assertEquals(instances.has(5), true);
  instances.left(5);
  instances.left(5);
  assertEquals(instances.has(5), false);
});

Deno.test("a call from a sidecar that is our backend is answered at once, and sent nowhere", async () => {
  await withRig({ backendSettings: [[INSTANCE_SETTING, 9]] }, async (rig) => {
    const circle = await rig.caller([[INSTANCE_SETTING, 9]]);
    const chain = await rig.caller([[INSTANCE_SETTING, 8]]); // another sidecar, in front of us
    const calls = [circle.call(GET, "1"), circle.call(PUT, "2")];
    await rig.settle();
    for (const call of calls) {
      call.expectsFailure(14, "the backend cannot be reached: it leads back here");
    }
    rig.expectsRequests(0);
    const call = chain.call(GET, "3");
    await rig.settle();
    rig.request(0).replies(["three"]);
    await rig.settle();
    call.expects(0, "three");
    rig.backends[0]!.socket.ends(); // what is a backend no more may call
    rig.backendSettings = undefined;
    await rig.settle();
    const later = circle.call(GET, "4");
    await rig.advance(1_000);
    rig.request(1).replies(["four"]);
    await rig.settle();
    later.expects(0, "four");
  });
});
