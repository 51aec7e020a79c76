import { STATUS, statusOfHttp, statusOfReset } from "../grpc/mod.ts";
import { errorCodeName } from "../wire/mod.ts";
import type { Lack } from "./place.ts";

/**
 * Characters of a message. It may repeat what a peer or the system said, however long; encoded it takes up to nine
 * bytes for each, and many peers accept no more than 8 KiB of metadata.
 */
const MAX_TEXT_CHARACTERS = 512;

/** Everything that can end a call other than the backend's own answer. */
export type Failure =
  | { readonly kind: "deadline" }
  | {
    readonly kind: "backendTimeout";
    readonly timeoutMs: number;
    /** Some of the answer had come. */
    readonly hasBegun: boolean;
  }
  | { readonly kind: "cutShort" }
  | { readonly kind: "callerGone" }
  | { readonly kind: "unreachable"; readonly why: string }
  | { readonly kind: "connectionLost"; readonly why: string }
  | { readonly kind: "backendReset"; readonly code: number }
  | { readonly kind: "malformedReply"; readonly why: string }
  | { readonly kind: "notGrpc"; readonly httpStatus: number }
  | { readonly kind: "noStatus" }
  | { readonly kind: "headersTooLarge"; readonly whose: "request" | "reply" }
  | { readonly kind: "pendingFull"; readonly backend: string }
  | { readonly kind: "callerCrowded"; readonly backend: string }
  | {
    readonly kind: "queueTimeout";
    readonly backend: string;
    readonly waitedMs: number;
    /** What the call was short of. */
    readonly lack: Lack;
    /** How many of that there are. */
    readonly limit: number;
  }
  | { readonly kind: "methodFull"; readonly backend: string; readonly maxConcurrent: number }
  | { readonly kind: "ejected"; readonly backend: string; readonly why: string }
  | { readonly kind: "tooSlow" }
  | { readonly kind: "notStored" }
  /** The caller has read nothing of its reply for so long. */
  | { readonly kind: "stalled"; readonly timeoutMs: number }
  /** More is held for peers than may be: a reply that its caller does not take, or a request. */
  | { readonly kind: "buffersFull"; readonly whose: "request" | "reply" }
  | { readonly kind: "malformedTimeout"; readonly value: string }
  | { readonly kind: "draining" }
  | { readonly kind: "connectionAged" }
  | { readonly kind: "faultOfOurs" };

/** What a caller is told. */
export interface FailureStatus {
  /** A gRPC status. */
  readonly code: number;
  /** Plain text; it is percent-encoded where it goes on the wire. */
  readonly message: string;
}

/** The one place where a failure becomes a gRPC status. */
export function statusOfFailure(failure: Failure): FailureStatus {
  const { code, text } = judge(failure);
  const isTooLong = text.length > MAX_TEXT_CHARACTERS;
  const shown = isTooLong ? `${text.slice(0, MAX_TEXT_CHARACTERS)}...` : text;
  return { code, message: `collapser: ${shown}` };
}

function judge(failure: Failure): { code: number; text: string } {
  switch (failure.kind) {
    case "deadline":
      return { code: STATUS.deadlineExceeded, text: "the call's deadline has passed" };
    case "backendTimeout":
      return {
        code: STATUS.deadlineExceeded,
        text: failure.hasBegun
          ? `the backend's answer stopped: nothing more came within ${failure.timeoutMs} ms`
          : `the backend gave no answer within ${failure.timeoutMs} ms`,
      };
    case "cutShort":
      return {
        code: STATUS.unavailable,
        text: "the backend ended its answer when the time was up that another caller had given it",
      };
    case "callerGone":
      return { code: STATUS.cancelled, text: "the caller went away" };
    case "unreachable":
      return { code: STATUS.unavailable, text: `the backend cannot be reached: ${failure.why}` };
    case "connectionLost":
      return {
        code: STATUS.unavailable,
        text: `the connection to the backend was lost: ${failure.why}`,
      };
    case "backendReset":
      return {
        code: statusOfReset(failure.code),
        text: `the backend reset the stream with ${errorCodeName(failure.code)}`,
      };
    case "malformedReply":
      return { code: STATUS.internal, text: `the backend's reply is malformed: ${failure.why}` };
    case "notGrpc":
      return {
        code: statusOfHttp(failure.httpStatus),
        text: `the backend answered HTTP ${failure.httpStatus}, not gRPC`,
      };
    case "noStatus":
      // As gRPC's own clients do when a stream ends without trailers.
      return { code: STATUS.internal, text: "the backend ended the stream without a grpc-status" };
    case "headersTooLarge":
      return {
        code: STATUS.resourceExhausted,
        text: `the ${failure.whose}'s metadata is too large`,
      };
    case "pendingFull":
      return {
        code: STATUS.resourceExhausted,
        text: `too many calls wait for backend ${failure.backend}`,
      };
    case "callerCrowded":
      return {
        code: STATUS.resourceExhausted,
        text:
          `backend ${failure.backend} has no place, and too many calls of this connection are ` +
          "open for one more to wait: use more connections",
      };
    case "queueTimeout":
      return judgeWait(failure);
    case "methodFull":
      return {
        code: STATUS.resourceExhausted,
        text: `backend ${failure.backend} has ${failure.maxConcurrent} calls of this method ` +
          "already, as many as the policy allows",
      };
    case "ejected":
      return {
        code: STATUS.unavailable,
        text: `backend ${failure.backend} is left out for a while: ${failure.why}`,
      };
    case "tooSlow":
      return {
        code: STATUS.resourceExhausted,
        text: "the caller reads too slowly to share this stream",
      };
    case "notStored":
      return {
        code: STATUS.unavailable,
        text: "no stored result answers the call, which takes nothing else (only-if-cached)",
      };
    case "stalled":
      return {
        code: STATUS.resourceExhausted,
        text: `the caller read nothing of its reply for ${failure.timeoutMs} ms ` +
          "(GRPC_STALL_TIMEOUT)",
      };
    case "buffersFull":
      return {
        code: STATUS.resourceExhausted,
        text: failure.whose === "reply"
          ? "too much is held for callers that read slowly (COLLAPSER_MAX_BUFFERED_BYTES)"
          : "no room for the request: too much is held already (COLLAPSER_MAX_BUFFERED_BYTES)",
      };
    case "malformedTimeout":
      return { code: STATUS.internal, text: `cannot read the grpc-timeout "${failure.value}"` };
    case "connectionAged":
      return {
        code: STATUS.unavailable,
        text: "the connection is too old, and so is its grace (GRPC_MAX_CONNECTION_AGE)",
      };
    case "draining":
      return { code: STATUS.unavailable, text: "shutting down" };
    case "faultOfOurs":
      return { code: STATUS.internal, text: "a fault of the sidecar's own" };
  }
}

function judgeWait(
  { backend, waitedMs, lack, limit }: Failure & { kind: "queueTimeout" },
): { code: number; text: string } {
  const waited = `waited ${Math.round(waitedMs)} ms in the queue of backend ${backend}, which`;
  switch (lack) {
    case "place":
      return {
        code: STATUS.resourceExhausted,
        text: `${waited} is full: its ${limit} places are taken (BACKEND_MAX_CONCURRENT)`,
      };
    case "stream":
      return {
        code: STATUS.resourceExhausted,
        text: `${waited} takes no more streams on any of ${limit} connections`,
      };
    case "connection":
      return { code: STATUS.unavailable, text: `${waited} has no connection yet` };
  }
}
