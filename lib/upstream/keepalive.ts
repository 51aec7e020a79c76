import { Alarm, type Timers } from "../transport/mod.ts";

/** A backend that owes answers and is silent for this long is asked for a sign of life. */
const SILENCE_MS = 20_000;

/** A backend that does not answer the question within this time is taken to be gone: its calls would wait for ever otherwise. */
const ANSWER_MS = 10_000;

/**
 * Another PING on the same connection, unless the backend has sent HEADERS or DATA since, comes after this time: by
 * default servers take one in five minutes for good manners and close the connection at the third sooner one (gRFC A8).
 */
const PAUSE_MS = 301_000;

/** Opaque bytes of the PING. */
const PING = Uint8Array.from([0x61, 0x6c, 0x69, 0x76, 0x65, 0x3f, 0, 0]);

/** What is watched. */
export interface Watched {
  /** Streams are open. */
  readonly isBusy: boolean;
  /** When something last came, a PING's answer included. */
  readonly lastReadMs: number;
  ping(opaque: Uint8Array): void;
  /** The backend is gone; `silentMs` is for how long nothing came. */
  giveUp(silentMs: number): void;
}

/**
 * Finds out that a backend is gone whose connection does not say so: a host that lost power, a network that drops
 * packets. Costs nothing while replies come, and asks nothing without calls.
 */
export class Keepalive extends Alarm {
  /** The backend has sent HEADERS or DATA since the last PING. */
  hasFlowed = true;
  #watched: Watched;
  #timers: Timers;
  #busySinceMs = 0;
  #pingedMs = -Infinity;
  #isAsking = false;

  constructor(watched: Watched, timers: Timers) {
    super();
    this.#watched = watched;
    this.#timers = timers;
  }

  /** A call begins where none was open. */
  begin(): void {
    const { nowMs } = this.#timers;
    // Calls that gave up before anything came belong to the same silence.
    if (this.#watched.lastReadMs >= this.#busySinceMs) this.#busySinceMs = nowMs;
    if (!this.isSet) this.#timers.set(this, Math.max(nowMs, this.#busySinceMs + SILENCE_MS));
  }

  /** The connection is over. */
  stop(): void {
    this.#timers.cancel(this);
  }

  override wake(nowMs: number): void {
    const { lastReadMs, isBusy } = this.#watched;
    const isUnanswered = this.#isAsking && lastReadMs < this.#pingedMs;
    this.#isAsking = false;
    const silentMs = nowMs - Math.max(lastReadMs, this.#busySinceMs);
    if (isUnanswered) return this.#watched.giveUp(silentMs);
    if (!isBusy) return; // the next call goes on
    const mayPingMs = this.hasFlowed ? nowMs : this.#pingedMs + PAUSE_MS;
    const dueMs = Math.max(nowMs - silentMs + SILENCE_MS, mayPingMs);
    // Looked at again in time for a silence that begins after this: what flows then ends the pause.
    if (dueMs > nowMs) return this.#timers.set(this, Math.min(dueMs, nowMs + SILENCE_MS));
    this.#watched.ping(PING);
    this.#pingedMs = nowMs;
    this.#isAsking = true;
    this.hasFlowed = false;
    this.#timers.set(this, nowMs + ANSWER_MS);
  }
}
