import {
  type CollapseLimits,
  CollapseMap,
  type Flight,
  type KeyHead,
  type Reply,
  type Service,
  Waiter,
} from "../../lib/collapse/mod.ts";

/** Bytes that a stored result counts for besides its reply and its key. */
export const ENTRY_OVERHEAD_BYTES = 512;

/** Bytes that a head counts for besides its text. */
export const HEAD_OVERHEAD_BYTES = 512;

/** Bytes of the fixture's own head, counted with the first result that is stored under it. */
export const HEAD_BYTES = "head".length + HEAD_OVERHEAD_BYTES;

/** A reply of some size that knows how often it was forgotten. */
export class FakeReply implements Reply {
  forgotten = 0;
  readonly heldBytes: number;

  constructor(heldBytes = 0) {
    this.heldBytes = heldBytes;
  }

  forget(): void {
    this.forgotten++;
  }
}

export type FakeFlight = Flight<FakeReply>;
export type FakeWaiter = Waiter<FakeReply>;
export type FakeHead = KeyHead<FakeReply>;

export const ROOMY: CollapseLimits = {
  maxCacheEntries: 1_000,
  maxCacheBytes: 1_000_000,
  joinMaxAgeMs: 10_000,
  maxFollowers: 1_000,
};

export interface Leading {
  readonly head?: FakeHead;
  readonly nowMs?: number;
  readonly heldBytes?: number;
}

/** A map with one service and one head, and short words for what callers do. */
export class MapFixture {
  readonly map: CollapseMap<FakeReply>;
  readonly service: Service = { name: "a.S", generation: 0 };
  readonly head: FakeHead;

  constructor(limits: Partial<CollapseLimits> = {}) {
    this.map = new CollapseMap({ ...ROOMY, ...limits });
    this.head = this.map.head("head", this.service);
  }

  find(key: string, nowMs = 0): FakeFlight | undefined {
    return this.map.lookUp(this.head, key, nowMs);
  }

  /** Leads a flight with one waiter, its leader. */
  lead(key: string, { head = this.head, nowMs = 0, heldBytes = 0 }: Leading = {}): FakeFlight {
    const flight = this.map.lead(head, key, { reply: new FakeReply(heldBytes), nowMs });
    this.join(flight);
    return flight;
  }

  join(flight: FakeFlight): FakeWaiter {
    const waiter = new Waiter<FakeReply>();
    this.map.join(flight, waiter);
    return waiter;
  }

  /** Leads, keeps, and lets the leader go. */
  store(
    key: string,
    { ttlMs = 100, nowMs = 0, ...leading }: Leading & { ttlMs?: number } = {},
  ): FakeFlight {
    const flight = this.lead(key, { nowMs, ...leading });
    this.map.keep(flight, nowMs, ttlMs);
    for (const waiter of waitersOf(flight)) this.map.leave(waiter);
    return flight;
  }

  /** The gauges, in one piece for comparing. */
  get gauges(): { flying: number; waiting: number; entries: number } {
    const { flying, waiting, stored } = this.map;
    return { flying, waiting, entries: stored.entries };
  }
}

/** Who waits, the first one first. */
export function waitersOf(flight: FakeFlight): FakeWaiter[] {
  const waiters: FakeWaiter[] = [];
  for (let waiter = flight.lastWaiter; waiter !== undefined; waiter = waiter.previousWaiter) {
    waiters.unshift(waiter);
  }
  return waiters;
}
