/** Width of a slot. Deadlines are kept to within one, which is far below what a network does to them. */
const SLOT_MS = 4;

/** Slots in the ring; an alarm further away than the ring is long is looked at once a turn. */
const SLOTS = 1_024;

/** A timer for longer than this would fire at once (HTML, timers: a signed 32-bit number); too early is no harm. */
const MAX_DELAY_MS = 2 ** 31 - 1;

const UNSET = -1;

/** Slot of an alarm that was taken out of the ring, since its time has come, and not woken yet. */
const DUE = -2;

/**
 * Something that is woken when its time comes; extend it where the time is up. Used again as often as one likes.
 */
export abstract class Alarm {
  dueMs = 0;
  /** The slot that the alarm stands in; for {@linkcode Timers} alone. */
  slot = UNSET;
  next: Alarm | undefined = undefined;
  previous: Alarm | undefined = undefined;

  get isSet(): boolean {
    return this.slot !== UNSET;
  }

  /** The time that the alarm asked for has come. `lateMs` tells how long ago: a busy loop wakes everybody late. */
  abstract wake(nowMs: number, lateMs: number): void;
}

/** An alarm that calls a function. */
export class CallbackAlarm extends Alarm {
  #callback: (nowMs: number, lateMs: number) => void;

  constructor(callback: (nowMs: number, lateMs: number) => void) {
    super();
    this.#callback = callback;
  }

  override wake(nowMs: number, lateMs: number): void {
    this.#callback(nowMs, lateMs);
  }
}

/** Where time comes from, so that tests can bring their own. */
export interface Clock {
  /** Milliseconds from any beginning, never going back. */
  now(): number;
  /** Calls `wake` once after `ms`; returns how to prevent it. */
  after(ms: number, wake: () => void): () => void;
}

export const SYSTEM_CLOCK: Clock = {
  now: () => performance.now(),
  after(ms, wake) {
    const id = setTimeout(wake, ms);
    return () => clearTimeout(id);
  },
};

/**
 * All deadlines of the process behind one timer: a hashed wheel, so that setting and cancelling an alarm, which
 * most calls do and hardly any alarm outlives, costs a few pointers. The timer is armed for the first slot that
 * holds anything, and not disturbed when that alarm is cancelled: waking for nothing now and then is cheaper.
 */
export class Timers {
  readonly clock: Clock;
  /** The time as of the last {@linkcode refresh}: reading the clock costs more than most things done with it. */
  nowMs: number;
  #slots: (Alarm | undefined)[] = new Array(SLOTS).fill(undefined);
  #count = 0;
  /** The slot of time (not of the ring) up to which everything due has been woken. */
  #swept: number;
  #armedForMs = Infinity;
  #disarm: (() => void) | undefined = undefined;

  constructor(clock: Clock = SYSTEM_CLOCK) {
    this.clock = clock;
    this.nowMs = clock.now();
    this.#swept = Math.floor(this.nowMs / SLOT_MS) - 1; // the current slot is not over
  }

  /** Reads the clock: once for everything that one read of a socket, or one timer, brings about. */
  refresh(): number {
    return this.nowMs = this.clock.now();
  }

  /** Alarms that are set. */
  get pending(): number {
    return this.#count;
  }

  /** Sets the alarm, or moves it. */
  set(alarm: Alarm, dueMs: number): void {
    if (alarm.slot >= 0) this.#unlink(alarm);
    alarm.dueMs = dueMs;
    // Never in a slot that was swept already, where it would wait for a whole turn of the ring.
    const slotOfTime = Math.max(Math.floor(dueMs / SLOT_MS), this.#swept + 1);
    this.#link(alarm, slotOfTime % SLOTS);
    const wakeMs = (slotOfTime + 1) * SLOT_MS;
    if (wakeMs < this.#armedForMs) this.#arm(wakeMs);
  }

  /** Cancels the alarm; nothing happens when it is not set. */
  cancel(alarm: Alarm): void {
    if (alarm.slot >= 0) this.#unlink(alarm);
    alarm.slot = UNSET; // also when it was to be woken after the one that cancels it
  }

  /** Lets go of the timer; alarms that are set stay silent. */
  stop(): void {
    this.#disarm?.();
    this.#disarm = undefined;
    this.#armedForMs = 0;
  }

  #arm(wakeMs: number): void {
    this.#disarm?.();
    this.#armedForMs = wakeMs;
    const delayMs = Math.min(MAX_DELAY_MS, Math.max(0, wakeMs - this.clock.now()));
    this.#disarm = this.clock.after(delayMs, () => this.#tick());
  }

  #tick(): void {
    this.#disarm = undefined;
    this.#armedForMs = Infinity;
    const nowMs = this.refresh();
    const current = Math.floor(nowMs / SLOT_MS);
    const due = this.#takeDue(current, nowMs);
    this.#swept = current - 1; // the current slot is not over
    for (const alarm of due) {
      if (alarm.slot !== DUE) continue; // moved or cancelled by one that was woken before it
      alarm.slot = UNSET;
      try {
        alarm.wake(nowMs, nowMs - alarm.dueMs);
      } catch (error) {
        reportError(error); // a fault of whoever set it; those due with it must be woken all the same
      }
    }
    if (this.#count === 0) return;
    const wakeMs = this.#nextWakeMs(current);
    if (wakeMs < this.#armedForMs) this.#arm(wakeMs); // it may be armed, but for a later one set meanwhile
  }

  /** Takes out what is due in the slots since the last sweep, each looked at once even after a long sleep. */
  #takeDue(current: number, nowMs: number): Alarm[] {
    const due: Alarm[] = [];
    const first = Math.max(this.#swept + 1, current - SLOTS + 1);
    for (let slot = first; slot <= current; slot++) {
      let alarm = this.#slots[slot % SLOTS];
      while (alarm !== undefined) {
        const { next } = alarm;
        if (alarm.dueMs <= nowMs) {
          this.#unlink(alarm);
          alarm.slot = DUE;
          due.push(alarm);
        }
        alarm = next;
      }
    }
    return due;
  }

  #nextWakeMs(current: number): number {
    for (let ahead = 0; ahead < SLOTS; ahead++) {
      if (this.#slots[(current + ahead) % SLOTS] !== undefined) {
        return (current + ahead + 1) * SLOT_MS;
      }
    }
    return (current + SLOTS) * SLOT_MS;
  }

  #link(alarm: Alarm, slot: number): void {
    const first = this.#slots[slot];
    alarm.slot = slot;
    alarm.next = first;
    alarm.previous = undefined;
    if (first !== undefined) first.previous = alarm;
    this.#slots[slot] = alarm;
    this.#count++;
  }

  #unlink(alarm: Alarm): void {
    const { next, previous } = alarm;
    if (next !== undefined) next.previous = previous;
    if (previous !== undefined) previous.next = next;
    else this.#slots[alarm.slot] = next;
    alarm.next = alarm.previous = undefined;
    alarm.slot = UNSET;
    this.#count--;
  }
}
