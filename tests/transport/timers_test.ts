import { assert, assertEquals } from "@std/assert";
import { Alarm, CallbackAlarm, SYSTEM_CLOCK, Timers } from "../../lib/transport/mod.ts";
import { FakeClock } from "../support/fake_clock.ts";

/** Deadlines are kept to within this. */
const SLOT_MS = 4;

/** How far ahead the wheel sees: what is due later is looked at once in this time. */
const RING_MS = 1_024 * SLOT_MS;

/** Remembers when it was woken, and how late it was told that it is. */
class RecordingAlarm extends Alarm {
  readonly wakes: { nowMs: number; lateMs: number }[] = [];

  override wake(nowMs: number, lateMs: number): void {
    this.wakes.push({ nowMs, lateMs });
  }

  get count(): number {
    return this.wakes.length;
  }
}

function setup(startMs = 0): { clock: FakeClock; timers: Timers } {
  const clock = new FakeClock(startMs);
  return { clock, timers: new Timers(clock) };
}

Deno.test("Timers wakes an alarm once, never early and at most a slot late", () => {
  for (const startMs of [0, 1, 3.999, 4, 1_000_003.25]) {
    for (const aheadMs of [0, 0.5, 1, 3.9, 4, 4.1, 100, RING_MS - 4, RING_MS, RING_MS + 4, 1e6]) {
      const { clock, timers } = setup(startMs);
      const alarm = new RecordingAlarm();
      timers.set(alarm, startMs + aheadMs);
      clock.advance(aheadMs + SLOT_MS);
      const about = `${aheadMs} ms ahead of ${startMs}`;
      assertEquals(alarm.count, 1, about);
      const { nowMs, lateMs } = alarm.wakes[0]!;
      assert(nowMs >= alarm.dueMs && nowMs <= alarm.dueMs + SLOT_MS, `${about}: ${nowMs}`);
      assertEquals(lateMs, nowMs - alarm.dueMs, about);
      clock.advance(2 * RING_MS);
      assertEquals(alarm.count, 1, about);
    }
  }
});

Deno.test("Timers wakes an alarm due in the past with the next slot, however long ago it was", () => {
  for (const agoMs of [0, 1, 4, 5, RING_MS - 4, RING_MS, RING_MS + 1, 1e7]) {
    for (const quietMs of [0, 1, 100, RING_MS, 3 * RING_MS + 2]) {
      const { clock, timers } = setup(1e8);
      const before = new RecordingAlarm();
      timers.set(before, clock.now());
      clock.advance(SLOT_MS);
      clock.advance(quietMs);
      const alarm = new RecordingAlarm();
      timers.set(alarm, clock.now() - agoMs);
      assertEquals(alarm.count, 0, "not from within set");
      clock.advance(SLOT_MS);
      assertEquals(alarm.count, 1, `${agoMs} ms ago, after ${quietMs} quiet ms`);
    }
  }
});

Deno.test("Timers tells how late a busy loop made it, and how late an alarm for the past was set", () => {
  const { clock, timers } = setup();
  const [stalled, past] = [new RecordingAlarm(), new RecordingAlarm()];
  timers.set(stalled, 10);
  clock.stall(250);
  assertEquals(stalled.wakes, [{ nowMs: 250, lateMs: 240 }]);
  timers.set(past, 50);
  clock.stall(4);
  assertEquals(past.wakes, [{ nowMs: 254, lateMs: 204 }]);
});

Deno.test("Timers wakes everything that a sleep of more than a ring ran over, each once", () => {
  const { clock, timers } = setup(77);
  const alarms = Array.from({ length: 5_000 }, () => new RecordingAlarm());
  for (const [i, alarm] of alarms.entries()) timers.set(alarm, 77 + i * 3);
  clock.stall(15_000 + 77);
  assertEquals(alarms.filter((alarm) => alarm.count !== 1).length, 0);
  assertEquals(timers.pending, 0);
});

Deno.test("Timers leaves an alarm alone that is a ring or more away in a slot that is swept", () => {
  const { clock, timers } = setup();
  const alarms = Array.from({ length: 10 }, () => new RecordingAlarm());
  for (const [ring, alarm] of alarms.entries()) timers.set(alarm, 2 + ring * RING_MS);
  for (let ring = 0; ring < alarms.length; ring++) {
    clock.advance(SLOT_MS);
    assertEquals(alarms.map((alarm) => alarm.count), alarms.map((_, i) => i <= ring ? 1 : 0));
    clock.advance(RING_MS - SLOT_MS);
  }
});

