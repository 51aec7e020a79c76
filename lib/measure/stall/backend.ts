import { frameMessage, healthReply } from "../../grpc/mod.ts";
import {
  CallbackAlarm,
  listen,
  type Listening,
  type Socket,
  Timers,
  Turn,
} from "../../transport/mod.ts";
import { encodeStateless, Field, FrameLog, HeaderCache } from "../../wire/mod.ts";
import { type ServedBy, type ServedCall, StallSession } from "./backend_session.ts";
import type { Breakable, FaultName } from "./fault.ts";
import { Gate, GatedSocket } from "./gated_socket.ts";

const LOOPBACK = "127.0.0.1";

/** Calls that the backend works on at once; far above what any pool here sends, so that pools are what is measured. */
const CAPACITY = 256;

/** Time that the fault `latency` adds to each answer. */
const ADDED_MS = 100;

/** `slow-start`: share of the time for which the backend is gone, and how much longer its first answers take. */
const GONE_SHARE = 0.2;
const SLOW_START_MS = 500;

const HEALTH_PATH = "/grpc.health.v1.Health/Check";

const HEAD = [new Field(":status", "200"), new Field("content-type", "application/grpc")];
const ANSWER = replyOf(new Uint8Array(0));
const SERVING = replyOf(healthReply(true));

export interface StallBackendOptions {
  /** Port on the loopback address; 0 for a free one. */
  readonly port: number;
  /** Time that an answer takes while all is well. */
  readonly serviceMs: number;
}

/**
 * A gRPC server in this process that answers any unary call with an empty message after a while, says that it is
 * healthy, and can be broken in the ways of {@linkcode FaultName}.
 */
export class StallBackend implements Breakable, ServedBy {
  readonly timers = new Timers();
  readonly turn = new Turn();
  readonly requestHeaders = new HeaderCache();
  readonly port: number;
  #options: StallBackendOptions;
  #gate = new Gate();
  #listening: Listening;
  #sessions = new Map<StallSession, Promise<void>>();
  #running = 0;
  #waiting = new Set<ServedCall>();
  #fault: FaultName = "none";
  #faultEndsMs = 0;
  #returnsMs = 0;
  /** Whether each connection is closed at once: a port that was given up might be somebody else's the next moment. */
  #isGone = false;
  #return = new CallbackAlarm(() => this.#isGone = false);
  #isClosed = false;

  constructor(options: StallBackendOptions) {
    this.#options = options;
    this.#listening = listen(
      { hostname: LOOPBACK, port: options.port },
      (socket) => this.#accept(socket),
      reportError,
    );
    this.port = this.#listening.port;
  }

  begin(fault: FaultName, durationMs: number): void {
    const nowMs = this.timers.refresh();
    this.#fault = fault;
    this.#faultEndsMs = nowMs + durationMs;
    if (fault === "stall" || fault === "sigstop") this.#gate.close();
    else if (fault === "blackhole") this.#gate.swallows = true;
    else if (fault === "reset") this.#resetAll();
    else if (fault === "slow-start") {
      this.#isGone = true;
      this.#abortAll();
      this.#returnsMs = nowMs + durationMs * GONE_SHARE;
      this.timers.set(this.#return, this.#returnsMs);
    }
  }

  end(): void {
    if (this.#fault === "blackhole") this.#abortAll(); // nobody knows any more what was said on them
    this.#fault = "none";
    this.#gate.swallows = false;
    this.#gate.open();
    this.timers.cancel(this.#return);
    this.#isGone = false;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.end();
    this.#listening.close();
    this.#abortAll();
    await Promise.all(this.#sessions.values());
    this.timers.stop();
  }

  // ---- what sessions tell

  serve(call: ServedCall): void {
    if (this.#fault === "reset") return call.resets();
    if (call.path === HEALTH_PATH) return call.replies(SERVING);
    if (this.#running >= CAPACITY) this.#waiting.add(call);
    else this.#begin(call);
  }

  givenUp(call: ServedCall): void {
    this.#waiting.delete(call);
    this.timers.cancel(call);
    if (call.isRunning) this.#finish(call);
  }

  isDone(call: ServedCall): void {
    this.#finish(call);
    call.replies(ANSWER);
  }

  closed(session: StallSession): void {
    this.#sessions.delete(session);
  }

  // ---- work

  #begin(call: ServedCall): void {
    call.isRunning = true;
    this.#running++;
    const nowMs = this.timers.refresh();
    this.timers.set(call, nowMs + this.#options.serviceMs + this.#addedMs(nowMs));
  }

  #finish(call: ServedCall): void {
    call.isRunning = false;
    this.#running--;
    for (const next of this.#waiting) { // one at most
      this.#waiting.delete(next);
      return this.#begin(next);
    }
  }

  #addedMs(nowMs: number): number {
    if (this.#fault === "latency") return ADDED_MS;
    if (this.#fault !== "slow-start") return 0;
    const left = (this.#faultEndsMs - nowMs) / (this.#faultEndsMs - this.#returnsMs);
    return SLOW_START_MS * Math.min(1, Math.max(0, left));
  }

  // ---- connections

  #accept(socket: Socket): void {
    if (this.#isGone) return socket.close();
    const session = new StallSession(new GatedSocket(socket, this.#gate), this);
    this.#sessions.set(session, session.run());
  }

  #abortAll(): void {
    for (const session of this.#sessions.keys()) session.abort();
  }

  #resetAll(): void {
    for (const session of this.#sessions.keys()) session.refuseAll();
  }
}

function replyOf(message: Uint8Array): FrameLog {
  const framed = frameMessage(message);
  const log = new FrameLog();
  log.appendHeaders(encodeStateless(HEAD), false);
  log.appendData(framed, 0, framed.length);
  log.appendHeaders(encodeStateless([new Field("grpc-status", "0")]), true);
  return log;
}
