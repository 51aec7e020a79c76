import {
  type Address,
  CallbackAlarm,
  type Dial,
  type Timers,
  type Turn,
} from "../transport/mod.ts";
import type { HeaderCache } from "../wire/mod.ts";
import { BackendSession, type SessionOwner } from "./backend_session.ts";
import type { BackendCounters, ProxyCounters } from "./counters.ts";
import { type Exchange, NO_DEADLINE } from "./exchange.ts";
import type { Failure } from "./failure.ts";
import type { ProxyObserver } from "./observer.ts";
import { PendingQueue } from "./pending_queue.ts";

/** Pauses between attempts to connect: short, since the backend is next door and readiness must follow it within a second. */
const FIRST_PAUSE_MS = 50;
const PAUSE_GROWTH = 1.6;
const LONGEST_PAUSE_MS = 600;

/** Each pause is shortened by up to this share, so that many sidecars do not knock together. */
const JITTER = 0.25;

/** Connections opened when the peer's stream limit leaves calls waiting. */
const MAX_CONNECTIONS = 8;

/** Times a call that provably reached nobody is sent: the second time settles it (gRFC A6). */
const MAX_ATTEMPTS = 2;

/** What all backends share. */
export interface BackendContext {
  readonly dial: Dial;
  readonly timers: Timers;
  readonly turn: Turn;
  readonly counters: ProxyCounters;
  readonly observer: ProxyObserver;
  /** Interns what backends answer. */
  readonly replyHeaders: HeaderCache;
  /** For jitter: at least 0, below 1. */
  readonly random: () => number;
}

export interface BackendOptions {
  readonly name: string;
  readonly address: Address;
  /** Longest a connection may take to answer with its SETTINGS (BACKEND_CONNECT_TIMEOUT). */
  readonly connectTimeoutMs: number;
  /** Calls under way at once (BACKEND_MAX_CONCURRENT). */
  readonly maxConcurrent: number;
  /** Calls that wait (BACKEND_MAX_PENDING). */
  readonly maxPending: number;
}

/** Somewhere calls can be sent. */
export interface Backend {
  readonly name: string;
  /** Why no call can be sent now; "" when one can. */
  readonly trouble: string;
  /** Sends the call, now or when there is room; every end is told to the exchange's owner. */
  start(exchange: Exchange): void;
  /** More of the request is there. */
  bodyGrew(exchange: Exchange): void;
  /** Ends it for this reason, by default that nobody waits any more; its owner hears nothing. */
  cancel(exchange: Exchange, failure?: Failure): void;
}

/** One backend at one address: its connections, its wall (calls under way, calls waiting), and its health. */
export class AddressBackend implements Backend, SessionOwner {
  readonly name: string;
  readonly counters: BackendCounters;
  #options: BackendOptions;
  #context: BackendContext;
  /** Usable, or to be so once their SETTINGS are in. */
  #sessions: BackendSession[] = [];
  /** All, those that finish their last calls included. */
  #open = new Set<BackendSession>();
  #dialling = 0;
  #pending = new PendingQueue();
  #retry = new CallbackAlarm(() => this.#connect());
  #pauseMs = FIRST_PAUSE_MS;
  #trouble = "not connected yet";
  #stopped = false;

  constructor(options: BackendOptions, context: BackendContext, counters: BackendCounters) {
    this.name = options.name;
    this.counters = counters;
    this.#options = options;
    this.#context = context;
  }

  get trouble(): string {
    return this.#trouble;
  }

  /** Connects, and keeps doing so: readiness must be known before the first call. */
  open(): void {
    this.#connect();
  }

