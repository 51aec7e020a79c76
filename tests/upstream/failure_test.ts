import { assertEquals } from "@std/assert";
import { type Failure, statusOfFailure } from "../../lib/upstream/mod.ts";
import { appendFailure, failureReply, failureTrailers } from "../../lib/upstream/failure_reply.ts";
import { FrameLog } from "../../lib/wire/mod.ts";
import { FrameParser } from "../support/frame_parser.ts";
import { block, pairsOf } from "../support/frames.ts";

/** Every failure there is, and what it becomes. */
const TABLE: readonly (readonly [failure: Failure, code: number, text: string])[] = [
  [{ kind: "deadline" }, 4, "the call's deadline has passed"],
  [{ kind: "backendTimeout", timeoutMs: 9 }, 4, "the backend gave no answer within 9 ms"],
  [{ kind: "callerGone" }, 1, "the caller went away"],
  [{ kind: "unreachable", why: "refused" }, 14, "the backend cannot be reached: refused"],
  [{ kind: "connectionLost", why: "cut" }, 14, "the connection to the backend was lost: cut"],
  [{ kind: "backendReset", code: 8 }, 1, "the backend reset the stream with CANCEL"],
  [{ kind: "malformedReply", why: "bad" }, 13, "the backend's reply is malformed: bad"],
  [{ kind: "notGrpc", httpStatus: 503 }, 14, "the backend answered HTTP 503, not gRPC"],
  [{ kind: "noStatus" }, 13, "the backend ended the stream without a grpc-status"],
  [{ kind: "headersTooLarge", whose: "reply" }, 8, "the reply's metadata is too large"],
  [{ kind: "headersTooLarge", whose: "request" }, 8, "the request's metadata is too large"],
  [{ kind: "pendingFull", backend: "b" }, 8, "too many calls wait for backend b"],
  [{ kind: "tooSlow" }, 8, "the caller reads too slowly to share this stream"],
  [{ kind: "malformedTimeout", value: "1x" }, 13, 'cannot read the grpc-timeout "1x"'],
  [{ kind: "draining" }, 14, "shutting down"],
  [{ kind: "faultOfOurs" }, 13, "a fault of the sidecar's own"],
];

Deno.test("statusOfFailure names every failure, and says who speaks", () => {
  for (const [failure, code, text] of TABLE) {
    assertEquals(statusOfFailure(failure), { code, message: `collapser: ${text}` });
  }
});

Deno.test("failureReply is a whole reply in one block, its message percent-encoded (scenario 5)", () => {
  const fields = failureReply({ kind: "unreachable", why: "née\n100%" });
  assertEquals(pairsOf(fields), [
    [":status", "200"],
    ["content-type", "application/grpc"],
    ["grpc-status", "14"],
    ["grpc-message", "collapser: the backend cannot be reached: n%C3%A9e%0A100%25"],
  ]);
  for (const { fault } of fields) assertEquals(fault, "");
});

Deno.test("failureTrailers are the last two of these", () => {
  assertEquals(pairsOf(failureTrailers({ kind: "draining" })), [
    ["grpc-status", "14"],
    ["grpc-message", "collapser: shutting down"],
  ]);
});

Deno.test("appendFailure ends a log as a reply when it is empty, as trailers when it is not", () => {
  const [empty, begun] = [new FrameLog(), new FrameLog()];
  begun.appendHeaders(block([[":status", "200"]]), false);
  for (const log of [empty, begun]) appendFailure(log, { kind: "draining" });
  assertEquals(framesOf(empty).map(({ type }) => type), ["HEADERS"]);
  const [first, last] = framesOf(begun);
  assertEquals(first, {
    type: "HEADERS",
    streamId: 1,
    fields: [[":status", "200"]],
    endStream: false,
  });
  assertEquals(last, {
    type: "HEADERS",
    streamId: 1,
    fields: pairsOf(failureTrailers({ kind: "draining" })),
    endStream: true,
  });
});

/** The frames of a log, as if it was sent on stream 1. */
function framesOf(log: FrameLog): ReturnType<FrameParser["read"]> {
  const bytes = log.bytes.slice(0, log.end);
  for (let at = 0; at < bytes.length;) {
    bytes[at + 8] = 1;
    at += 9 + (bytes[at]! << 16) + (bytes[at + 1]! << 8) + bytes[at + 2]!;
  }
  return new FrameParser().read(bytes);
}
