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

/** A connection beyond those that are kept is closed when it was idle for so long: the burst that needed it is over. */
const SPARE_IDLE_MS = 10_000;

/** How a sidecar says that its backend is itself, by whatever name. */
const IS_SELF = "it is this sidecar itself: BACKEND_ADDRESS leads back here";

/** The endpoint whose connections they are, as the pool sees it. */
export interface PoolOwner extends SessionOwner {
  /** Calls can be sent from now on. */
  poolUp(): void;
  /** No call can be sent for a while, though a connection is being made: calls wait for it. */
  poolInDoubt(why: string): void;
  /** No call can be sent; `why` is in words, and `isNews` false when that was known. */
  poolDown(why: string, isNews: boolean): void;
  /** The pool was retired, and its last connection is gone. */
  poolEmptied(): void;
}

/** What a pool is made with. */
export interface PoolOptions {
  readonly address: Address;
  /** Longest a connection may take to answer with its SETTINGS (BACKEND_CONNECT_TIMEOUT). */
  readonly connectTimeoutMs: number;
  /** Connections while all is well (BACKEND_CONNECTIONS). @default 1 */
  readonly connections?: number;
  /** Connections at most, when the peer's stream limit leaves calls waiting. */
  readonly maxConnections: number;
}

/**
 * The connections to one address: opened before they are needed, replaced when they go, and asked for again. After every
 * event one function ({@linkcode ConnectionPool.connect}) compares those that take calls with those that are wanted.
 */
export class ConnectionPool {
  /** Why no call can be sent; "" when one can. */
  trouble = "not connected yet";
  /** An attempt to connect has come to nothing since a connection last worked. */
  isRefused = false;
  readonly #owner: PoolOwner;
  readonly #context: UpstreamContext;
  readonly #options: PoolOptions;
  /** Connections that take calls, or will once their SETTINGS are in. */
  #sessions: UpstreamSession[] = [];
  /** All connections, those that finish their last calls included. */
  readonly #open = new Set<UpstreamSession>();
  /** Connections whose SETTINGS have come. */
  readonly #worked = new WeakSet<UpstreamSession>();
  /** Connections to processes of this program. */
  readonly #met = new Set<UpstreamSession>();
  /** Resolves when the pool was stopped and its last connection is gone. */
  readonly #emptied = Promise.withResolvers<void>();
  /** Connections that are wanted now: more than are kept, while calls wait for the peer's stream limit. */
  #wanted: number;
  #isDialling = false;
  readonly #retry = new CallbackAlarm(() => this.connect());
  readonly #doubt = new CallbackAlarm(() => this.#fallIntoDoubt());
  readonly #spare = new CallbackAlarm(() => this.#closeSpare());
  /** Why the last connection that worked is gone. */
  #lostWhy = "";
  /** The next pause; 0 after a connection that was good for something: then another is asked for at once. */
  #pauseMs = 0;
  /** The last connection that worked was good for nothing. */
  #isFlapping = false;
  #stopped = false;

  constructor(owner: PoolOwner, context: UpstreamContext, options: PoolOptions) {
    this.#owner = owner;
    this.#context = context;
    this.#options = options;
    this.#wanted = this.#kept;
  }

