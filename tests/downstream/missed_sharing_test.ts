import { assertEquals } from "@std/assert";
import { GET, PUT, withRig } from "../support/proxy_rig.ts";

Deno.test("MissedSharing names the first method that does not collapse though its calls are equal", async () => {
  const heard: string[] = [];
  const observer = { couldHaveCollapsed: (method: string) => heard.push(method) };
  await withRig({ observer }, async (rig) => {
    const caller = await rig.caller();
    caller.call(PUT, "same");
    await rig.settle();
    caller.call(PUT, "other");
    await rig.settle();
    assertEquals(heard, []); // not equal
    caller.call(PUT, "other");
    await rig.settle();
    assertEquals(heard, [PUT]);
    caller.call(PUT, "other");
    caller.call("/test.Service/Say", "1");
    caller.call("/test.Service/Say", "1");
    await rig.settle();
    assertEquals(heard, [PUT]); // once is enough
    for (const request of rig.requests) request.echoes();
    await rig.settle();
  });
});

Deno.test("MissedSharing says nothing of equal calls one after the other", async () => {
  const heard: string[] = [];
  const observer = { couldHaveCollapsed: (method: string) => heard.push(method) };
  await withRig({ observer }, async (rig) => {
    const caller = await rig.caller();
    for (let i = 0; i < 3; i++) {
      caller.call(PUT, "same");
      await rig.settle();
      rig.request(i).echoes();
      await rig.settle();
    }
    assertEquals(heard, []);
  });
});

Deno.test("MissedSharing names metadata that alone keeps the calls of an eligible method apart, once", async () => {
  const heard: string[] = [];
  const observer = { keptApartBy: (_: string, name: string) => heard.push(name) };
  await withRig({ observer }, async (rig) => {
    const caller = await rig.caller();
    caller.call(GET, "1", { metadata: [["x-hop", "a"]] });
    await rig.settle();
    caller.call(GET, "2", { metadata: [["x-hop", "b"]] });
    await rig.settle();
    assertEquals(heard, []); // another message
    caller.call(GET, "2", { metadata: [["x-hop", "c"], ["x-user", "u"]] });
    await rig.settle();
    assertEquals(heard, []); // two names
    caller.call(GET, "2", { metadata: [["x-hop", "d"], ["x-user", "u"]] });
    await rig.settle();
    assertEquals(heard, ["x-hop"]);
    caller.call(GET, "2", { metadata: [["x-hop", "e"], ["x-user", "u"]] });
    await rig.settle();
    assertEquals(heard, ["x-hop"]);
    for (const request of rig.requests) request.echoes();
    await rig.settle();
  });
});
