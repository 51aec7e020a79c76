import type { JoinLimits } from "./limits.ts";

/** What a head costs besides its text: itself, its place in the map of heads, and its own map of flights. */
const HEAD_OVERHEAD_BYTES = 512;

/** A service as far as invalidation goes (COLLAPSER_INVALIDATE). */
export interface Service {
  readonly name: string;
  /** Raised for the service when a call that may have changed something was answered; older results serve nobody new. */
  generation: number;
}

/** What a flight knows of the reply it gathers. */
export interface Reply {
  /** Bytes of storage that the reply holds, for the bound of what is kept. */
  readonly heldBytes: number;
  /** The reply was stored, and nobody finds it any more. */
  forget(): void;
}

/**
 * Someone who waits for a flight; a call extends it, and stands in the flight's list itself, so that joining allocates
 * nothing.
 */
export class Waiter<R extends Reply> {
  flight: Flight<R> | undefined = undefined;
  /** Neighbours among the flight's waiters. */
  nextWaiter: Waiter<R> | undefined = undefined;
  previousWaiter: Waiter<R> | undefined = undefined;
}

/**
 * One backend call for one key and whoever waits for its answer; afterwards, when it is kept, the stored result.
 * It belongs to its key, not to who came first. {@linkcode CollapseMap} alone changes it.
 */
export class Flight<R extends Reply> {
  readonly head: KeyHead<R>;
  readonly bodyKey: string;
  readonly reply: R;
  readonly startedMs: number;
  /** The service's generation when the flight began: a later one means that a write has been answered since. */
  readonly generation: number;
  /** The waiter who came last; the others hang on this one. */
  lastWaiter: Waiter<R> | undefined = undefined;
  /** The waiter who came first of those who were not passed over: whoever looks after them by age goes on here. */
  nextInLine: Waiter<R> | undefined = undefined;
  waiterCount = 0;
  /** Callers that the flight was there for and that {@linkcode HotKeys} has not counted yet. */
  asked = 0;
  /**
   * The flight takes no more joiners, since its beginning is no longer held for them or its answer is for nobody else.
   */
  sealed = false;
  /**
   * The key's answer was private before, and the flight is there to see whether it still is: until it has landed, nobody
   * waits for it.
   */
  readonly isTrial: boolean;
  /** The flight's backend call has ended. */
  landed = false;
  /** Until when the flight answers repeats; 0 while it is not stored. */
  expiresAtMs = 0;
  /** Until when it may answer after that, stale, while its key is fetched anew; no earlier than `expiresAtMs`. */
  staleUntilMs = 0;
  /** Until when it may answer where its key cannot be fetched anew; no earlier than `expiresAtMs`. */
  errorUntilMs = 0;
  /** What is stored for the key, and stale: it answers while this flight fetches the key anew, or where it cannot. */
  refreshes: Flight<R> | undefined = undefined;
  /** When the next refresh of a stale result may begin, and how long the pause before it is; undefined before one failed. */
  refreshPause: { readonly untilMs: number; readonly ms: number } | undefined = undefined;
  /** When the final status of what is stored arrived: its age counts from then. */
  storedMs = 0;
  /** Bytes that the flight counts for while it is stored. */
  storedBytes = 0;
  /** Neighbours of the flight in the order of use, while it is stored. */
  newer: Flight<R> | undefined = undefined;
  older: Flight<R> | undefined = undefined;

  constructor(head: KeyHead<R>, bodyKey: string, { reply, nowMs }: { reply: R; nowMs: number }) {
    this.head = head;
    this.bodyKey = bodyKey;
    this.reply = reply;
    this.startedMs = nowMs;
    this.generation = head.service.generation;
    this.isTrial = head.privateKeys?.has(bodyKey) ?? false;
  }

  /** Whether what is stored has outlived its time, and answers only while it is fetched anew. */
  isStale(nowMs: number): boolean {
    return nowMs >= this.expiresAtMs;
  }

  /** When what is stored is good for nothing any more. */
  get keptUntilMs(): number {
    return Math.max(this.staleUntilMs, this.errorUntilMs);
  }

  /** Whether what is stored may answer while its key is fetched anew. */
  mayAnswerStale(nowMs: number): boolean {
    return this.stored && nowMs < this.staleUntilMs &&
      this.generation === this.head.service.generation;
  }

  /** Whether what is stored may answer where its key could not be fetched anew. */
  mayAnswerForError(nowMs: number): boolean {
    return this.stored && nowMs < this.errorUntilMs &&
      this.generation === this.head.service.generation;
  }

  /** The flight answers repeats from what is stored. */
  get stored(): boolean {
    return this.expiresAtMs > 0;
  }
}

/**
 * All requests that differ in nothing but their message: the head of the key, interned, with the flights and stored
 * results under it. So a look-up needs only the message's part of the key.
 */
export class KeyHead<R extends Reply> {
  readonly text: string;
  readonly service: Service;
  readonly limits: JoinLimits;
  readonly flights = new Map<string, Flight<R>>();
  /** Stored results among the flights. */
  storedCount = 0;
  /** Messages whose answers turned out to be private; {@linkcode PrivateKeys} alone changes it. */
  privateKeys: Map<string, PrivateKey<R>> | undefined = undefined;
  /** A hash of the text, once somebody places calls by it. */
  placementHash: number | undefined = undefined;
  /** The head is no longer the one for its text: whoever remembers it must ask for it again. */
  retired = false;
  /** Since when nothing is under the head; -1 while something is. */
  idleSinceMs = -1;
  /** Neighbours in the order in which heads became idle. */
  newerIdle: KeyHead<R> | undefined = undefined;
  olderIdle: KeyHead<R> | undefined = undefined;

  constructor(text: string, service: Service, limits: JoinLimits) {
    this.text = text;
    this.service = service;
    this.limits = limits;
  }

  /** Bytes that the head takes, whatever is under it. */
  get heldBytes(): number {
    return this.text.length + HEAD_OVERHEAD_BYTES;
  }

  /** Whether nothing would be lost with the head. */
  get isEmpty(): boolean {
    return this.flights.size === 0 && this.privateKeys === undefined;
  }
}

/** A key whose answer was found to be private. */
export interface PrivateKey<R extends Reply> {
  readonly head: KeyHead<R>;
  readonly bodyKey: string;
  /** Until when the key is not even tried. Afterwards the mark stays, until a trial has found otherwise. */
  readonly untilMs: number;
}
