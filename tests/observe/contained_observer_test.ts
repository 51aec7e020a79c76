import { assert, assertEquals } from "@std/assert";
import { data, goAway, raw } from "../support/frames.ts";
import { GET, withRig } from "../support/proxy_rig.ts";

Deno.test("containedObserver keeps an observer that throws from doing any harm", async () => {
  const faults: string[] = [];
  function boom(): never {
    throw new Error("boom");
  }
  const observer = {
    methodJudged: boom,
    connectionFailed: boom,
    backendUp: boom,
    backendDown: boom,
    faultOfOurs: (what: string, error: unknown) => void faults.push(`${what}: ${error}`),
  };
  await withRig({ observer, dialling: "refuses" }, async (rig) => {
    rig.dialling = "accepts";
    await rig.advance(700); // it is asked again all the same
    assertEquals(rig.proxy.readiness.ready, true);
    const [caller, bad] = [await rig.caller(), await rig.caller()];
    const call = caller.call(GET, "1");
    await rig.settle();
    rig.request(0).replies(["one"]);
    await rig.settle();
    call.expects(0, "one");
    bad.sends(raw(6, {}, new Uint8Array(3)));
    await rig.settle();
    assertEquals(bad.seen("GOAWAY").length, 1);
    rig.backend.sends(data(0, "x"));
    await rig.settle();
    assertEquals(rig.backends[0]!.seen("GOAWAY").length, 1);
    rig.backend.sends(goAway(0, 0));
    await rig.advance(700);
    assertEquals(rig.proxy.readiness.ready, true);
    assert(faults.length >= 5, `${faults.length} faults`);
    for (const fault of faults) assertEquals(fault, "telling the observer: Error: boom");
  });
});
