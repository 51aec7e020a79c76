import { assert, assertEquals } from "@std/assert";
import type { CallerEnd } from "../support/caller_end.ts";
import { GET, PUT, type RigOptions, withRig } from "../support/proxy_rig.ts";

const AGE_MS = 60_000;
const GRACE_MS = 5_000;
const AGED: RigOptions = { maxConnectionAgeMs: AGE_MS, maxConnectionAgeGraceMs: GRACE_MS };

/** Whatever chance says, a connection is told to go by then. */
const LATEST_MS = AGE_MS * 1.1;

Deno.test("ConnectionAge tells a caller to go at its age, give or take a tenth, and lets its calls end", async () => {
  await withRig(AGED, async (rig) => {
    const caller = await rig.caller();
    const call = caller.call(PUT, "1"); // which passes, and has no end by time
    await rig.advance(AGE_MS * 0.9 - 100);
    assertEquals(caller.seen("GOAWAY"), []);
    for (let ms = 0; caller.seen("GOAWAY").length === 0; ms += 100) {
      assert(ms < LATEST_MS - AGE_MS * 0.9 + 200, "it may stay");
      await rig.advance(100);
    }
    assert(!caller.socket.isClosed);
    rig.request(0).echoes();
    await rig.advance(1_000); // for a caller that does not say that it has seen it
    call.expects(0, "re:1");
    caller.socket.ends();
    await rig.settle();
    assert(caller.socket.isClosed);
    const [fault] = caller.seen("GOAWAY");
    assertEquals(fault!.code, "NO_ERROR");
  });
});

Deno.test("ConnectionAge ends the calls that are left after the grace with 14, and words", async () => {
  await withRig(AGED, async (rig) => {
    const caller = await rig.caller();
    const call = caller.call(PUT, "endless");
    await rig.advance(LATEST_MS + GRACE_MS - AGE_MS * 0.2 - 100);
    call.expectsNothing();
    await rig.advance(AGE_MS * 0.2 + 200);
    call.expectsFailure(
      14,
      "the connection is too old, and so is its grace (GRPC_MAX_CONNECTION_AGE)",
    );
    await rig.advance(2_000);
    assert(caller.socket.isClosed);
    assert(rig.request(0).isOver);
  });
});

Deno.test("ConnectionAge closes a connection without calls as soon as it may, and new ones live on", async () => {
  await withRig(AGED, async (rig) => {
    const old = await rig.caller();
    await rig.advance(LATEST_MS - 1_000);
    const young = await rig.caller();
    await rig.advance(3_000);
    assert(old.socket.isClosed);
    assert(!young.socket.isClosed);
    const call = young.call(GET, "1");
    await rig.settle();
    rig.requests.at(-1)!.echoes();
    await rig.settle();
    call.expects(0, "re:1");
  });
});

Deno.test("ConnectionAge spreads callers who came together", async () => {
  await withRig(AGED, async (rig) => {
    const callers: CallerEnd[] = [];
    for (let i = 0; i < 20; i++) callers.push(await rig.caller());
    const gone = () => callers.filter((caller) => caller.seen("GOAWAY").length > 0).length;
    await rig.advance(AGE_MS * 0.9 - 500);
    assertEquals(gone(), 0);
    await rig.advance(AGE_MS * 0.1 + 500);
    const half = gone();
    assert(half > 0 && half < 20, `${half}`);
    await rig.advance(AGE_MS * 0.1 + 500);
    assertEquals(gone(), 20);
  });
});

Deno.test("ConnectionAge leaves connections alone where it is 0", async () => {
  await withRig({}, async (rig) => {
    const caller = await rig.caller();
    await rig.advance(24 * 3_600_000);
    assertEquals([caller.seen("GOAWAY"), caller.socket.isClosed], [[], false]);
  });
});