  /** Lets go of every connection; calls under way get 14. */
  stop(): void {
    this.#stopped = true;
    this.#context.timers.cancel(this.#retry);
    for (const session of this.#open) session.close();
    this.#failPending({ kind: "draining" });
  }

  start(exchange: Exchange): void {
    if (this.#send(exchange)) return;
    if (this.#isDown) {
      this.counters.refused.unreachable++;
      this.#failNow(exchange, { kind: "unreachable", why: this.#trouble });
    } else if (this.#pending.size >= this.#options.maxPending) {
      this.counters.refused.pending_full++;
      this.#failNow(exchange, { kind: "pendingFull", backend: this.name });
    } else {
      this.#pending.add(exchange);
      this.counters.pending = this.#pending.size;
      this.#widen();
    }
  }

  bodyGrew(exchange: Exchange): void {
    if (exchange.streaming) this.#release(exchange);
    exchange.session?.sendBody(exchange);
  }

  cancel(exchange: Exchange, failure: Failure = { kind: "callerGone" }): void {
    if (exchange.ended) return;
    exchange.fail(failure);
    if (exchange.pending) {
      this.#pending.remove(exchange);
      this.counters.pending = this.#pending.size;
      return;
    }
    exchange.session?.cancel(exchange);
    this.exchangeEnded(exchange);
    this.#sendPending();
  }

  // ---- what sessions tell

  sessionHasRoom(session: BackendSession): void {
    if (this.#trouble !== "" && session.connection.ready && this.#sessions.includes(session)) {
      this.#trouble = "";
      this.#pauseMs = FIRST_PAUSE_MS;
      this.counters.up = true;
      this.#context.observer.backendUp(this.name);
    }
    this.#sendPending();
  }

  sessionLeaves(session: BackendSession): void {
    this.#sessions = this.#sessions.filter((other) => other !== session);
    if (this.#sessions.length === 0) this.#connect();
  }

  sessionClosed(session: BackendSession, why: string): void {
    this.#open.delete(session);
    for (const stream of [...session.connection.streams()]) {
      const exchange = stream.owner;
      if (exchange === undefined || exchange.ended) continue;
      exchange.fail(this.#stopped ? { kind: "draining" } : { kind: "connectionLost", why });
      this.exchangeEnded(exchange);
      exchange.owner.replyEnded(this.#now());
    }
    if (!this.#sessions.includes(session)) return;
    this.#sessions = this.#sessions.filter((other) => other !== session);
    if (this.#sessions.length > 0 || this.#stopped) return;
    if (session.connection.ready) this.#connect(); // it worked a moment ago, so it is worth asking at once
    else this.#fellDown(why);
  }

  repeat(exchange: Exchange, failure: Failure): void {
    if (exchange.canRepeat && exchange.attempts < MAX_ATTEMPTS && !this.#hasPassed(exchange)) {
      this.#release(exchange);
      exchange.session = undefined;
      exchange.stream = undefined;
      this.start(exchange);
    } else {
      this.#failNow(exchange, failure);
    }
  }

  exchangeStreams(exchange: Exchange): void {
    exchange.streaming = true;
    this.#release(exchange);
  }

  exchangeEnded(exchange: Exchange): void {
    this.#release(exchange);
    this.counters.answers.add(exchange.status);
    this.counters.latency.observe(this.#now() - exchange.startedMs);
  }

  // ---- sending

  /** Sends it if there is room for it now. */
  #send(exchange: Exchange): boolean {
    if (this.counters.inflight >= this.#options.maxConcurrent) return false;
    const session = this.#sessions.find((session) => session.canOpen);
    if (session === undefined) return false;
    exchange.counted = true;
    this.counters.inflight++;
    this.counters.calls++;
    session.open(exchange);
    return true;
  }

  #sendPending(): void {
    while (this.#pending.size > 0) {
      const exchange = this.#pending.first!;
      if (!this.#send(exchange)) break;
      this.#pending.remove(exchange);
    }
    this.counters.pending = this.#pending.size;
    if (this.#pending.size > 0) this.#widen();
  }

  /** Opens one more connection when the peer's stream limit is what calls wait for. */
  #widen(): void {
    if (
      this.#dialling > 0 || this.#sessions.length === 0 || this.#sessions.length >= MAX_CONNECTIONS
    ) return;
    if (this.counters.inflight >= this.#options.maxConcurrent) return;
    if (this.#sessions.every((session) => session.connection.ready && !session.canOpen)) {
      this.#connect();
    }
  }

  /** It has ended, or began to stream: its place in the wall is free. */
  #release(exchange: Exchange): void {
    if (!exchange.counted) return;
    exchange.counted = false;
    this.counters.inflight--;
  }

  #failNow(exchange: Exchange, failure: Failure): void {
    exchange.fail(failure);
    if (exchange.attempts > 0) this.exchangeEnded(exchange);
    exchange.owner.replyEnded(this.#now());
  }

  #failPending(failure: Failure): void {
    for (
      let exchange = this.#pending.first;
      exchange !== undefined;
      exchange = this.#pending.first
    ) {
      this.#pending.remove(exchange);
      this.counters.pending = this.#pending.size;
      this.#failNow(exchange, failure);
    }
  }

  // ---- connecting

  get #isDown(): boolean {
    return this.#sessions.length === 0 && this.#dialling === 0;
  }

  async #connect(): Promise<void> {
    if (this.#stopped || this.#dialling > 0) return;
    this.#context.timers.cancel(this.#retry);
    this.#dialling++;
    const { address, connectTimeoutMs } = this.#options;
    let session: BackendSession | undefined;
    let why = "";
    try {
      const socket = await this.#context.dial(address, { timeoutMs: connectTimeoutMs });
      const remote = `${address.host}:${address.port}`;
      session = new BackendSession(socket, { owner: this, context: this.#context, remote });
    } catch (error) {
      why = error instanceof Error ? error.message : String(error);
    }
    this.#context.timers.refresh();
    this.#dialling--;
    if (session === undefined) {
      if (this.#sessions.length === 0) this.#fellDown(why);
      return;
    }
    if (this.#stopped) return session.close();
    this.#adopt(session, connectTimeoutMs);
  }

  #adopt(session: BackendSession, timeoutMs: number): void {
    this.#sessions.push(session);
    this.#open.add(session);
    const patience = new CallbackAlarm(() => {
      if (!session.connection.ready) session.abandon(`no SETTINGS within ${timeoutMs} ms`);
    });
    this.#context.timers.set(patience, this.#now() + timeoutMs);
    session.run().finally(() => this.#context.timers.cancel(patience));
  }

  #fellDown(why: string): void {
    if (this.#stopped) return;
    if (this.counters.up || this.#trouble !== why) {
      this.#context.observer.backendDown(this.name, why);
    }
    this.counters.up = false;
    this.#trouble = why;
    this.#failPending({ kind: "unreachable", why });
    const pauseMs = this.#pauseMs * (1 - JITTER * this.#context.random());
    this.#pauseMs = Math.min(this.#pauseMs * PAUSE_GROWTH, LONGEST_PAUSE_MS);
    this.#context.timers.set(this.#retry, this.#now() + pauseMs);
  }

  #hasPassed(exchange: Exchange): boolean {
    return exchange.deadlineMs !== NO_DEADLINE && this.#now() >= exchange.deadlineMs;
  }

  #now(): number {
    return this.#context.timers.nowMs;
  }
}
