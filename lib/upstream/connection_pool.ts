import { type Address, addressName, CallbackAlarm } from "../transport/mod.ts";
import type { UpstreamContext } from "./upstream_context.ts";
import { type SessionOwner, UpstreamSession } from "./upstream_session.ts";

/** Pauses between attempts to connect: short, since the backend is next door and readiness must follow it within a second. */
const FIRST_PAUSE_MS = 50;
const PAUSE_GROWTH = 1.6;
const LONGEST_PAUSE_MS = 600;

/** Each pause is shortened by up to this share, so that many sidecars do not knock together. */
const JITTER = 0.25;

/** A lost connection that is not replaced within this time shows in readiness, which must follow within a second. */
const DOUBT_AFTER_MS = 600;

/** Whose connections they are. */
export interface PoolOwner extends SessionOwner {
  /** Calls can be sent from now on. */
  poolUp(): void;
  /** None can for a while, though a connection is being made: calls wait for it. */
  poolInDoubt(why: string): void;
  /** None can; `why` is in words, and `isNews` false when that was known. */
  poolDown(why: string, isNews: boolean): void;
}

export interface PoolOptions {
  readonly address: Address;
  /** Longest a connection may take to answer with its SETTINGS (BACKEND_CONNECT_TIMEOUT). */
  readonly connectTimeoutMs: number;
  /** Connections while all is well (BACKEND_CONNECTIONS). @default 1 */
  readonly connections?: number;
  /** Connections at most, when the peer's stream limit leaves calls waiting. */
  readonly maxConnections: number;
}

/** The connections to one address: opened before they are needed, replaced when they go, and asked for again. */
export class ConnectionPool {
  /** Why no call can be sent; "" when one can. */
  trouble = "not connected yet";
  #owner: PoolOwner;
  #context: UpstreamContext;
  #options: PoolOptions;
  /** Usable, or to be so once their SETTINGS are in. */
  #sessions: UpstreamSession[] = [];
  /** All, those that finish their last calls included. */
  #open = new Set<UpstreamSession>();
  #isDialling = false;
  #retry = new CallbackAlarm(() => this.connect());
  #doubt = new CallbackAlarm(() => this.#fallIntoDoubt());
  /** Why the last connection that worked is gone. */
  #lostWhy = "";
  #pauseMs = FIRST_PAUSE_MS;
  /** When it last connected without a pause. */
  #reconnectedMs = -Infinity;
  #stopped = false;

  constructor(
    owner: PoolOwner,
    context: UpstreamContext,
    options: PoolOptions,
  ) {
    this.#owner = owner;
    this.#context = context;
    this.#options = options;
  }

  /** Neither connected nor about to be. */
  get isDown(): boolean {
    return this.#sessions.length === 0 && !this.#isDialling;
  }

  /** A connection with room for one more call: of several, the one that has the fewest. */
  get usable(): UpstreamSession | undefined {
    let best: UpstreamSession | undefined;
    for (const session of this.#sessions) {
      if (!session.canOpen) continue;
      if (best === undefined || session.connection.openStreams < best.connection.openStreams) {
        best = session;
      }
    }
    return best;
  }

