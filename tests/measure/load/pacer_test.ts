import { assert, assertEquals } from "@std/assert";
import { Pacer, type PacerClock } from "../../../lib/measure/load/pacer.ts";
import { FakeClock } from "../../support/fake_clock.ts";

/** A clock whose event loop turns when the test says so, each turn taking a while. */
class TurningClock extends FakeClock implements PacerClock {
  turns = 0;
  #soon: (() => void) | undefined = undefined;

  soon(wake: () => void): () => void {
    this.#soon = wake;
    return () => this.#soon = undefined;
  }

  /** Lets time pass until nobody waits for anything, or the turns are used up. */
  run({ turnMs = 0.01, turns = 1_000_000 } = {}): void {
    for (; turns > 0; turns--) {
      const wake = this.#soon;
      this.#soon = undefined;
      if (wake !== undefined) {
        this.turns++;
        this.jump(this.now() + turnMs);
        wake();
      } else if (!this.step(this.now() + 10_000)) return;
    }
  }
}

function pace(clock: TurningClock, perSecond: number, total: number) {
  const startMs = clock.now();
  const due: number[] = [];
  const late: number[] = [];
  let done = 0;
  const pacer = new Pacer({
    clock,
    perSecond,
    total,
    onDue: (dueMs) => {
      due.push(dueMs - startMs);
      late.push(clock.now() - dueMs);
    },
    onDone: () => done++,
  });
  return { pacer, due, late, done: () => done };
}

Deno.test("Pacer says every call in even steps, soon after it is due", () => {
  for (const perSecond of [1, 7, 250, 1_000, 30_000]) {
    const clock = new TurningClock();
    const { due, late, done } = pace(clock, perSecond, 100);
    clock.run();
    assertEquals(due.length, 100);
    assert(due.every((ms, i) => Math.abs(ms - i * 1_000 / perSecond) < 1e-6), due.join());
    assert(late.every((ms) => ms >= 0 && ms <= 0.02), `${perSecond}: ${Math.max(...late)} ms late`);
    assertEquals(done(), 1);
  }
});

Deno.test("Pacer sleeps through the time that a timer can be trusted with", () => {
  const clock = new TurningClock();
  pace(clock, 10, 5);
  clock.run();
  assert(clock.turns < 5 * 3 / 0.01 + 10, `${clock.turns} turns for 5 calls 100 ms apart`);
});

Deno.test("Pacer leaves nothing out after a stall, and keeps to the times that were due", () => {
  const clock = new TurningClock();
  const { due, late } = pace(clock, 1_000, 1_000);
  clock.run({ turns: 150 });
  const before = due.length;
  clock.jump(clock.now() + 500);
  clock.run({ turns: 1 });
  assertEquals(due.length, before + 500);
  assert(Math.abs(late[before]! - 500) < 2, `the first is ${late[before]} ms late`);
  clock.run();
  assertEquals(due, Array.from({ length: 1_000 }, (_, i) => i));
});

Deno.test("Pacer keeps to times that it is given, and does not look out for them unless it should", () => {
  const clock = new TurningClock();
  const startMs = clock.now();
  const offsets = [0, 3, 3, 40, 41.5, 600];
  const due: number[] = [];
  new Pacer({
    clock,
    perSecond: 1,
    offsetMs: (index) => offsets[index]!,
    lookMs: 0,
    total: offsets.length,
    onDue: (dueMs) => due.push(dueMs - startMs),
    onDone: () => {},
  });
  clock.run();
  assertEquals(due, offsets);
  assert(clock.turns < 20, `${clock.turns} turns`);
});

Deno.test("Pacer.stop ends it", () => {
  for (const perSecond of [1, 10_000]) {
    const clock = new TurningClock();
    const { pacer, due, done } = pace(clock, perSecond, 100);
    clock.run({ turns: 3 });
    pacer.stop();
    const before = due.length;
    clock.run();
    assertEquals([due.length, done()], [before, 0]);
  }
});
