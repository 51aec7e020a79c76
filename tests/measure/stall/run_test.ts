import { assert, assertEquals, assertRejects } from "@std/assert";
import { STATUS } from "../../../lib/grpc/mod.ts";
import type { PacerClock } from "../../../lib/measure/load/pacer.ts";
import type { Breakable } from "../../../lib/measure/stall/fault.ts";
import { type StallPlan, StallRun } from "../../../lib/measure/stall/run.ts";
import type { OpenSystem } from "../../../lib/measure/stall/systems.ts";
import { FakeClock } from "../../support/fake_clock.ts";

const PLAN: StallPlan = {
  fault: "stall",
  faulted: 0,
  shards: 3,
  seed: 1,
  perSecond: 300,
  deadlineMs: 200,
  beforeMs: 1_000,
  stallMs: 2_000,
  afterMs: 1_000,
};

class TestClock extends FakeClock implements PacerClock {
  soon(wake: () => void): () => void {
    return this.after(0.01, wake);
  }

  /** Time goes on until nobody waits for it. */
  async run(): Promise<void> {
    for (let turn = 0; turn < 3; turn++) {
      while (this.step(this.now() + 60_000)) await undefined;
    }
  }
}

/** A system that answers after 5 ms, but for the first backend while it is broken. */
class TestSystem implements OpenSystem, Breakable {
  readonly clock = new TestClock();
  readonly called: [shard: number, dueMs: number][] = [];
  readonly faults: [name: string, atMs: number][] = [];
  #isBroken = false;

  call(
    shard: number,
    _body: unknown,
    dueMs: number,
    onAnswer: (status: number, endedMs: number) => void,
  ): void {
    this.called.push([shard, dueMs]);
    const isLost = this.#isBroken && shard === 0;
    const status = isLost ? STATUS.deadlineExceeded : STATUS.ok;
    const afterMs = isLost ? PLAN.deadlineMs : 5;
    this.clock.after(
      dueMs + afterMs - this.clock.now(),
      () => onAnswer(status, this.clock.now()),
    );
  }

  begin(fault: string): void {
    this.#isBroken = true;
    this.faults.push([fault, this.clock.now()]);
  }

  end(): void {
    this.#isBroken = false;
    this.faults.push(["end", this.clock.now()]);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

async function run(system: TestSystem, plan: Partial<StallPlan> = {}) {
  const running = new StallRun(system, { ...PLAN, ...plan }, system.clock).run(system);
  running.catch(() => {}); // it is awaited below, once time is over
  await system.clock.run();
  return await running;
}

Deno.test("StallRun brings the fault about when it should, and takes it away", async () => {
  const system = new TestSystem();
  const startMs = system.clock.now() + 1_000; // after the warm-up
  await run(system);
  assertEquals(system.faults, [["stall", startMs + 1_000], ["end", startMs + 3_000]]);
});

Deno.test("StallRun counts what was due from the beginning on, every call of it", async () => {
  const system = new TestSystem();
  const startMs = system.clock.now() + 1_000;
  const { before, during, after } = await run(system);
  const counted = before.all.calls + during.all.calls + after.all.calls;
  assertEquals(counted, system.called.filter(([, dueMs]) => dueMs >= startMs).length);
  assert(system.called.length - counted > 200, "a second of warm-up");
  assertEquals(before.all.good, before.all.calls);
  assertEquals(during.healthy.good, during.healthy.calls);
  assertEquals(during.faultedStatuses.OK ?? 0, 0);
  assertEquals(after.all.good, after.all.calls);
  assert(Math.abs(during.all.good / during.all.calls - 2 / 3) < 0.01);
});

Deno.test("StallRun makes the same calls at the same times for the same seed", async () => {
  const [one, other, different] = [new TestSystem(), new TestSystem(), new TestSystem()];
  await run(one);
  await run(other);
  await run(different, { seed: 2 });
  assertEquals(one.called, other.called);
  assert(one.called.length !== different.called.length || one.called[0] !== different.called[0]);
});

Deno.test("StallRun waits for nobody: calls go on while nothing is answered", async () => {
  const system = new TestSystem();
  const { during } = await run(system, { deadlineMs: 200 });
  const perSecond = during.all.calls / 2;
  assert(Math.abs(perSecond - 300) < 50, `${perSecond} calls a second`);
});

Deno.test("StallRun ends with what went wrong with the fault", async () => {
  const system = new TestSystem();
  system.begin = () => {
    throw new Error("no such process");
  };
  await assertRejects(() => run(system), Error, "no such process");
  assertEquals(system.faults.length, 1, "it is taken away all the same");
});
