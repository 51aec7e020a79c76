import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { type CollapseLimits, CollapseMap, type Service, Waiter } from "../../lib/collapse/mod.ts";
import { rng } from "../support/cuts.ts";
import {
  ENTRY_OVERHEAD_BYTES,
  type FakeFlight,
  type FakeHead,
  FakeReply,
  type FakeWaiter,
  waitersOf,
} from "./map_fixture.ts";

const SEEDS = 80;
const STEPS = 1_000;

/** Few of each, so that everything meets everything. */
const HEADS = 4;
const SERVICES = 2;
const KEYS = 3;

/** Mostly a few replies fit, and now and then one that does not even by itself. */
const REPLY_BYTES = 2_000;
const LARGE_REPLY_BYTES = 8_000;
const LARGE_SHARE = 0.05;

const LIMITS: CollapseLimits = {
  maxCacheEntries: 8,
  maxCacheBytes: 8_000,
  joinMaxAgeMs: 60,
  maxFollowers: 4,
};

/** Results that have expired and leave when another one comes. */
const EXPIRED_PER_ADDED = 2;

/** What happened so often. */
const NO_COUNTS = {
  led: 0,
  joined: 0,
  hits: 0,
  kept: 0,
  left: 0,
  passed: 0,
  trials: 0,
  tooOld: 0,
  refreshed: 0,
  stale: 0,
};

/** What is known of one flight, in the plainest way. */
interface Entry {
  readonly flight: FakeFlight;
  readonly head: FakeHead;
  readonly place: string;
  readonly startedMs: number;
  readonly generation: number;
  readonly waiters: FakeWaiter[];
  sealed: boolean;
  /** Its key was private: nobody may wait for it. */
  readonly isTrial: boolean;
  /** When what is stored came. */
  storedMs: number;
  flying: boolean;
  /** Undefined while it is not stored. */
  expiresAtMs: number | undefined;
  /** Until when it may answer stale. */
  staleUntilMs: number;
  /** What is stored and answers while this one fetches it anew. */
  refreshes: Entry | undefined;
  bytes: number;
  forgotten: number;
}

