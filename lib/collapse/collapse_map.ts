import { Flight, KeyHead, type Reply, type Service, type Waiter } from "./flight.ts";
import { type HotKey, HotKeys } from "./hot_keys.ts";
import { pathInKey } from "./key.ts";
import { IdleHeads } from "./idle_heads.ts";
import type { CollapseLimits, JoinLimits } from "./limits.ts";
import { PrivateKeys } from "./private_keys.ts";
import { StoredResults } from "./stored_results.ts";

/** Stored results whose calls are counted when somebody asks for the hot keys: those used last. */
const MAX_HARVESTED = 1_000;

/**
 * Which calls are under way and which answers are kept. Time is an argument everywhere.
 *
 * A flight is found by its key while it is the newest one for it. Whoever removes it removes exactly it: a newer
 * flight of the same key stays (the lesson of singleflight's Forget).
 */
export class CollapseMap<R extends Reply> {
  /** Callers that wait on flights now. */
  waiting = 0;
  /** Flights whose backend call has not ended. */
  flying = 0;
  readonly stored: StoredResults<R>;
  #hotKeys = new HotKeys<R>();
  #limits: CollapseLimits;
  #heads = new Map<string, KeyHead<R>>();
  #idle = new IdleHeads<R>((head) => this.#retire(head));
  #private = new PrivateKeys<R>((head) => this.#settle(head));
  /** Time as of the last sweep: good enough for what is kept for a minute. */
  #sweptMs = 0;

  constructor(limits: CollapseLimits) {
    this.#limits = limits;
    this.stored = new StoredResults(limits, (flight) => {
      this.#forget(flight);
      this.#hotKeys.note(flight);
      flight.reply.forget();
    });
  }

  /** The one head for `text`, which bounds who may join its flights. */
  head(text: string, service: Service, limits: JoinLimits = this.#limits): KeyHead<R> {
    const known = this.#heads.get(text);
    if (known !== undefined && known.service === service) return known;
    if (known !== undefined) this.#retire(known);
    const made = new KeyHead<R>(text, service, limits);
    this.#heads.set(text, made);
    this.#settle(made);
    return made;
  }

  /**
   * The stored result or the flight that answers a caller who comes now, or undefined when the caller has to lead. A
   * stored result may be stale: then somebody has to see to its refresh.
   */
  lookUp(head: KeyHead<R>, bodyKey: string, nowMs: number): Flight<R> | undefined {
    const flight = head.flights.get(bodyKey);
    if (flight === undefined || flight.generation !== head.service.generation) return undefined;
    if (flight.expiresAtMs > 0) {
      if (nowMs >= flight.staleUntilMs) return undefined;
      flight.asked++;
      this.stored.touch(flight);
      return flight;
    }
    const { refreshes } = flight;
    return refreshes?.mayAnswerStale(nowMs) ? refreshes : this.#joinable(flight, nowMs);
  }

  /** The flight that a caller may join for whom what is stored is too old. */
  underWay(head: KeyHead<R>, bodyKey: string, nowMs: number): Flight<R> | undefined {
    const flight = head.flights.get(bodyKey);
    return flight === undefined || flight.stored ||
        flight.generation !== head.service.generation
      ? undefined
      : this.#joinable(flight, nowMs);
  }

