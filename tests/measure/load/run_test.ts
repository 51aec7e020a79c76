import { assert, assertEquals } from "@std/assert";
import { STATUS } from "../../../lib/grpc/mod.ts";
import { keyBodies } from "../../../lib/measure/client/key_message.ts";
import { type LoadPlan, LoadRun } from "../../../lib/measure/load/run.ts";
import type { PacerClock } from "../../../lib/measure/load/pacer.ts";
import { clientOf } from "../../support/client.ts";
import { GatedBackend } from "../../support/gated_backend.ts";
import { type ClientRig, PATH, withClient } from "../client_rig.ts";

type Plan = Omit<LoadPlan, "method" | "bodyOf">;

/** The rig's clock, for a pacer too: the next turn of the loop comes with the next waking. */
function pacerClock({ clock }: ClientRig): PacerClock {
  return {
    now: () => clock.now(),
    after: (ms, wake) => clock.after(ms, wake),
    soon: (wake) => clock.after(0.1, wake),
  };
}

function startRun(rig: ClientRig, plan: Plan & { deadlineMs?: number }) {
  const { deadlineMs, ...rest } = plan;
  const method = rig.client.method({ path: PATH, deadlineMs });
  const run = new LoadRun(rig.client, { ...rest, method, bodyOf: keyBodies() }, pacerClock(rig));
  let over = false;
  const done = run.run().then(() => void (over = true));
  return { run, done, isOver: () => over };
}

/** Answers every open request. */
async function answerAll(rig: ClientRig): Promise<void> {
  for (const server of rig.servers) for (const request of server.open) request.replies(["x"]);
  await rig.settle();
}

Deno.test("LoadRun keeps as many calls under way as there are callers, key after key", async () => {
  await withClient({}, async (rig) => {
    const { run, done } = startRun(rig, { callers: 3, keys: 2, calls: 8 });
    await rig.settle();
    assertEquals([run.begun, run.underWay], [3, 3]);
    rig.request(1).replies(["x"]);
    await rig.settle();
    assertEquals([run.begun, run.underWay], [4, 3]);
    while (rig.servers[0]!.open.length > 0) await answerAll(rig);
    await done;
    assertEquals([run.begun, run.underWay, run.tally.succeeded], [8, 0, 8]);
    const asked = rig.requests.map(({ messages }) => messages[0]!.slice(2));
    assertEquals(asked, ["key-0", "key-1", "key-0", "key-1", "key-0", "key-1", "key-0", "key-1"]);
  });
});

Deno.test("LoadRun begins no calls after its time, and waits for those under way", async () => {
  await withClient({}, async (rig) => {
    const { run, done, isOver } = startRun(rig, { callers: 2, keys: 1, durationMs: 1_000 });
    await rig.advance(600);
    await answerAll(rig);
    assertEquals(run.begun, 4);
    await rig.advance(600);
    await answerAll(rig);
    await done;
    assertEquals([run.begun, run.tally.succeeded, isOver()], [4, 4, true]);
    assertEquals(run.elapsedMs, 1_200);
    assertEquals(run.tally.latency.maxMs, 600);
  });
});

Deno.test("LoadRun gives up on answers that never come, which closing then counts", async () => {
  await withClient({}, async (rig) => {
    const { run, isOver } = startRun(rig, { callers: 3, keys: 1, calls: 3 });
    await rig.advance(8_000);
    rig.request(0).replies(["x"]);
    await rig.advance(25_000);
    assertEquals(isOver(), false, "some came in the last 30 s");
    await rig.advance(30_000);
    assertEquals([isOver(), run.underWay], [true, 2]);
    await rig.client.close();
    assertEquals([...run.tally.statuses], [[STATUS.ok, 1], [STATUS.cancelled, 2]]);
    assertEquals([run.begun, run.tally.failed], [3, 2]);
  });
});

