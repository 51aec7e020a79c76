import { STATUS } from "../grpc/mod.ts";
import { ERROR_CODE } from "../wire/mod.ts";
import { type Exchange, type Failure, NO_DEADLINE } from "../upstream/mod.ts";

/** A caller that gives up sooner says nothing about the backend. */
const MIN_PATIENCE_MS = 100;

/** A caller's cancel that comes so shortly before its deadline is its deadline: clocks differ, and timeouts are rounded. */
const DEADLINE_SLACK_MS = 50;

/**
 * What the end of a call says about the backend's health: `bad` is nothing but trouble of its own (it cannot be
 * reached, breaks off, answers UNAVAILABLE or not in time); an answer with any other status is `good`, since a status
 * is the application's word, and a caller's bad requests must not make a backend look ill.
 */
export type Class = "good" | "bad" | "none";

/** The sign that an ended call is, at `nowMs`. */
export function classify(exchange: Exchange, nowMs: number): Class {
  const { failure, status } = exchange;
  if (failure !== undefined) return signOfFailure(failure, exchange, nowMs);
  if (status === STATUS.unavailable) return "bad";
  if (status === STATUS.deadlineExceeded) return waited(exchange, nowMs) ? "bad" : "none";
  return "good";
}

function signOfFailure(failure: Failure, exchange: Exchange, nowMs: number): Class {
  switch (failure.kind) {
    case "unreachable":
    case "connectionLost":
    case "malformedReply":
    case "noStatus":
      return "bad";
    case "notGrpc": // a load balancer's page in place of a backend
      return failure.httpStatus >= 500 ? "bad" : "good";
    case "backendReset":
      return failure.code === ERROR_CODE.cancel ? "none" : "bad";
    case "backendTimeout":
    case "deadline":
    case "callerGone":
      return isTimeout(exchange, nowMs) ? "bad" : "none";
    default:
      return "none";
  }
}

/** It was sent, nothing came, and time is what ended it. */
function isTimeout(exchange: Exchange, nowMs: number): boolean {
  const { attempts, receivedBytes, largestListBytes, deadlineMs, failure } = exchange;
  if (attempts === 0 || receivedBytes > 0 || largestListBytes > 0) return false;
  const isOver = failure?.kind === "backendTimeout" ||
    deadlineMs !== NO_DEADLINE && nowMs >= deadlineMs - DEADLINE_SLACK_MS;
  return isOver && waited(exchange, nowMs);
}

function waited({ startedMs }: Exchange, nowMs: number): boolean {
  return nowMs - startedMs >= MIN_PATIENCE_MS;
}
