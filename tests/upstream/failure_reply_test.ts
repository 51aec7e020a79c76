import { assertEquals } from "@std/assert";
import { appendFailure, failureReply, failureTrailers } from "../../lib/upstream/failure_reply.ts";
import { FrameLog } from "../../lib/wire/mod.ts";
import { block, pairsOf } from "../support/frames.ts";
import { framesOf } from "../support/log_frames.ts";

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
