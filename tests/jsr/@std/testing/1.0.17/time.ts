/**
 * Stands in for `jsr:@std/testing/time` on machines that cannot reach JSR.
 *
 * @module
 */
import { mock } from "node:test";

/** The part of FakeTime that tests here use: fixed start, tick, restore. Leaves `performance` alone. */
export class FakeTime {
  constructor(start: number | string | Date = Date.now()) {
    mock.timers.enable({
      apis: ["setTimeout", "setInterval", "Date"],
      now: new Date(start).getTime(),
    });
  }

  get now(): number {
    return Date.now();
  }

  tick(ms = 0): void {
    mock.timers.tick(ms);
  }

  restore(): void {
    mock.timers.reset();
  }

  [Symbol.dispose](): void {
    this.restore();
  }
}