  #joinable(flight: Flight<R>, nowMs: number): Flight<R> | undefined {
    return flight.sealed || flight.isTrial ||
        nowMs - flight.startedMs > flight.head.limits.joinMaxAgeMs
      ? undefined
      : flight;
  }

  /** Whether the flight has as many waiters as it may. */
  isFull(flight: Flight<R>): boolean {
    return flight.waiterCount > flight.head.limits.maxFollowers; // its leader is one of the waiters
  }

  /**
   * Starts a flight that answers for its key from now on; on a key that was private as a trial. What is stored and past
   * answering by itself is kept beside it, for callers of a flight that fails.
   */
  lead(head: KeyHead<R>, bodyKey: string, start: { reply: R; nowMs: number }): Flight<R> {
    const before = head.flights.get(bodyKey);
    const flight = new Flight(head, bodyKey, start);
    if (before?.mayAnswerForError(start.nowMs) && start.nowMs >= before.staleUntilMs) {
      flight.refreshes = before;
    } else if (before !== undefined) this.#displace(before);
    if (head.idleSinceMs >= 0) this.#idle.remove(head);
    head.flights.set(bodyKey, flight);
    this.flying++;
    return flight;
  }

  /** Starts a flight that fetches the key of a stale result anew, which goes on answering meanwhile. */
  refresh(stale: Flight<R>, start: { reply: R; nowMs: number }): Flight<R> {
    const { head, bodyKey } = stale;
    const flight = new Flight(head, bodyKey, start);
    flight.refreshes = stale;
    head.flights.set(bodyKey, flight);
    this.flying++;
    return flight;
  }

  /** What was stored for a key has no place any more, also where it only answered while it was fetched anew. */
  #displace(flight: Flight<R>): void {
    const stored = flight.stored ? flight : flight.refreshes;
    if (stored?.stored) this.stored.remove(stored);
  }

  join(flight: Flight<R>, waiter: Waiter<R>): void {
    const last = flight.lastWaiter;
    waiter.flight = flight;
    waiter.previousWaiter = last;
    if (last !== undefined) last.nextWaiter = waiter;
    flight.lastWaiter = waiter;
    flight.nextInLine ??= waiter;
    flight.waiterCount++;
    flight.asked++;
    this.waiting++;
  }

  /**
   * Takes the waiter out of its flight. When it was the last one and the answer is not in yet, the flight is
   * forgotten first, so that nobody joins a dying one, and true is returned: its backend call should be cancelled.
   */
  leave(waiter: Waiter<R>): boolean {
    const { flight, nextWaiter, previousWaiter } = waiter;
    if (flight === undefined) return false;
    if (flight.nextInLine === waiter) flight.nextInLine = nextWaiter;
    if (nextWaiter !== undefined) nextWaiter.previousWaiter = previousWaiter;
    else flight.lastWaiter = previousWaiter;
    if (previousWaiter !== undefined) previousWaiter.nextWaiter = nextWaiter;
    waiter.flight = waiter.nextWaiter = waiter.previousWaiter = undefined;
    flight.waiterCount--;
    this.waiting--;
    if (flight.waiterCount > 0 || flight.landed) return false;
    this.land(flight);
    return true;
  }

  /** Nobody need look after the waiter who is next in line; the one that came after it is. */
  passOver(flight: Flight<R>): void {
    flight.nextInLine = flight.nextInLine?.nextWaiter;
  }

  /** The flight's call has ended; it takes no more joiners unless it is kept. */
  land(flight: Flight<R>): void {
    if (flight.landed) return;
    flight.landed = true;
    this.flying--;
    this.#forget(flight);
    this.#hotKeys.note(flight);
  }

  /**
   * The flight's call has ended, and its result answers repeats until `ttlMs` from now, and stale for `staleMs` more, or for
   * `errorMs` where it cannot be fetched anew: unless a newer flight has taken
   * its place, a write has been answered since it began, or it is too large.
   */
  keep(flight: Flight<R>, nowMs: number, ttlMs: number, staleMs = 0, errorMs = 0): void {
    if (flight.landed) return;
    const isNewest = flight.head.flights.get(flight.bodyKey) === flight;
    if (
      ttlMs > 0 && isNewest && !flight.sealed &&
      flight.generation === flight.head.service.generation
    ) {
      if (flight.refreshes !== undefined) this.#displace(flight);
      flight.refreshes = undefined;
      this.stored.add(flight, nowMs, ttlMs, staleMs, errorMs); // first: a fault in it must not leave a landed flight to be joined
      flight.landed = true;
      this.flying--;
    } else {
      this.land(flight);
    }
  }

  /**
   * The flight's answer is for its leader alone: nobody joins it any more, and until `untilMs` equal calls are not
   * made to wait for each other, which could only serialise them. Without `untilMs` the key is as before.
   */
  makePrivate(flight: Flight<R>, untilMs?: number): void {
    flight.sealed = true;
    if (untilMs === undefined || flight.head.retired) return;
    this.#private.mark(flight.head, flight.bodyKey, untilMs);
  }

  /** A trial has found that the key's answer may be shared. */
  endTrial(flight: Flight<R>): void {
    if (flight.isTrial) this.#private.unmark(flight.head, flight.bodyKey);
  }

  /**
   * Whether a caller who finds nothing for the key has to go alone: its answer was found to be private of late, or
   * another caller is trying just now whether it still is.
   */
  isPrivate(head: KeyHead<R>, bodyKey: string, nowMs: number): boolean {
    const mark = head.privateKeys?.get(bodyKey);
    if (mark === undefined) return false;
    if (nowMs < mark.untilMs) return true;
    const trial = head.flights.get(bodyKey);
    return trial !== undefined && trial.isTrial && !trial.landed;
  }

  /** Lets go of what has expired. */
  sweep(nowMs: number): void {
    this.#sweptMs = nowMs;
    this.stored.sweep(nowMs);
    this.#private.sweep(nowMs);
    this.#idle.sweep(nowMs);
    this.#hotKeys.turn(nowMs);
  }

  /**
   * The keys that were asked for most of late, and since when; see {@linkcode HotKeys}. Whoever asks knows the flights
   * under way: leading one must not cost more for their being listed here.
   */
  hottest(
    nowMs: number,
    { limit, underWay }: { limit: number; underWay: Iterable<Flight<R>> },
  ): { readonly sinceMs: number; readonly keys: HotKey[] } {
    for (const flight of underWay) if (flight.asked > 0) this.#hotKeys.note(flight);
    let flight = this.stored.newest;
    for (let i = 0; i < MAX_HARVESTED && flight !== undefined; i++, flight = flight.older) {
      if (flight.asked > 0) this.#hotKeys.note(flight);
    }
    return this.#hotKeys.hottest(nowMs, limit);
  }

  /**
   * Drops the stored results of a method, or all, and returns how many those were. Flights under way go on for those
   * who wait, but nobody joins them any more and they are not kept.
   */
  purge(path?: string): number {
    let purged = 0;
    for (const head of this.#heads.values()) {
      if (path !== undefined && pathInKey(head.text) !== path) continue;
      for (const flight of head.flights.values()) {
        if (flight.stored || flight.refreshes?.stored) purged++;
        this.#displace(flight);
        flight.sealed = true;
      }
    }
    return purged;
  }

  /** Forgets every head and every stored result: those who remember heads must ask for them again. */
  forgetAll(): void {
    this.stored.clear();
    for (const head of this.#heads.values()) this.#retire(head);
  }

  #forget(flight: Flight<R>): void {
    const { head, bodyKey } = flight;
    if (head.flights.get(bodyKey) !== flight) return;
    const { refreshes } = flight;
    flight.refreshes = undefined;
    if (refreshes?.stored && refreshes.generation === head.service.generation) {
      head.flights.set(bodyKey, refreshes); // it was to no avail, and what is stale goes on
      return;
    }
    head.flights.delete(bodyKey);
    if (head.flights.size === 0) this.#settle(head);
  }

  /** A head under which nothing is any more, or yet, is idle. */
  #settle(head: KeyHead<R>): void {
    if (!head.retired && head.isEmpty && head.idleSinceMs < 0) this.#idle.add(head, this.#sweptMs);
  }

  /** The head is no longer the one for its text. */
  #retire(head: KeyHead<R>): void {
    head.retired = true;
    this.#heads.delete(head.text);
    this.#idle.remove(head);
    this.#private.forget(head);
  }
}