Deno.test("Timers.set moves an alarm that is set, to later and to earlier", () => {
  const { clock, timers } = setup();
  const alarm = new RecordingAlarm();
  timers.set(alarm, 100);
  timers.set(alarm, 1_000);
  assertEquals(timers.pending, 1);
  clock.advance(500);
  assertEquals(alarm.count, 0);
  timers.set(alarm, 600);
  clock.advance(104);
  assertEquals(alarm.wakes, [{ nowMs: 604, lateMs: 4 }]);
  clock.advance(RING_MS);
  assertEquals(alarm.count, 1);
});

Deno.test("Timers.set arms its one timer for an earlier alarm at once", () => {
  const { clock, timers } = setup();
  const [late, early] = [new RecordingAlarm(), new RecordingAlarm()];
  timers.set(late, 10_000);
  assertEquals(clock.armed, 1);
  timers.set(early, 20);
  assertEquals(clock.armed, 1);
  clock.advance(24);
  assertEquals([early.count, late.count], [1, 0]);
  clock.advance(10_000 - 20);
  assertEquals([early.count, late.count], [1, 1]);
});

Deno.test("Timers.set leaves the timer as it is for a later alarm", () => {
  const { clock, timers } = setup();
  timers.set(new RecordingAlarm(), 100);
  for (let i = 0; i < 1_000; i++) timers.set(new RecordingAlarm(), 200 + i);
  assertEquals(clock.armings, 1);
});

Deno.test("Timers.cancel keeps an alarm silent and leaves its neighbours in the slot", () => {
  for (const victim of [0, 1, 2]) {
    const { clock, timers } = setup();
    const alarms = [new RecordingAlarm(), new RecordingAlarm(), new RecordingAlarm()];
    for (const alarm of alarms) timers.set(alarm, 9);
    timers.cancel(alarms[victim]!);
    assertEquals(alarms.map((alarm) => alarm.isSet), [0, 1, 2].map((i) => i !== victim));
    assertEquals(timers.pending, 2);
    clock.advance(100);
    assertEquals(alarms.map((alarm) => alarm.count), [0, 1, 2].map((i) => i === victim ? 0 : 1));
  }
});

Deno.test("Timers.cancel does nothing to an alarm that is not set", () => {
  const { clock, timers } = setup();
  const [other, alarm] = [new RecordingAlarm(), new RecordingAlarm()];
  timers.set(other, 5);
  timers.cancel(alarm);
  timers.set(alarm, 5);
  timers.cancel(alarm);
  timers.cancel(alarm);
  assertEquals(timers.pending, 1);
  clock.advance(20);
  timers.cancel(other);
  assertEquals([alarm.count, other.count, timers.pending], [0, 1, 0]);
});

Deno.test("Timers.cancel does not disturb the timer, which fires once for nothing and rests", () => {
  const { clock, timers } = setup();
  const alarm = new RecordingAlarm();
  timers.set(alarm, 50);
  timers.cancel(alarm);
  assertEquals(clock.armed, 1);
  clock.advance(100);
  assertEquals([alarm.count, clock.armed, clock.armings], [0, 0, 1]);
});

Deno.test("Timers.cancel from within a wake holds for an alarm that is due at the same time", () => {
  const { clock, timers } = setup();
  const woken: string[] = [];
  const first: CallbackAlarm = new CallbackAlarm(() => {
    woken.push("first");
    timers.cancel(second);
  });
  const second: CallbackAlarm = new CallbackAlarm(() => {
    woken.push("second");
    timers.cancel(first);
  });
  timers.set(first, 10);
  timers.set(second, 10);
  clock.advance(100);
  assertEquals(woken.length, 1);
  assertEquals([first.isSet, second.isSet, timers.pending], [false, false, 0]);
});

Deno.test("Timers.set from within a wake moves an alarm that is due at the same time", () => {
  const { clock, timers } = setup();
  const woken: [string, number][] = [];
  const first: CallbackAlarm = new CallbackAlarm((nowMs) => {
    woken.push(["first", nowMs]);
    if (woken.length === 1) timers.set(second, 100);
  });
  const second: CallbackAlarm = new CallbackAlarm((nowMs) => {
    woken.push(["second", nowMs]);
    if (woken.length === 1) timers.set(first, 100);
  });
  timers.set(first, 10);
  timers.set(second, 10);
  clock.advance(200);
  assertEquals(woken.map(([, nowMs]) => nowMs), [12, 104]);
  assertEquals(woken[0]![0] === woken[1]![0], false);
});

