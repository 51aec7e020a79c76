import { frameMessage, healthRequest, healthStatus, STATUS } from "../grpc/mod.ts";
import type { Timers } from "../transport/mod.ts";
import { Field, FrameLog, HeaderList } from "../wire/mod.ts";
import type { AddressBackend } from "./backend.ts";
import { MethodCounters, OTHER_LABEL } from "./counters.ts";
import { joinData } from "./debug_log.ts";
import { Exchange, type ExchangeOwner } from "./exchange.ts";
import { NO_POLICY } from "./method_table.ts";
import type { Recovery } from "./outliers.ts";
import type { RequestRoute } from "./request_route.ts";

/** A backend that needs longer than this to say how it is is not well. */
const PATIENCE_MS = 1_000;

/** HealthCheckResponse.ServingStatus. */
const SERVING = 1;

/** Flag and length before the message. */
const PREFIX_BYTES = 5;

/** A call that the sidecar makes by itself: it holds no place in the wall and is counted nowhere. */
export interface ProbeEnvironment {
  readonly timers: Timers;
  readonly scheme: "http" | "https";
}

/** Asks a backend over grpc.health.v1 how it is, and says so once. */
export class HealthProbe implements ExchangeOwner {
  #backend: AddressBackend;
  #timers: Timers;
  #exchange: Exchange;
  #answer: (recovery: Recovery) => void;

  constructor(
    backend: AddressBackend,
    { timers, scheme }: ProbeEnvironment,
    answer: (recovery: Recovery) => void,
  ) {
    this.#backend = backend;
    this.#timers = timers;
    this.#answer = answer;
    const body = new FrameLog();
    const message = frameMessage(healthRequest(""));
    body.appendData(message, 0, message.length, true);
    this.#exchange = new Exchange(this, {
      route: routeTo(backend.name, scheme),
      perCall: [],
      body,
      deadlineMs: timers.nowMs + PATIENCE_MS,
      isProbe: true,
    });
  }

  start(): void {
    this.#timers.set(this.#exchange, this.#exchange.deadlineMs);
    this.#backend.start(this.#exchange);
  }

  /** Nobody wants to know any more. */
  stop(): void {
    this.#timers.cancel(this.#exchange);
    this.#backend.cancel(this.#exchange);
  }

  replyEnded(): void {
    const exchange = this.#exchange;
    this.#timers.cancel(exchange);
    this.#answer(recoveryOf(exchange));
    exchange.release();
  }

  timeIsUp(): void {
    this.#backend.cancel(this.#exchange);
    this.replyEnded();
  }

  faulted(): void {
    this.replyEnded();
  }

  replyGrew(): void {}

  bodyMoved(): void {}
}

function recoveryOf({ status, failure, log }: Exchange): Recovery {
  if (failure !== undefined) return "ill";
  if (status === STATUS.unimplemented || status === STATUS.notFound) return "unknown"; // it keeps no health
  const isServing = status === STATUS.ok &&
    healthStatus(joinData(log).subarray(PREFIX_BYTES)) === SERVING;
  return isServing ? "well" : "ill";
}

function routeTo(authority: string, scheme: "http" | "https"): RequestRoute {
  const fields: readonly (readonly [string, string])[] = [
    [":method", "POST"],
    [":scheme", scheme],
    [":path", "/grpc.health.v1.Health/Check"],
    [":authority", authority],
    ["te", "trailers"],
    ["content-type", "application/grpc"],
  ];
  let list = new HeaderList();
  for (const [name, value] of fields) list = new HeaderList(list, new Field(name, value));
  return {
    epoch: 0,
    list,
    method: {
      path: "",
      service: { name: "", generation: 0 },
      verdict: { eligible: false, why: "it is the sidecar's own" },
      policy: NO_POLICY,
      counters: new MethodCounters(OTHER_LABEL),
      behaviour: "unknown",
    },
    httpStatus: 0,
    keyHead: undefined,
    keyHash: undefined,
    asksHealth: false,
  };
}
