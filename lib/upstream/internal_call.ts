import { frameMessage } from "../grpc/mod.ts";
import type { Timers } from "../transport/mod.ts";
import { Field, FrameLog, HeaderList } from "../wire/mod.ts";
import { Exchange, type ExchangeOwner, type Target, type Upstream } from "./exchange.ts";
import type { Failure } from "./failure.ts";

/**
 * Bytes of an answer. A description of a service comes with all files that it refers to, which makes megabytes for the
 * largest public APIs.
 */
const MAX_ANSWER_BYTES = 16 * 2 ** 20;

const TOO_LARGE: Failure = {
  kind: "malformedReply",
  why: `more than ${MAX_ANSWER_BYTES / 2 ** 20} MiB to a question of the sidecar's own`,
};

/**
 * Metadata in which the sidecar's own calls name their process. One that comes back to it has gone in a circle, of
 * sidecars that are each other's backends, in which it would go on for ever.
 */
export const INSTANCE_HEADER = "x-collapser-instance";

/** What the sidecar's own calls are made with. */
export interface InternalCallWorld {
  readonly backend: Upstream;
  readonly timers: Timers;
  readonly scheme: "http" | "https";
  /** What this process says to tell itself from others. */
  readonly instance: number;
}

/** A call that the sidecar makes by itself, of one message: it holds no place in a bulkhead and is counted nowhere. */
export class InternalCall implements ExchangeOwner {
  #world: InternalCallWorld;
  #exchange: Exchange;
  #ended: (exchange: Exchange) => void;

  /** `ended` hears once that it is over; the exchange's logs are its own until it returns. */
  constructor(
    world: InternalCallWorld,
    call: { path: string; authority: string; message: Uint8Array; patienceMs: number },
    ended: (exchange: Exchange) => void,
  ) {
    this.#world = world;
    this.#ended = ended;
    const body = new FrameLog();
    const message = frameMessage(call.message);
    body.appendData(message, 0, message.length, true);
    this.#exchange = new Exchange(this, {
      target: targetOf(call, world),
      perCall: [],
      body,
      deadlineMs: world.timers.nowMs + call.patienceMs,
      isProbe: true,
    });
  }

  start(): void {
    this.#world.timers.set(this.#exchange, this.#exchange.deadlineMs);
    this.#world.backend.start(this.#exchange);
  }

  /** Nobody wants to know any more. */
  stop(): void {
    this.#world.timers.cancel(this.#exchange);
    this.#world.backend.cancel(this.#exchange);
  }

  replyEnded(): void {
    this.#world.timers.cancel(this.#exchange);
    this.#ended(this.#exchange);
    this.#exchange.release();
  }

  timeIsUp(): void {
    this.#world.backend.settle(this.#exchange, { kind: "deadline" });
  }

  faulted(): void {
    this.replyEnded();
  }

  replyGrew(): void {
    const { reply } = this.#exchange;
    if (reply.receivedBytes > MAX_ANSWER_BYTES) {
      this.#world.backend.settle(this.#exchange, TOO_LARGE);
    } else this.#exchange.credit(0); // all of it is read as it comes
  }

  bodyMoved(): void {}
}

function targetOf(
  { path, authority }: { path: string; authority: string },
  { scheme, instance }: InternalCallWorld,
): Target {
  const fields: readonly (readonly [string, string])[] = [
    [":method", "POST"],
    [":scheme", scheme],
    [":path", path],
    [":authority", authority],
    ["te", "trailers"],
    ["content-type", "application/grpc"],
    [INSTANCE_HEADER, String(instance)],
  ];
  let list = new HeaderList();
  for (const [name, value] of fields) list = new HeaderList(list, new Field(name, value));
  return { list, method: { path, policy: {} } };
}
