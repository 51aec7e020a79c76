/**
 * Exchanges without anybody around them: an owner and a group that keep what they were told.
 *
 * @module
 */

import { frameMessage } from "../../lib/grpc/mod.ts";
import type { Backend, EndpointGroup } from "../../lib/upstream/mod.ts";
import { Exchange, type ExchangeOwner, type ExchangeRequest } from "../../lib/upstream/exchange.ts";
import { Field, FrameLog, HeaderList } from "../../lib/wire/mod.ts";
import { requestHead } from "../support/caller_end.ts";
import { ascii, type Pairs } from "../support/frames.ts";

export const METHOD = "/test.Service/GetItem";

/** What an exchange may be made of beside the usual. */
export interface Asked extends Partial<Omit<ExchangeRequest, "target" | "perCall" | "body">> {
  readonly path?: string;
  /** Calls of its method at once. */
  readonly maxConcurrent?: number;
  /** Fields of the list after those that every call has. */
  readonly metadata?: Pairs;
  /** Fields of this call alone. */
  readonly perCall?: Pairs;
  /** Its only message; undefined for a body that a test fills. */
  readonly message?: string;
  /** False when more of the body follows. @default true */
  readonly ends?: boolean;
}

/** A call of one message, unless told otherwise. */
export function exchangeOf(owner: ExchangeOwner, asked: Asked = {}): Exchange {
  const {
    path = METHOD,
    maxConcurrent,
    metadata = [],
    perCall = [],
    message,
    ends = true,
    ...rest
  } = asked;
  const body = new FrameLog();
  if (message !== undefined) {
    const framed = frameMessage(ascii(message));
    body.appendData(framed, 0, framed.length, ends);
  }
  const policy = maxConcurrent === undefined ? {} : { maxConcurrent };
  return new Exchange(owner, {
    deadlineMs: 0,
    ...rest,
    target: { list: listOf([...requestHead(path), ...metadata]), method: { path, policy } },
    perCall: perCall.map(([name, value]) => new Field(name, value, { perCall: true })),
    body,
  });
}

export function listOf(fields: Pairs): HeaderList {
  return fields.reduce(
    (list, [name, value]) => new HeaderList(list, new Field(name, value)),
    new HeaderList(),
  );
}

/** An owner that keeps what it was told, in words. */
export class RecordingOwner implements ExchangeOwner {
  /** Every word but those of {@linkcode moved}. */
  readonly heard: string[] = [];
  /** How often some of the request went out. */
  moved = 0;
  /** When the end was told. */
  endedMs = NaN;
  /** Does something when growth is told. */
  onGrowth: () => void = () => {};
  /** Does something when the end is told. */
  onEnd: (nowMs: number) => void = () => {};

  replyGrew(): void {
    this.heard.push("grew");
    this.onGrowth();
  }

  replyEnded(nowMs: number): void {
    this.heard.push("ended");
    this.endedMs = nowMs;
    this.onEnd(nowMs);
  }

  bodyMoved(): void {
    this.moved++;
  }

  timeIsUp(nowMs: number): void {
    this.heard.push(`time is up at ${nowMs}`);
  }

  faulted(): void {
    this.heard.push("faulted");
  }

  /** How often the end was told, as such or as a fault. */
  get ends(): number {
    return this.heard.filter((word) => word === "ended").length;
  }
}

/** A group that keeps what it was told. */
export class RecordingGroup implements EndpointGroup {
  readonly answered: Exchange[] = [];
  /** Each time a call was an endpoint's no longer, and whether it had an end then. */
  readonly left: { exchange: Exchange; hasEnded: boolean; nowMs: number }[] = [];
  /** How often reachability may have changed. */
  reached = 0;
  /** The other endpoint for a call; by default there is none. */
  otherFor: (exchange: Exchange) => Pick<Backend, "start"> | undefined = () => undefined;

  answers(exchange: Exchange): void {
    this.answered.push(exchange);
  }

  leaves(exchange: Exchange, nowMs: number): void {
    this.left.push({ exchange, hasEnded: exchange.reply.ended, nowMs });
  }

  reaches(): void {
    this.reached++;
  }

  elsewhere(exchange: Exchange): Pick<Backend, "start"> | undefined {
    return this.otherFor(exchange);
  }
}
