import { STATUS } from "../grpc/mod.ts";
import { type Exchange, type Failure, NO_DEADLINE } from "../upstream/mod.ts";
import { ERROR_CODE } from "../wire/mod.ts";

/** A caller that gives up sooner says nothing about the backend. */
const MIN_PATIENCE_MS = 100;

/** A caller's cancel that comes so shortly before its deadline is its deadline: clocks differ, and timeouts are rounded. */
const DEADLINE_SLACK_MS = 50;

/**
 * What the end of a call says about the backend's health. A `failure` is nothing but trouble of the backend's own: its
 * connection breaks off, it answers UNAVAILABLE, or not in time. An answer with any other status is a `success`, since a
 * status is the application's word, and a caller's bad requests must not make a backend look ill. A call that was not
 * sent, or that its caller ended, is `neutral`.
 */
export type Classification = "success" | "failure" | "neutral";

/** Classifies a call that its backend has no longer, at `nowMs`; one that goes on elsewhere has no end to classify. */
export function classify(exchange: Exchange, nowMs: number): Classification {
  const { attempt, reply: { ended, failure, status } } = exchange;
  if (attempt === undefined || !ended) return "neutral";
  if (failure !== undefined) return classifyFailure(failure, exchange, nowMs);
  if (status === STATUS.unavailable) return "failure";
  if (status === STATUS.deadlineExceeded) return waited(exchange, nowMs) ? "failure" : "neutral";
  return "success";
}

function classifyFailure(failure: Failure, exchange: Exchange, nowMs: number): Classification {
  switch (failure.kind) {
    case "connectionLost":
    case "malformedReply":
    case "noStatus":
      return "failure";
    case "notGrpc": // a load balancer's page in place of a backend
      return failure.httpStatus >= 500 ? "failure" : "success";
    case "backendReset":
      return isOfTheCaller(failure.code, exchange) ? "neutral" : "failure";
    case "backendTimeout":
    case "deadline":
    case "callerGone":
      return isTimeout(failure, exchange, nowMs) ? "failure" : "neutral";
    default:
      return "neutral";
  }
}

/** The backend gave up for the caller's sake: the caller cancelled, or has sent what the backend could not read. */
function isOfTheCaller(code: number, exchange: Exchange): boolean {
  return code === ERROR_CODE.cancel || code === ERROR_CODE.protocolError && isSilent(exchange);
}

/** Nothing of the backend's own has come. */
function isSilent({ reply: { receivedBytes, largestListBytes } }: Exchange): boolean {
  return receivedBytes === 0 && largestListBytes === 0;
}

/** Nothing came, and time is what ended the call. */
function isTimeout(failure: Failure, exchange: Exchange, nowMs: number): boolean {
  const { deadlineMs } = exchange;
  if (!isSilent(exchange)) return false;
  const isOver = failure.kind === "backendTimeout" ||
    deadlineMs !== NO_DEADLINE && nowMs >= deadlineMs - DEADLINE_SLACK_MS;
  return isOver && waited(exchange, nowMs);
}

function waited({ attempt }: Exchange, nowMs: number): boolean {
  return attempt !== undefined && nowMs - attempt.startedMs >= MIN_PATIENCE_MS;
}
