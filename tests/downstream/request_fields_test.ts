import { assertEquals } from "@std/assert";
import type { Pairs } from "../support/frames.ts";
import { GET, PUT, withRig } from "../support/proxy_rig.ts";

const PASSED = "the call's deadline has passed";

Deno.test("Call with a grpc-timeout outside the grammar ends with 13 and reaches nobody (scenario 29)", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const healthy = caller.call(PUT, "healthy");
    await rig.settle();
    for (const value of ["123456789m", "10", "-5S", "5s", "1e3m", "S", "", "5 S"]) {
      const call = caller.call(GET, "1", { metadata: timeout(value) });
      const open = caller.call(PUT, undefined, { ends: false, metadata: timeout(value) });
      await rig.settle();
      call.expectsFailure(13, `cannot read the grpc-timeout "${value}"`);
      open.expectsFailure(13, `cannot read the grpc-timeout "${value}"`);
      assertEquals(open.reply.reset, "NO_ERROR"); // no more of the request is wanted
    }
    rig.expectsRequests(1);
    rig.request(0).replies(["fine"]);
    await rig.settle();
    healthy.expects(0, "fine");
    assertEquals(rig.outcomes, { passed: 1, rejected: 16 });
  });
});

Deno.test("Call whose time is up when it comes ends with 4 at once and reaches nobody", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    for (const value of ["0S", "0n", "00000000m"]) {
      const call = caller.call(GET, "1", { metadata: timeout(value) });
      await rig.settle();
      call.expectsFailure(4, PASSED);
    }
    rig.expectsRequests(0);
    assertEquals(rig.outcomes, { rejected: 3 });
  });
});

function timeout(value: string): Pairs {
  return [["grpc-timeout", value]];
}
