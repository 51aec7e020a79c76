import { assertEquals } from "@std/assert";
import { type Failure, statusOfFailure } from "../../lib/upstream/mod.ts";

/** Every failure there is, and what it becomes. */
const TABLE: readonly (readonly [failure: Failure, code: number, text: string])[] = [
  [{ kind: "deadline" }, 4, "the call's deadline has passed"],
  [
    { kind: "backendTimeout", timeoutMs: 9, hasBegun: false },
    4,
    "the backend gave no answer within 9 ms",
  ],
  [
    { kind: "backendTimeout", timeoutMs: 9, hasBegun: true },
    4,
    "the backend's answer stopped: nothing more came within 9 ms",
  ],
  [
    { kind: "cutShort" },
    14,
    "the backend ended its answer when the time was up that another caller had given it",
  ],
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
  [
    { kind: "callerCrowded", backend: "b" },
    8,
    "backend b has no place, and too many calls of this connection are open for one more to wait: " +
    "use more connections",
  ],
  [
    { kind: "methodFull", backend: "b", maxConcurrent: 7 },
    8,
    "backend b has 7 calls of this method already, as many as the policy allows",
  ],
  [
    { kind: "connectionAged" },
    14,
    "the connection is too old, and so is its grace (GRPC_MAX_CONNECTION_AGE)",
  ],
  [{ kind: "ejected", backend: "b", why: "ill" }, 14, "backend b is left out for a while: ill"],
  [{ kind: "tooSlow" }, 8, "the caller reads too slowly to share this stream"],
  [
    { kind: "notStored" },
    14,
    "no stored result answers the call, which takes nothing else (only-if-cached)",
  ],
  [
    { kind: "stalled", timeoutMs: 9 },
    8,
    "the caller read nothing of its reply for 9 ms (GRPC_STALL_TIMEOUT)",
  ],
  [
    { kind: "buffersFull", whose: "reply" },
    8,
    "too much is held for callers that read slowly (COLLAPSER_MAX_BUFFERED_BYTES)",
  ],
  [
    { kind: "buffersFull", whose: "request" },
    8,
    "no room for the request: too much is held already (COLLAPSER_MAX_BUFFERED_BYTES)",
  ],
  [{ kind: "malformedTimeout", value: "1x" }, 13, 'cannot read the grpc-timeout "1x"'],
  [{ kind: "draining" }, 14, "shutting down"],
  [{ kind: "faultOfOurs" }, 13, "a fault of the sidecar's own"],
];

Deno.test("statusOfFailure names every failure, and says who speaks", () => {
  for (const [failure, code, text] of TABLE) {
    assertEquals(statusOfFailure(failure), { code, message: `collapser: ${text}` });
  }
});

Deno.test("statusOfFailure cuts what a peer or the system said after 512 characters, and says so", () => {
  const room = 512 - "the backend cannot be reached: ".length;
  for (
    const [length, shown] of [[room, "x".repeat(room)], [
      room + 1,
      `${"x".repeat(room)}...`,
    ]] as const
  ) {
    const { message } = statusOfFailure({ kind: "unreachable", why: "x".repeat(length) });
    assertEquals(message, `collapser: the backend cannot be reached: ${shown}`);
  }
});
