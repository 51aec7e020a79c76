import type { ProxyCounters } from "../observe/mod.ts";
import { CallbackAlarm, type Timers, type Turn } from "../transport/mod.ts";
import type { BufferedBytes } from "../wire/mod.ts";
import type { Call } from "./call.ts";
import type { CallerSession } from "./caller_session.ts";

/** Once too much is held, calls are ended until there is this much room again, so that it is not soon too much again. */
const ROOM_SHARE = 1 / 8;

/** While too much is held it is looked again so often who does not go on. */
const LOOK_AGAIN_MS = 1_000;

/** Where so many wait for one flight, what is not held any more is seen to once for as many that are ended. */
const SLIDE_EVERY = 64;

/** A call that may be ended, and how much that is worth. */
interface Candidate {
  readonly call: Call;
  readonly weight: number;
}

/** What a guard looks after. */
export interface Guarded {
  readonly buffered: BufferedBytes;
  readonly sessions: () => Iterable<CallerSession>;
  readonly counters: Pick<ProxyCounters, "overfull" | "unreadConnections">;
  readonly timers: Timers;
  readonly turn: Turn;
}

/**
 * Keeps what is held for peers within COLLAPSER_MAX_BUFFERED_BYTES. It does nothing while that is kept; beyond it, it ends
 * the calls of who reads slowest: first those for whom most is held for longest, then those whose backends take most slowly,
 * then connections whose sockets take nothing at all. Calls that would need more are refused by themselves meanwhile.
 */
export class BufferGuard {
  readonly #of: Guarded;
  readonly #alarm = new CallbackAlarm(() => this.flush());
  #isDue = false;
  /** Writes that were begun on connections whose output waited, and when that was. */
  #writes = new Map<CallerSession, number>();
  #writesOfMs = -Infinity;

  constructor(of: Guarded) {
    this.#of = of;
  }

  /** Too much is held: it is seen to at the end of the turn, when whoever is at work has finished. */
  overflowed(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    this.#of.turn.add(this);
  }

  /** Nothing is looked after any more. */
  stop(): void {
    this.#of.timers.cancel(this.#alarm);
  }

  /** Ends what must be ended; {@linkcode Turn} calls it. */
  flush(): void {
    this.#isDue = false;
    const { buffered, counters, timers } = this.#of;
    if (buffered.hasRoom(0)) return;
    this.#end(this.#readers(), "reply");
    this.#end(this.#senders(), "request");
    counters.unreadConnections += this.#endConnections();
    if (!buffered.hasRoom(0)) timers.set(this.#alarm, timers.nowMs + LOOK_AGAIN_MS);
    else timers.cancel(this.#alarm);
  }

  /** Ends the weightiest until there is room. */
  #end(candidates: Candidate[], whose: "reply" | "request"): void {
    const { overfull } = this.#of.counters;
    candidates.sort((a, b) => b.weight - a.weight);
    for (const { call } of candidates) {
      if (this.#hasRoom) return;
      const shared = call.flight?.reply;
      overfull[whose]++;
      call.guard(() => call.failOwn({ kind: "buffersFull", whose }));
      if (shared === undefined) continue;
      const { waiterCount } = shared.flight;
      if (waiterCount < SLIDE_EVERY || waiterCount % SLIDE_EVERY === 0) shared.slide();
    }
  }

  /** Callers that do not take their replies, by what is held for each and for how long it has been. */
  #readers(): Candidate[] {
    const candidates: Candidate[] = [];
    for (const session of this.#of.sessions()) {
      for (const { call, log, idleLooks } of session.unread.waiting()) {
        if (log.account === undefined) continue; // it is stored, and ending the call frees nothing
        const heldBytes = log.heldBytes / Math.max(1, call.flight?.waiterCount ?? 1);
        candidates.push({ call, weight: heldBytes * (1 + idleLooks) });
      }
    }
    return candidates;
  }

  /** Callers whose requests their backends do not take, by what is held of each. */
  #senders(): Candidate[] {
    const candidates: Candidate[] = [];
    if (this.#hasRoom) return candidates;
    for (const { connection } of this.#of.sessions()) {
      for (const { owner: call } of connection.streams()) {
        const exchange = call?.ownExchange;
        if (exchange === undefined || exchange.unsentBytes <= 0) continue;
        candidates.push({ call: call!, weight: exchange.unsentBytes });
      }
    }
    return candidates;
  }

  /** Ends connections whose sockets have taken nothing since the last look; returns how many. */
  #endConnections(): number {
    const { nowMs } = this.#of.timers;
    if (this.#hasRoom || nowMs - this.#writesOfMs < LOOK_AGAIN_MS) return 0;
    this.#writesOfMs = nowMs;
    const waiting = new Map<CallerSession, number>();
    let ended = 0;
    for (const session of [...this.#of.sessions()]) {
      if (session.connection.countedOutputBytes === 0) continue;
      if (this.#writes.get(session) === session.writes && !this.#hasRoom) {
        session.abort();
        ended++;
      } else waiting.set(session, session.writes);
    }
    this.#writes = waiting;
    return ended;
  }

  get #hasRoom(): boolean {
    const { buffered } = this.#of;
    return buffered.hasRoom(buffered.maxBytes * ROOM_SHARE);
  }
}
