import type { Stream } from "../connection/mod.ts";
import { CallbackAlarm, type Timers } from "../transport/mod.ts";
import type { Failure } from "../upstream/mod.ts";
import type { FrameLog } from "../wire/mod.ts";

/** Replies that wait are looked at so often: who reads slowly is told from who does not read within two looks. */
const LOOK_MS = 1_000;

/** Looks within the time that a reply may wait, however short that is: it ends at most a quarter late. */
const LEAST_LOOKS = 8;

/** A caller's call, as the watch of its connection sees it. */
export interface ReadingOne {
  /** Ends this call alone. */
  failOwn(failure: Failure): void;
  guard(work: () => void): void;
}

/** The connection that a watch is kept over. */
export interface WatchedReplies<C extends ReadingOne> {
  readonly connection: { streams(): Iterable<Stream<C>> };
  readonly context: {
    readonly timers: Timers;
    readonly counters: { stalled: number };
    readonly limits: {
      /** Longest that a reply waits unread (GRPC_STALL_TIMEOUT); 0 for ever. */
      readonly stallTimeoutMs: number;
    };
  };
}

/** Where a reply stood when it was looked at. */
interface Seen {
  /** How far the caller had read when it was last seen to read on. */
  readonly position: number;
  /** Looks since then. */
  readonly idleLooks: number;
}

/** A reply that waits for its caller. */
export interface UnreadReply<C> extends Seen {
  readonly call: C;
  readonly log: FrameLog;
}

/**
 * The replies that callers of one connection do not take: because a window of theirs is shut, or since their socket is not
 * read. One alarm looks at all of them now and then, while there are any, so that a reply which is taken at once costs
 * nothing. Progress is judged by looks and not by the clock: in a process that was held up nobody could read.
 */
export class UnreadReplies<C extends ReadingOne> {
  readonly #over: WatchedReplies<C>;
  readonly #lookMs: number;
  readonly #alarm = new CallbackAlarm(() => this.#look());
  /** What the last look has seen. */
  #seen = new Map<C, Seen>();

  constructor(over: WatchedReplies<C>) {
    this.#over = over;
    const { stallTimeoutMs } = over.context.limits;
    this.#lookMs = stallTimeoutMs === 0 ? LOOK_MS : Math.min(LOOK_MS, stallTimeoutMs / LEAST_LOOKS);
  }

  /** A reply waits: it is looked after. */
  watch(): void {
    const { timers } = this.#over.context;
    if (!this.#alarm.isSet) timers.set(this.#alarm, timers.nowMs + this.#lookMs);
  }

  /** The connection is gone. */
  end(): void {
    this.#over.context.timers.cancel(this.#alarm);
    this.#seen.clear();
  }

  /** The replies that wait now, and for how many looks they have. */
  *waiting(): Generator<UnreadReply<C>> {
    for (const { owner: call, log, position } of this.#over.connection.streams()) {
      if (call === undefined || log === undefined || position >= log.end) continue;
      const before = this.#seen.get(call);
      const idleLooks = before?.position === position ? before.idleLooks : 0;
      yield { call, position, idleLooks, log };
    }
  }

  #look(): void {
    const { counters, limits: { stallTimeoutMs: timeoutMs } } = this.#over.context;
    const seen = new Map<C, Seen>();
    const stalled: C[] = [];
    for (const reply of this.waiting()) {
      const idleLooks = reply.idleLooks + 1;
      // The first look says only where the reply stands.
      if (timeoutMs > 0 && (idleLooks - 1) * this.#lookMs >= timeoutMs) stalled.push(reply.call);
      else seen.set(reply.call, { position: reply.position, idleLooks });
    }
    this.#seen = seen;
    if (seen.size > 0) this.watch();
    for (const call of stalled) {
      counters.stalled++;
      call.guard(() => call.failOwn({ kind: "stalled", timeoutMs }));
    }
  }
}