Deno.test("LoadRun counts failures and keeps calling", async () => {
  await withClient({}, async (rig) => {
    const { run, done } = startRun(rig, { callers: 1, keys: 1, calls: 3, deadlineMs: 100 });
    await rig.settle();
    rig.request(0).fails(STATUS.unavailable, [["grpc-message", "not now"]]);
    await rig.advance(400);
    rig.request(2).replies(["x"], { trailers: [["x-collapser", "hit"]] });
    await rig.settle();
    await done;
    const { statuses, outcomes, messages, latency, failed } = run.tally;
    assertEquals([...statuses], [[14, 1], [4, 1], [0, 1]]);
    assertEquals([...outcomes], [["hit", 1]]);
    assertEquals([...messages], [[14, "not now"], [4, "no answer by the deadline"]]);
    assertEquals([latency.count, failed], [1, 2]);
  });
});

Deno.test("LoadRun in an open loop calls on time whatever comes back, and counts from when it was due", async () => {
  await withClient({}, async (rig) => {
    const { run, done } = startRun(rig, {
      callers: 1,
      keys: 1,
      callsPerSecond: 100,
      durationMs: 1_000,
    });
    await rig.advance(500);
    assert(Math.abs(run.begun - 50) <= 1, `${run.begun} calls in half a second`);
    assertEquals(run.tally.ended, 0);
    // The generator itself stands still: what was due meanwhile has waited, and is made now.
    const begun = run.begun;
    rig.clock.jump(rig.clock.now() + 400);
    await rig.advance(1);
    assert(Math.abs(run.begun - begun - 40) <= 1, `${run.begun - begun} in 400 ms`);
    assert(run.lateness.maxMs > 380, `${run.lateness.maxMs}`);
    await answerAll(rig);
    const { latency } = run.tally;
    assert(latency.minMs >= 1, "the last one was due just before");
    const recent = latency.countBetween(-1, 100);
    assert(Math.abs(recent - 10) <= 1, `${recent} were due in the last 100 ms`);
    assert(latency.maxMs > 890, `${latency.maxMs}`);
    await rig.advance(200);
    await answerAll(rig);
    await done;
    assertEquals([run.begun, run.tally.succeeded], [100, 100]);
  });
});

Deno.test("LoadRun makes thousands of calls at once against a server that counts", async () => {
  await using backend = new GatedBackend();
  await using client = await clientOf(backend.port, { connections: 4 });
  const run = new LoadRun(client, {
    callers: 10_000,
    calls: 10_000,
    keys: 1,
    method: client.method({ path: PATH }),
    bodyOf: keyBodies(),
  });
  const done = run.run();
  await backend.holds(10_000);
  backend.release();
  await done;
  assertEquals([backend.calls, run.tally.succeeded, run.tally.failed], [10_000, 10_000, 0]);
});

Deno.test("LoadRun in an open loop leaves no call out, however late the last ones are", async () => {
  await withClient({}, async (rig) => {
    const { run, done } = startRun(rig, {
      callers: 1,
      keys: 1,
      callsPerSecond: 3,
      gapMs: () => 700,
      durationMs: 1_000,
    });
    await rig.advance(10);
    await answerAll(rig);
    await rig.advance(1_000);
    assertEquals(run.begun, 2, "the third is due when the time is up");
    await rig.advance(1_000);
    assertEquals(run.begun, 3);
    await rig.advance(400);
    await answerAll(rig);
    await done;
    assertEquals(run.tally.succeeded, 3);
    // The first took 10 ms at most, the last was due at 1,400 ms and ended after 2,410.
    assert(run.backlogShare > 0.71 && run.backlogShare < 0.73, `${run.backlogShare}`);
  });
});

Deno.test("LoadRun in an open loop follows the gaps that it is given", async () => {
  await withClient({}, async (rig) => {
    const gaps = [5, 1, 100, 1, 1];
    const { run, done } = startRun(rig, {
      callers: 1,
      keys: 1,
      callsPerSecond: 1,
      gapMs: () => gaps.shift() ?? 1,
      calls: 5,
    });
    await rig.advance(50);
    assertEquals(run.begun, 3);
    await rig.advance(60);
    assertEquals(run.begun, 5);
    await answerAll(rig);
    await done;
    assertEquals(run.tally.succeeded, 5);
  });
});
