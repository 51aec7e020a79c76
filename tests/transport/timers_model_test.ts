import { assert, assertEquals } from "@std/assert";
import { Alarm, Timers } from "../../lib/transport/mod.ts";
import { rng } from "../support/cuts.ts";
import { FakeClock } from "../support/fake_clock.ts";

const SLOT_MS = 4;
const SEEDS = 40;
const STEPS = 1_000;
const ALARMS = 60;

/** What should be true of one alarm that is set. */
interface Expected {
  readonly dueMs: number;
  readonly setMs: number;
}

class ModelAlarm extends Alarm {
  readonly model: TimersModel;

  constructor(model: TimersModel) {
    super();
    this.model = model;
  }

  override wake(nowMs: number, lateMs: number): void {
    this.model.woken(this, nowMs, lateMs);
  }
}

/** Alarms beside a plain list of what is set; every wake is compared with it. */
class TimersModel {
  readonly clock: FakeClock;
  readonly timers: Timers;
  readonly expected = new Map<ModelAlarm, Expected>();
  readonly alarms: ModelAlarm[];
  wakes = 0;
  #random: () => number;
  #about: string;
  /** The loop is busy, so that only what happened before counts as late. */
  #stalledSinceMs: number | undefined = undefined;

  constructor(seed: number) {
    this.#random = rng(seed);
    this.#about = `seed ${seed}`;
    this.clock = new FakeClock(this.#random() * 1e6);
    this.timers = new Timers(this.clock);
    this.alarms = Array.from({ length: ALARMS }, () => new ModelAlarm(this));
  }

  step(): void {
    const choice = this.#random();
    if (choice < 0.5) this.#set();
    else if (choice < 0.6) this.#cancel();
    else if (choice < 0.95) this.clock.advance(this.#aheadMs());
    else this.#stall();
    this.#checkLate();
    assertEquals(this.timers.pending, this.expected.size, this.#about);
  }

  /** An alarm was woken. */
  woken(alarm: ModelAlarm, nowMs: number, lateMs: number): void {
    const expected = this.expected.get(alarm);
    assert(expected !== undefined, `${this.#about}: an alarm was woken that is not set`);
    assertEquals(nowMs, this.clock.now(), this.#about);
    assertEquals(lateMs, nowMs - expected.dueMs, this.#about);
    assert(lateMs >= 0, `${this.#about}: ${-lateMs} ms too early`);
    const asideMs = this.#stalledSinceMs === undefined ? 0 : nowMs - this.#stalledSinceMs;
    const slackMs = nowMs - Math.max(expected.dueMs, expected.setMs) - asideMs;
    assert(slackMs <= SLOT_MS, `${this.#about}: ${slackMs} ms too late`);
    this.expected.delete(alarm);
    assert(!alarm.isSet, this.#about);
    this.wakes++;
    if (this.#random() < 0.3) this.#set();
    if (this.#random() < 0.3) this.#cancel();
  }

  /** Wakes what is left. */
  finish(): void {
    while (this.expected.size > 0 && this.wakes < 10 * STEPS) this.clock.advance(60_000);
    this.timers.stop();
    assertEquals(this.expected.size, 0, this.#about);
    assertEquals(this.timers.pending, 0, this.#about);
  }

  #set(): void {
    const alarm = this.#pick();
    const nowMs = this.clock.now();
    const dueMs = nowMs + (this.#random() < 0.2 ? -this.#aheadMs() : this.#aheadMs());
    this.expected.set(alarm, { dueMs, setMs: nowMs });
    this.timers.set(alarm, dueMs);
    assert(alarm.isSet, this.#about);
  }

  #cancel(): void {
    const alarm = this.#pick();
    this.expected.delete(alarm);
    this.timers.cancel(alarm);
    assert(!alarm.isSet, this.#about);
  }

  #stall(): void {
    this.#stalledSinceMs = this.clock.now();
    this.clock.stall(this.#aheadMs());
    this.#stalledSinceMs = undefined;
  }

  /** Nothing that was due more than a slot ago may still wait. */
  #checkLate(): void {
    const nowMs = this.clock.now();
    for (const { dueMs, setMs } of this.expected.values()) {
      const waitedMs = nowMs - Math.max(dueMs, setMs);
      assert(waitedMs <= SLOT_MS, `${this.#about}: an alarm is forgotten for ${waitedMs} ms`);
    }
  }

  /** Mostly short, now and then within the ring, at its edge, or far beyond. */
  #aheadMs(): number {
    const choice = this.#random();
    if (choice < 0.5) return this.#random() * 20;
    if (choice < 0.7) return Math.floor(this.#random() * 10) * SLOT_MS;
    if (choice < 0.9) return this.#random() * 4_096;
    if (choice < 0.95) return 4_096 + Math.floor(this.#random() * 7 - 3) * SLOT_MS;
    return this.#random() * 40_000;
  }

  #pick(): ModelAlarm {
    return this.alarms[Math.floor(this.#random() * ALARMS)]!;
  }
}

Deno.test("Timers does what a plain list of alarms would, whatever the order of things", () => {
  let wakes = 0;
  for (let seed = 1; seed <= SEEDS; seed++) {
    const model = new TimersModel(seed);
    for (let step = 0; step < STEPS; step++) model.step();
    model.finish();
    wakes += model.wakes;
  }
  assert(wakes > SEEDS * STEPS / 10, `only ${wakes} wakes`); // else it tests next to nothing
});