  /** Lets go of every connection. */
  stop(): void {
    this.#stopped = true;
    this.#context.timers.cancel(this.#retry);
    this.#context.timers.cancel(this.#doubt);
    for (const session of this.#open) session.close();
  }

  /** Opens no more connections, and lets go of each once its calls have ended. */
  retire(): void {
    this.#stopped = true;
    this.#context.timers.cancel(this.#retry);
    this.#context.timers.cancel(this.#doubt);
    for (const session of this.#open) session.leave();
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  /** Opens one more connection when the peer's stream limit is all that calls wait for. */
  grow(): void {
    const count = this.#sessions.length;
    if (this.#isDialling || count === 0 || count >= this.#options.maxConnections) return;
    const areFull = this.#sessions.every((session) => session.connection.ready && !session.canOpen);
    if (areFull) this.connect();
  }

  async connect(): Promise<void> {
    if (this.#stopped || this.#isDialling) return;
    const { dial, timers } = this.#context;
    const { address, connectTimeoutMs } = this.#options;
    timers.cancel(this.#retry);
    this.#isDialling = true;
    const untilMs = timers.refresh() + connectTimeoutMs;
    let session: UpstreamSession | undefined;
    let why = "";
    try {
      const socket = await dial(address, { timeoutMs: connectTimeoutMs });
      const remote = addressName(address);
      session = new UpstreamSession(socket, { owner: this.#owner, context: this.#context, remote });
    } catch (error) {
      why = error instanceof Error ? error.message : String(error);
    }
    timers.refresh();
    this.#isDialling = false;
    if (session !== undefined) this.#adopt(session, untilMs);
    else if (this.#sessions.length === 0) this.#fallDown(why);
    else this.#complete(LONGEST_PAUSE_MS);
  }

  /** Its SETTINGS must be in at `untilMs`: connecting, TLS included, was on the same time. */
  #adopt(session: UpstreamSession, untilMs: number): void {
    const { timers } = this.#context;
    const { connectTimeoutMs } = this.#options;
    if (this.#stopped) return session.close();
    this.#sessions.push(session);
    this.#open.add(session);
    const patience = new CallbackAlarm(() => {
      if (!session.connection.ready) session.abandon(`no SETTINGS within ${connectTimeoutMs} ms`);
    });
    timers.set(patience, untilMs);
    session.run().finally(() => timers.cancel(patience));
    this.#complete(0);
  }

  /** SETTINGS came: the connection works. */
  ready(session: UpstreamSession): void {
    if (this.trouble === "" || !session.connection.ready || !this.#sessions.includes(session)) {
      return;
    }
    this.trouble = "";
    this.#pauseMs = FIRST_PAUSE_MS;
    this.#owner.poolUp();
  }

  /** There is one, and there should be more: the next is asked for, or soon. */
  #complete(pauseMs: number): void {
    if (this.#stopped || this.#sessions.length >= (this.#options.connections ?? 1)) return;
    const { timers } = this.#context;
    timers.set(this.#retry, timers.nowMs + pauseMs);
  }

  /** It takes no new calls. */
  leave(session: UpstreamSession): void {
    if (!this.#sessions.includes(session)) return; // it said so before
    const why = "the backend is going away";
    this.#drop(session, why);
    if (this.#sessions.length === 0) this.#reconnect(why);
  }

  /** It is gone. */
  closed(session: UpstreamSession, why: string): void {
    this.#open.delete(session);
    if (!this.#sessions.includes(session)) return;
    this.#drop(session, why);
    if (this.#stopped) return;
    if (this.#sessions.length > 0) return this.#complete(FIRST_PAUSE_MS);
    if (session.connection.ready) this.#reconnect(why);
    else this.#fallDown(why);
  }

  /**
   * A connection that worked a moment ago is gone, so another is worth asking for at once; but not again and again of
   * a backend that takes each one and drops it.
   */
  #reconnect(why: string): void {
    if (this.#isDialling) return;
    const { nowMs } = this.#context.timers;
    if (nowMs - this.#reconnectedMs < LONGEST_PAUSE_MS) return this.#fallDown(why);
    this.#reconnectedMs = nowMs;
    this.connect();
  }

  #drop(session: UpstreamSession, why: string): void {
    const { timers } = this.#context;
    this.#sessions = this.#sessions.filter((other) => other !== session);
    this.#lostWhy = why;
    if (!this.#stopped) timers.set(this.#doubt, timers.nowMs + DOUBT_AFTER_MS);
  }

  #fallIntoDoubt(): void {
    if (this.trouble !== "" || this.#sessions.some(({ connection }) => connection.ready)) return;
    this.trouble = this.#lostWhy;
    this.#owner.poolInDoubt(this.#lostWhy);
  }

  #fallDown(why: string): void {
    if (this.#stopped) return;
    const { timers, random } = this.#context;
    const isNews = this.trouble !== why;
    this.trouble = why;
    this.#owner.poolDown(why, isNews);
    const pauseMs = this.#pauseMs * (1 - JITTER * random());
    this.#pauseMs = Math.min(this.#pauseMs * PAUSE_GROWTH, LONGEST_PAUSE_MS);
    timers.set(this.#retry, timers.nowMs + pauseMs);
  }
}