  /** Neither connected nor about to be. */
  get isDown(): boolean {
    return this.#sessions.length === 0 && !this.#isDialling;
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  /** All connections are at the peer's stream limit, and no more may be opened. */
  get isAtStreamLimit(): boolean {
    return this.#sessions.length >= this.#options.maxConnections && this.#areFull;
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

  /** All connections, those that finish their last calls included. */
  sessions(): Iterable<UpstreamSession> {
    return this.#open;
  }

  /** Lets go of every connection; resolves when all are gone, which they are once their output is written. */
  stop(): Promise<void> {
    this.#halt();
    for (const session of this.#open) session.close();
    if (this.#open.size === 0) this.#emptied.resolve();
    return this.#emptied.promise;
  }

  /** Opens no more connections, and lets go of each once its calls have ended. */
  retire(): void {
    this.#halt();
    for (const session of this.#open) session.leave();
    if (this.#open.size === 0) this.#owner.poolEmptied();
  }

  #halt(): void {
    this.#stopped = true;
    for (const alarm of [this.#retry, this.#doubt, this.#spare]) this.#context.timers.cancel(alarm);
  }

  /** Calls wait: one more connection is wanted when the peer's stream limit is all that they wait for. */
  grow(): void {
    const count = this.#sessions.length;
    if (count === 0 || count >= this.#options.maxConnections || !this.#areFull) return;
    this.#wanted = count + 1;
    this.connect();
  }

  /** Opens a connection when fewer take calls than are wanted, unless one is being opened or a pause is on. */
  connect(): void {
    if (this.#stopped || this.#isDialling || this.#retry.isSet) return;
    if (this.#sessions.length < this.#wanted) void this.#dial();
  }

  async #dial(): Promise<void> {
    const { dial, timers } = this.#context;
    const { address, connectTimeoutMs } = this.#options;
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
    if (session === undefined) this.isRefused = true;
    if (session !== undefined) this.#adopt(session, untilMs);
    else this.#pause(why);
  }

  /** Takes a new connection, whose SETTINGS must be in at `untilMs`: connecting, TLS included, was on the same time. */
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
    if (this.#sessions.length > this.#kept) timers.set(this.#spare, timers.nowMs + SPARE_IDLE_MS);
    this.connect();
  }

  /** SETTINGS came: the connection works, unless it is one to ourselves. */
  ready(session: UpstreamSession): void {
    const { connection } = session;
    if (!connection.ready || !this.#sessions.includes(session)) return;
    if (connection.peer.instance !== 0 && connection.peer.instance === this.#context.instance) {
      session.abandon(IS_SELF);
    } else {
      this.#meet(session);
      this.isRefused = false;
      this.#worked.add(session);
      if (!this.#isFlapping) this.#pauseMs = 0;
      if (this.trouble === "") return;
      this.trouble = "";
      this.#owner.poolUp();
    }
  }

  /** The backend may be a process of this program, and then say so, which it does once. */
  #meet(session: UpstreamSession): void {
    const { instance } = session.connection.peer;
    if (instance === 0 || this.#met.has(session)) return;
    this.#met.add(session);
    this.#context.instances.met(instance);
  }

  /** A connection takes no new calls. */
  leave(session: UpstreamSession): void {
    this.#lose(session, "the backend is going away");
  }

  /** A connection is gone. */
  closed(session: UpstreamSession, why: string): void {
    this.#open.delete(session);
    if (this.#met.delete(session)) this.#context.instances.left(session.connection.peer.instance);
    this.#lose(session, why);
    if (!this.#stopped || this.#open.size > 0) return;
    this.#emptied.resolve();
    this.#owner.poolEmptied();
  }

  /**
   * Another connection is asked for at once when the one that goes was good for something, as after a GOAWAY for
   * politeness' sake, however often they come; but not again and again of a backend that takes each one and drops it.
   */
  #lose(session: UpstreamSession, why: string): void {
    if (!this.#sessions.includes(session)) return; // it was lost before
    this.#sessions = this.#sessions.filter((other) => other !== session);
    if (this.#stopped) return;
    const { timers } = this.#context;
    this.#lostWhy = why;
    if (!this.#worked.has(session)) this.isRefused = true;
    if (!this.#doubt.isSet) timers.set(this.#doubt, timers.nowMs + DOUBT_AFTER_MS);
    this.#isFlapping = !session.wasOfUse;
    if (session.wasOfUse) this.#pauseMs = 0;
    if (this.#pauseMs > 0 || !session.connection.ready) return this.#pause(why);
    this.#pauseMs = FIRST_PAUSE_MS; // unless the next one is of use, too
    timers.cancel(this.#retry); // a pause after another one is no reason to be without any
    this.connect();
  }

  /** Nothing came of a connection: the next one is asked for after a while. */
  #pause(why: string): void {
    if (this.#stopped) return;
    const { timers, random } = this.#context;
    const pauseMs = Math.max(this.#pauseMs, FIRST_PAUSE_MS);
    this.#pauseMs = Math.min(pauseMs * PAUSE_GROWTH, LONGEST_PAUSE_MS);
    timers.set(this.#retry, timers.nowMs + pauseMs * (1 - JITTER * random()));
    if (this.#sessions.length > 0) return;
    const isNews = this.trouble !== why;
    this.trouble = why;
    this.#owner.poolDown(why, isNews);
  }

  #fallIntoDoubt(): void {
    if (this.trouble !== "" || this.#sessions.some(({ connection }) => connection.ready)) return;
    this.trouble = this.#lostWhy;
    this.#owner.poolInDoubt(this.#lostWhy);
  }

  /** Lets go of connections beyond those that are kept, as far as they are idle. */
  #closeSpare(): void {
    const { timers } = this.#context;
    let spare = this.#sessions.length - this.#kept;
    for (const session of [...this.#sessions]) {
      if (spare === 0 || session.connection.openStreams > 0) continue;
      this.#sessions = this.#sessions.filter((other) => other !== session);
      session.leave();
      spare--;
    }
    this.#wanted = Math.max(this.#kept, this.#sessions.length);
    if (spare > 0) timers.set(this.#spare, timers.nowMs + SPARE_IDLE_MS);
  }

  get #kept(): number {
    return this.#options.connections ?? 1;
  }

  /** All connections are at the peer's stream limit. */
  get #areFull(): boolean {
    return this.#sessions.every((session) => session.connection.ready && !session.canOpen);
  }
}