/** A map beside plain lists; after each step both say the same. */
class MapModel {
  readonly counts = { ...NO_COUNTS };
  readonly #map = new CollapseMap<FakeReply>(LIMITS);
  readonly #services: Service[] = Array.from(
    { length: SERVICES },
    (_, i) => ({ name: `s${i}`, generation: 0 }),
  );
  #heads: FakeHead[] = [];
  readonly #random: () => number;
  readonly #entries: Entry[] = [];
  /** The newest one of each place, while the map should know it. */
  readonly #places = new Map<string, Entry>();
  /** What is stored, the least recently used first. */
  readonly #stored: Entry[] = [];
  /** Until when each place is private; one whose time is over is tried by one caller alone. */
  readonly #private = new Map<string, number>();
  #nowMs = 1;
  #epoch = 0;

  constructor(seed: number) {
    this.#random = rng(seed);
    this.#askForHeads();
  }

  step(): void {
    const choice = this.#random();
    if (choice < 0.5) this.#call();
    else if (choice < 0.62) this.#leave();
    else if (choice < 0.8) this.#end();
    else if (choice < 0.92) this.#nowMs += Math.floor(this.#random() * 30);
    else if (choice < 0.925) this.#seal();
    else if (choice < 0.965) this.#makePrivate();
    else if (choice < 0.975) this.#pick(this.#services)!.generation++;
    else if (choice < 0.998) this.#sweep();
    else this.#forgetAll();
    this.#check();
  }

  /** Everybody goes. */
  finish(): void {
    for (const { waiters, flight } of this.#entries) {
      for (const waiter of [...waiters]) this.#map.leave(waiter);
      assertEquals(flight.lastWaiter, undefined);
    }
    this.#map.sweep(Infinity);
    const { waiting, flying, stored } = this.#map;
    assertEquals([waiting, flying, stored.entries, stored.bytes], [0, 0, 0, 0]);
    for (const { flights } of this.#heads) assertEquals(flights.size, 0);
  }

  /** A caller comes, and is answered, joins, leads, or is turned away. */
  #call(): void {
    const at = Math.floor(this.#random() * HEADS);
    const key = `${Math.floor(this.#random() * KEYS)}`;
    const head = this.#heads[at]!;
    const place = `${this.#epoch} ${at} ${key}`;
    if (this.#isTooOld(place)) return this.#lookUnderWay(head, key, place);
    const expected = this.#answering(place, head);
    const flight = this.#map.lookUp(head, key, this.#nowMs);
    assertStrictEquals(flight, expected?.flight);
    if (expected === undefined || this.#random() < 0.1) this.#leadOrPass(head, key, place);
    else if (expected.expiresAtMs !== undefined) this.#hit(expected);
    else this.#join(expected);
  }

  /** What is stored is too old for the caller, who may join what fetches the key. */
  #lookUnderWay(head: FakeHead, key: string, place: string): void {
    const entry = this.#places.get(place);
    const isThere = entry !== undefined && entry.expiresAtMs === undefined &&
      entry.generation === head.service.generation && this.#isJoinable(entry);
    const flight = this.#map.underWay(head, key, this.#nowMs);
    assertStrictEquals(flight, isThere ? entry.flight : undefined);
    if (isThere) this.#join(entry);
    else this.#leadOrPass(head, key, place);
  }

  /** Now and then a caller says how old a stored result may be. */
  #isTooOld(place: string): boolean {
    const entry = this.#places.get(place);
    const stored = entry?.expiresAtMs === undefined ? entry?.refreshes : entry;
    const isTooOld = stored?.expiresAtMs !== undefined && this.#random() < 0.4 &&
      this.#nowMs - stored.storedMs > this.#random() * 60;
    if (isTooOld) this.counts.tooOld++;
    return isTooOld;
  }

  /** Nothing answers the caller: it leads, unless the place is private, or another one tries whether it still is. */
  #leadOrPass(head: FakeHead, key: string, place: string): void {
    const untilMs = this.#private.get(place) ?? -Infinity;
    const isTried = this.#entries.some((entry) =>
      entry.place === place && entry.isTrial && entry.flying
    );
    const isPrivate = this.#nowMs < untilMs || isTried && this.#private.has(place);
    assertEquals(this.#map.isPrivate(head, key, this.#nowMs), isPrivate);
    if (isPrivate) this.counts.passed++;
    else this.#lead(head, key, place);
  }

  #answering(place: string, head: FakeHead): Entry | undefined {
    const entry = this.#places.get(place);
    if (entry === undefined || entry.generation !== head.service.generation) return undefined;
    if (entry.expiresAtMs !== undefined) {
      if (this.#nowMs >= entry.staleUntilMs) return undefined;
      this.#use(entry);
      return entry;
    }
    const { refreshes } = entry;
    const mayAnswer = refreshes?.expiresAtMs !== undefined &&
      this.#nowMs < refreshes.staleUntilMs &&
      refreshes.generation === head.service.generation;
    if (mayAnswer) return refreshes;
    return this.#isJoinable(entry) ? entry : undefined;
  }

  #isJoinable({ startedMs, sealed, isTrial }: Entry): boolean {
    return !sealed && !isTrial && this.#nowMs - startedMs <= LIMITS.joinMaxAgeMs;
  }

  #lead(head: FakeHead, key: string, place: string): void {
    this.counts.led++;
    const before = this.#places.get(place);
    if (before !== undefined) this.#displace(before);
    this.#begin(head, key, place, undefined);
  }

  /** What is stored of a place, or answers while it is fetched anew, has no place any more. */
  #displace(entry: Entry): void {
    const stored = entry.expiresAtMs === undefined ? entry.refreshes : entry;
    if (stored?.expiresAtMs !== undefined) this.#drop(stored);
  }

  #begin(head: FakeHead, key: string, place: string, refreshes: Entry | undefined): void {
    const isLarge = this.#random() < LARGE_SHARE;
    const bytes = isLarge ? LARGE_REPLY_BYTES : Math.floor(this.#random() * REPLY_BYTES);
    const reply = new FakeReply(bytes);
    const start = { reply, nowMs: this.#nowMs };
    const flight = refreshes === undefined
      ? this.#map.lead(head, key, start)
      : this.#map.refresh(refreshes.flight, start);
    const entry: Entry = {
      flight,
      head,
      place,
      startedMs: this.#nowMs,
      generation: head.service.generation,
      waiters: [],
      sealed: false,
      isTrial: this.#private.has(place),
      storedMs: 0,
      flying: true,
      expiresAtMs: undefined,
      staleUntilMs: 0,
      refreshes,
      bytes: reply.heldBytes + key.length + ENTRY_OVERHEAD_BYTES,
      forgotten: 0,
    };
    assertEquals(flight.isTrial, entry.isTrial);
    if (entry.isTrial) this.counts.trials++;
    this.#entries.push(entry);
    this.#places.set(place, entry);
    this.#wait(entry);
  }

  #hit(entry: Entry): void {
    assert(entry.flight.stored);
    const isStale = this.#nowMs >= entry.expiresAtMs!;
    assertEquals(entry.flight.isStale(this.#nowMs), isStale);
    if (!isStale) this.counts.hits++;
    else this.counts.stale++;
    if (!isStale || this.#places.get(entry.place) !== entry || this.#random() < 0.1) return;
    this.counts.refreshed++;
    this.#begin(entry.head, entry.flight.bodyKey, entry.place, entry);
  }

  #join(entry: Entry): void {
    const isFull = entry.waiters.length > LIMITS.maxFollowers;
    assertEquals(this.#map.isFull(entry.flight), isFull);
    if (isFull) return;
    this.counts.joined++;
    this.#wait(entry);
  }

  #wait(entry: Entry): void {
    const waiter = new Waiter<FakeReply>();
    this.#map.join(entry.flight, waiter);
    entry.waiters.push(waiter);
  }

  #leave(): void {
    const entry = this.#pick(this.#entries.filter(({ waiters }) => waiters.length > 0));
    if (entry === undefined) return;
    this.counts.left++;
    const [waiter] = entry.waiters.splice(Math.floor(this.#random() * entry.waiters.length), 1);
    const ends = entry.waiters.length === 0 && entry.flying;
    assertEquals(this.#map.leave(waiter!), ends);
    if (ends) this.#land(entry);
  }

  /** A backend call ends, now and then one that has ended already. */
  #end(): void {
    const wanted = this.#random() < 0.95;
    const entry = this.#pick(this.#entries.filter(({ flying }) => flying === wanted));
    if (entry === undefined) return;
    if (entry.flying && this.#random() < 0.7) this.#endTrial(entry);
    const ttlMs = this.#random() < 0.8 ? 1 + Math.floor(this.#random() ** 4 * 400) : 0;
    const staleMs = this.#random() < 0.8 ? Math.floor(this.#random() * 800) : 0;
    if (this.#random() < 0.2) {
      this.#map.land(entry.flight);
      if (entry.flying) this.#land(entry);
    } else {
      this.#map.keep(entry.flight, this.#nowMs, ttlMs, staleMs);
      if (entry.flying) this.#keep(entry, ttlMs, staleMs);
    }
  }

  #keep(entry: Entry, ttlMs: number, staleMs: number): void {
    const mayKeep = ttlMs > 0 && this.#places.get(entry.place) === entry && !entry.sealed &&
      entry.generation === entry.head.service.generation;
    if (!mayKeep) return this.#land(entry);
    this.counts.kept++;
    if (entry.refreshes !== undefined) this.#displace(entry);
    entry.refreshes = undefined;
    for (let i = 0; i < EXPIRED_PER_ADDED; i++) {
      const oldest = this.#stored[0];
      if (oldest !== undefined && this.#nowMs >= oldest.staleUntilMs) this.#drop(oldest);
    }
    entry.flying = false;
    const headBytes = this.#stored.some(({ head }) => head === entry.head)
      ? 0
      : entry.head.heldBytes;
    if (entry.bytes + headBytes > LIMITS.maxCacheBytes) {
      entry.forgotten++;
      return this.#vacate(entry);
    }
    entry.storedMs = this.#nowMs;
    entry.expiresAtMs = this.#nowMs + ttlMs;
    entry.staleUntilMs = entry.expiresAtMs + staleMs;
    this.#stored.push(entry);
    while (this.#stored.length > LIMITS.maxCacheEntries || this.#bytes > LIMITS.maxCacheBytes) {
      this.#drop(this.#stored[0]!);
    }
  }

  #land(entry: Entry): void {
    entry.flying = false;
    this.#vacate(entry);
  }

  #seal(): void {
    const entry = this.#pick(this.#entries.filter(({ flying }) => flying));
    if (entry !== undefined) entry.sealed = entry.flight.sealed = true;
  }

  #makePrivate(): void {
    const entry = this.#pick(this.#entries.filter(({ flying }) => flying));
    if (entry === undefined) return;
    const untilMs = this.#random() < 0.8 ? this.#nowMs + this.#random() * 50 : undefined;
    this.#map.makePrivate(entry.flight, untilMs);
    entry.sealed = true;
    if (untilMs !== undefined && entry.head === this.#heads[this.#headOf(entry)]) {
      this.#private.set(entry.place, untilMs);
    }
  }

  #headOf({ place }: Entry): number {
    return Number(place.split(" ")[1]);
  }

  /** The reply was not private, which says something of the key only where that was to be found out. */
  #endTrial(entry: Entry): void {
    this.#map.endTrial(entry.flight);
    if (entry.isTrial) this.#private.delete(entry.place);
  }

  #sweep(): void {
    this.#map.sweep(this.#nowMs);
    for (const entry of [...this.#stored]) {
      if (this.#nowMs >= entry.staleUntilMs) this.#drop(entry);
    }
  }

  #forgetAll(): void {
    this.#map.forgetAll();
    for (const entry of [...this.#stored]) this.#drop(entry);
    for (const head of this.#heads) assert(head.retired);
    this.#epoch++;
    this.#askForHeads();
  }

  #askForHeads(): void {
    this.#heads = Array.from(
      { length: HEADS },
      (_, i) => this.#map.head(`h${i}`, this.#services[i % SERVICES]!),
    );
  }

  #use(entry: Entry): void {
    this.#stored.splice(this.#stored.indexOf(entry), 1);
    this.#stored.push(entry);
  }

  #drop(entry: Entry): void {
    this.#stored.splice(this.#stored.indexOf(entry), 1);
    entry.expiresAtMs = undefined;
    entry.forgotten++;
    this.#vacate(entry);
  }

  #vacate(entry: Entry): void {
    if (this.#places.get(entry.place) !== entry) return;
    const { refreshes } = entry;
    entry.refreshes = undefined;
    const goesOn = refreshes?.expiresAtMs !== undefined &&
      refreshes.generation === entry.head.service.generation;
    if (goesOn) this.#places.set(entry.place, refreshes);
    else this.#places.delete(entry.place);
  }

  /** Bytes of what is stored, each head counted once. */
  get #bytes(): number {
    const heads = new Set(this.#stored.map(({ head }) => head));
    return this.#stored.reduce((sum, { bytes }) => sum + bytes, 0) +
      [...heads].reduce((sum, { heldBytes }) => sum + heldBytes, 0);
  }

  #check(): void {
    const { waiting, flying, stored } = this.#map;
    assertEquals(waiting, this.#entries.reduce((sum, { waiters }) => sum + waiters.length, 0));
    assertEquals(flying, this.#entries.filter((entry) => entry.flying).length);
    assertEquals([stored.entries, stored.bytes], [this.#stored.length, this.#bytes]);
    for (const entry of this.#entries) {
      const { flight, waiters } = entry;
      assertEquals(flight.stored, entry.expiresAtMs !== undefined);
      assertEquals(flight.landed, !entry.flying);
      assertEquals(flight.reply.forgotten, entry.forgotten);
      assertEquals(flight.waiterCount, waiters.length);
      const lined = waitersOf(flight);
      assert(lined.length === waiters.length && lined.every((waiter, i) => waiter === waiters[i]));
    }
    const known = this.#heads.reduce((sum, { flights }) => sum + flights.size, 0);
    const here = [...this.#places.keys()].filter((place) => place.startsWith(`${this.#epoch} `));
    assertEquals(known, here.length);
    this.#letGo();
  }

  /** Forgets flights that are over, so that a step stays cheap. */
  #letGo(): void {
    for (let i = this.#entries.length - 1; i >= 0; i--) {
      const { flying, waiters, expiresAtMs } = this.#entries[i]!;
      const isOver = !flying && waiters.length === 0 && expiresAtMs === undefined;
      if (isOver && this.#random() < 0.2) this.#entries.splice(i, 1);
    }
  }

  #pick<T>(from: readonly T[]): T | undefined {
    return from[Math.floor(this.#random() * from.length)];
  }
}

Deno.test("CollapseMap does what plain lists would, whatever the order of things", () => {
  const counts = { ...NO_COUNTS };
  for (let seed = 1; seed <= SEEDS; seed++) {
    const model = new MapModel(seed);
    let step = 0;
    try {
      for (; step < STEPS; step++) model.step();
      model.finish();
    } catch (error) {
      throw new Error(`seed ${seed}, step ${step}`, { cause: error });
    }
    for (const name of Object.keys(counts) as (keyof typeof counts)[]) {
      counts[name] += model.counts[name];
    }
  }
  // Else it tests next to nothing.
  for (const [name, count] of Object.entries(counts)) assert(count > 500, `${name}: ${count}`);
});
