import { type Address, CallbackAlarm, type Dial, type Timers, Turn } from "../../transport/mod.ts";
import { HeaderCache } from "../../wire/mod.ts";
import { authorityOf } from "./authority.ts";
import { ClientSession, type SessionContext, type SessionOwner } from "./session.ts";

/** Least time between two attempts at one connection: callers who fail at once and try again are slowed to it. */
const RETRY_MS = 100;

/** The user of the connections, as far as the pool tells it things. */
export interface PoolOwner {
  /** Calls that wait may be sent on the session. */
  hasRoom(session: ClientSession): void;
  /** A connection was lost; returns whether a call waits for one. */
  lost(): boolean;
  /** Connections are neither left nor being made, and why. */
  unreachable(why: string): void;
}

export interface PoolOptions {
  readonly address: Address;
  readonly connections: number;
  readonly connectTimeoutMs: number;
  readonly dial: Dial;
  readonly timers: Timers;
}

/** A place for one connection. */
interface Slot {
  session: ClientSession | undefined;
  connecting: boolean;
  /** When the next attempt may be made, by the timers' clock. */
  retryMs: number;
}

/** A fixed number of connections to one address, made again when they are lost and somebody calls. */
export class ClientPool implements SessionOwner {
  #options: PoolOptions;
  #owner: PoolOwner;
  #context: SessionContext;
  #slots: Slot[];
  /** Sessions whose connection is there, those that were told to go away among them. */
  #running = new Map<ClientSession, Promise<void>>();
  #turn = 0;
  #down: number;
  #retry = new CallbackAlarm(() => this.revive());
  #closed = false;
  #opening: PromiseWithResolvers<void> | undefined = undefined;

  constructor(owner: PoolOwner, options: PoolOptions) {
    const { connections, timers } = options;
    this.#owner = owner;
    this.#options = options;
    this.#context = {
      owner: this,
      timers,
      turn: new Turn(),
      replyHeaders: new HeaderCache(),
    };
    this.#slots = Array.from(
      { length: connections },
      () => ({ session: undefined, connecting: false, retryMs: -Infinity }),
    );
    this.#down = connections;
  }

  /** Resolves when every connection can take calls; rejects when one cannot be had. */
  open(): Promise<void> {
    this.#opening = Promise.withResolvers();
    this.revive();
    return this.#opening.promise;
  }

  /** Connections that are missing. */
  get down(): number {
    return this.#down;
  }

  /** The next connection in turn that has room, so that calls are spread evenly. */
  pick(): ClientSession | undefined {
    const { length } = this.#slots;
    for (let tried = 0; tried < length; tried++) {
      const { session } = this.#slots[this.#turn]!;
      this.#turn = this.#turn + 1 === length ? 0 : this.#turn + 1;
      if (session?.canOpen) return session;
    }
    return undefined;
  }

  /** Tries each connection that is missing and may be tried again, and wakes up for the first that may not yet. */
  revive(): void {
    if (this.#closed) return;
    const { timers } = this.#options;
    const nowMs = timers.clock.now();
    let nextMs = Infinity;
    for (const slot of this.#slots) {
      if (slot.session !== undefined || slot.connecting) continue;
      if (slot.retryMs <= nowMs) void this.#connect(slot, nowMs);
      else nextMs = Math.min(nextMs, slot.retryMs);
    }
    if (nextMs < Infinity && !this.#retry.isSet) timers.set(this.#retry, nextMs);
  }

  /** Ends the calls under way with CANCELLED and closes every connection. */
  async close(why: string): Promise<void> {
    this.#closed = true;
    this.#options.timers.cancel(this.#retry);
    for (const session of this.#running.keys()) session.close(why);
    await Promise.all(this.#running.values());
  }

  // ---- what sessions tell

  sessionHasRoom(session: ClientSession): void {
    if (this.#opening !== undefined && this.#slots.every((slot) => slot.session?.canOpen)) {
      this.#opening.resolve();
      this.#opening = undefined;
    }
    this.#owner.hasRoom(session);
  }

  sessionLeaves(session: ClientSession): void {
    if (this.#forget(session) === undefined) return;
    this.#cannotOpen("the other side goes away");
    if (this.#owner.lost()) this.revive();
  }

  sessionClosed(session: ClientSession, why: string): void {
    this.#running.delete(session);
    const slot = this.#forget(session);
    if (slot === undefined || this.#closed) return;
    if (!session.wasReady) return this.#couldNotConnect(slot, why);
    this.#cannotOpen(why);
    if (this.#owner.lost()) this.revive();
  }

  /** Frees the session's slot; undefined when it has none any more. */
  #forget(session: ClientSession): Slot | undefined {
    const slot = this.#slots.find((one) => one.session === session);
    if (slot === undefined) return undefined;
    slot.session = undefined;
    this.#down++;
    return slot;
  }

  async #connect(slot: Slot, nowMs: number): Promise<void> {
    const { address, connectTimeoutMs, dial } = this.#options;
    slot.connecting = true;
    slot.retryMs = nowMs + RETRY_MS;
    try {
      const socket = await dial(address, { timeoutMs: connectTimeoutMs });
      slot.connecting = false;
      if (this.#closed) return socket.close();
      slot.session = new ClientSession(socket, this.#context, nowMs + connectTimeoutMs);
      this.#down--;
      this.#running.set(slot.session, slot.session.run());
    } catch (error) {
      slot.connecting = false;
      this.#couldNotConnect(slot, error instanceof Error ? error.message : String(error));
    }
  }

  /** Notes a failed attempt; calls wait on while another connection may still take them. */
  #couldNotConnect(slot: Slot, why: string): void {
    const told = this.#cannotOpen(why);
    const isLast = this.#slots.every((one) =>
      one === slot || one.session === undefined && !one.connecting
    );
    if (isLast) this.#owner.unreachable(told);
  }

  /** Tells whoever waits for all connections why that will not be; returns the words. */
  #cannotOpen(why: string): string {
    const told = `Cannot connect to ${authorityOf(this.#options.address)}: ${why}`;
    this.#opening?.reject(new Error(told));
    this.#opening = undefined;
    return told;
  }
}