Deno.test("Timers.set from within a wake does not make an earlier alarm wait for a later one", () => {
  const { clock, timers } = setup();
  const [soon, far] = [new RecordingAlarm(), new RecordingAlarm()];
  timers.set(new CallbackAlarm(() => timers.set(far, 60_000)), 10);
  timers.set(soon, 500);
  clock.advance(504);
  assertEquals(soon.count, 1);
  clock.advance(60_000);
  assertEquals(far.count, 1);
});

Deno.test("Timers.set from within a wake makes a steady beat, for the past as well", () => {
  for (const stepMs of [1, 4, 25, 5_000, -1_000]) {
    const { clock, timers } = setup();
    const beats: number[] = [];
    const alarm: CallbackAlarm = new CallbackAlarm((nowMs) => {
      beats.push(nowMs);
      timers.set(alarm, nowMs + stepMs);
    });
    timers.set(alarm, 0);
    clock.advance(20_000);
    const most = 20_000 / Math.max(SLOT_MS, stepMs) + 1;
    const least = 20_000 / (Math.max(0, stepMs) + SLOT_MS) - 1;
    assert(beats.length <= most && beats.length >= least, `every ${stepMs} ms: ${beats.length}`);
    assertEquals(timers.pending, 1);
    timers.stop();
  }
});

Deno.test("Timers.stop lets go of the timer and keeps every alarm silent", () => {
  const { clock, timers } = setup();
  const [before, after] = [new RecordingAlarm(), new RecordingAlarm()];
  timers.set(before, 10);
  timers.stop();
  assertEquals(clock.armed, 0);
  timers.set(after, 5);
  timers.cancel(after);
  timers.set(after, 20);
  assertEquals(clock.armed, 0);
  clock.advance(RING_MS);
  assertEquals([before.count, after.count], [0, 0]);
  timers.stop();
});

Deno.test("Timers.stop from within a wake is the end too", () => {
  const { clock, timers } = setup();
  const later = new RecordingAlarm();
  timers.set(new CallbackAlarm(() => timers.stop()), 10);
  timers.set(later, 100);
  clock.advance(1_000);
  assertEquals([later.count, clock.armed], [0, 0]);
});

Deno.test("Timers rests when nothing is set, and wakes an idle ring once a turn at most", () => {
  const { clock, timers } = setup();
  const alarm = new RecordingAlarm();
  timers.set(alarm, 10);
  clock.advance(20);
  assertEquals(clock.armed, 0);
  timers.set(new RecordingAlarm(), 30);
  const far = new RecordingAlarm();
  timers.set(far, 100 * RING_MS);
  const armingsBefore = clock.armings;
  clock.advance(100 * RING_MS - 100);
  assert(clock.armings - armingsBefore <= 101, `${clock.armings - armingsBefore}`);
  clock.advance(200);
  assertEquals([alarm.count, far.count], [1, 1]);
});

Deno.test("Timers.set takes an alarm in years, for which no timer can be had", () => {
  const { clock, timers } = setup();
  const far = new RecordingAlarm();
  timers.set(far, 99_999_999 * 3_600_000); // the longest grpc-timeout; FakeClock refuses what would wrap
  clock.advance(3_600_000);
  assertEquals([far.count, clock.armed], [0, 1]);
});

Deno.test("Timers.refresh reads the clock, and a wake does so once for all", () => {
  const { clock, timers } = setup(5);
  assertEquals(timers.nowMs, 5);
  clock.jump(clock.now() + 3);
  assertEquals(timers.nowMs, 5);
  assertEquals([timers.refresh(), timers.nowMs], [8, 8]);
  let seenMs = 0;
  timers.set(new CallbackAlarm(() => seenMs = timers.nowMs), 9);
  clock.advance(10);
  assertEquals(seenMs, 12);
});

Deno.test("Alarm.isSet is true until it is woken or cancelled", () => {
  const { clock, timers } = setup();
  const alarm = new RecordingAlarm();
  assertEquals(alarm.isSet, false);
  timers.set(alarm, 10);
  assertEquals(alarm.isSet, true);
  clock.advance(12);
  assertEquals([alarm.isSet, alarm.count], [false, 1]);
  timers.set(alarm, 20);
  timers.cancel(alarm);
  assertEquals(alarm.isSet, false);
});

Deno.test("Timers on the system's clock wakes after real time, and holds years without turning", async () => {
  const timers = new Timers(SYSTEM_CLOCK);
  const far = new RecordingAlarm();
  timers.set(far, timers.nowMs + 99_999_999 * 3_600_000);
  const startMs = performance.now();
  const woken = new Promise<number>((resolve) =>
    timers.set(new CallbackAlarm(resolve), startMs + 10)
  );
  assert(await woken >= startMs + 10);
  assertEquals([far.count, timers.pending], [0, 1]);
  timers.stop();
});
