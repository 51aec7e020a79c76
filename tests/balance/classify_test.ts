import { assertEquals } from "@std/assert";
import { type Classification, classify } from "../../lib/balance/classify.ts";
import type { Attempt } from "../../lib/upstream/exchange.ts";
import type { Exchange, Failure } from "../../lib/upstream/mod.ts";
import { ERROR_CODE } from "../../lib/wire/mod.ts";
import { exchangeOf, listOf, RecordingOwner } from "../upstream/exchange_fixture.ts";
import { RESPONSE } from "../support/frames.ts";
import { framed } from "../support/peer_end.ts";

const SENT_MS = 1_000_000;

/** Long enough for any patience, and for the deadlines here. */
const LATER_MS = SENT_MS + 1_000;

/** A call that was sent, unless told otherwise. */
function sent({ deadlineMs = 0, isSent = true } = {}): Exchange {
  const exchange = exchangeOf(new RecordingOwner(), { deadlineMs });
  const attempt: Attempt = {
    ...{ startedMs: SENT_MS, sentTo: 0, isTouched: false },
    ...{ sendBody() {}, credit() {}, abandon() {} },
  };
  if (isSent) exchange.attempt = attempt;
  return exchange;
}

function answered(status: number): Exchange {
  const exchange = sent();
  const list = listOf([...RESPONSE, ["grpc-status", String(status)]]);
  exchange.reply.takeHeaders({ list, perCall: [], tooLarge: false }, true);
  return exchange;
}

function failed(
  failure: Failure,
  options: { deadlineMs?: number; isSent?: boolean } = {},
): Exchange {
  const exchange = sent(options);
  exchange.reply.fail(failure);
  return exchange;
}

Deno.test("classify takes every answer for a success but UNAVAILABLE, and DEADLINE_EXCEEDED after patience", () => {
  for (let status = 0; status <= 20; status++) {
    const expected = status === 14 || status === 4 ? "failure" : "success";
    assertEquals(classify(answered(status), LATER_MS), expected, `status ${status}`);
  }
  const hasty = answered(4);
  assertEquals(classify(hasty, SENT_MS + 99), "neutral");
  assertEquals(classify(hasty, SENT_MS + 100), "failure");
  assertEquals(classify(answered(14), SENT_MS), "failure"); // however soon
});

const FAILURES: readonly (readonly [failure: Failure, Classification])[] = [
  [{ kind: "connectionLost", why: "cut" }, "failure"],
  [{ kind: "malformedReply", why: "bad" }, "failure"],
  [{ kind: "noStatus" }, "failure"],
  [{ kind: "notGrpc", httpStatus: 500 }, "failure"],
  [{ kind: "notGrpc", httpStatus: 503 }, "failure"],
  [{ kind: "notGrpc", httpStatus: 499 }, "success"],
  [{ kind: "notGrpc", httpStatus: 404 }, "success"],
  [{ kind: "notGrpc", httpStatus: 200 }, "success"],
  [{ kind: "backendReset", code: ERROR_CODE.cancel }, "neutral"],
  [{ kind: "backendReset", code: ERROR_CODE.internalError }, "failure"],
  [{ kind: "backendReset", code: ERROR_CODE.refusedStream }, "failure"],
  [{ kind: "backendReset", code: ERROR_CODE.enhanceYourCalm }, "failure"],
  [{ kind: "backendTimeout", timeoutMs: 1_000, hasBegun: false }, "failure"],
  [{ kind: "deadline" }, "neutral"], // there is none
  [{ kind: "callerGone" }, "neutral"],
  [{ kind: "unreachable", why: "refused" }, "neutral"],
  [{ kind: "headersTooLarge", whose: "request" }, "neutral"],
  [{ kind: "headersTooLarge", whose: "reply" }, "neutral"],
  [{ kind: "pendingFull", backend: "b" }, "neutral"],
  [{ kind: "callerCrowded", backend: "b" }, "neutral"],
  [{ kind: "methodFull", backend: "b", maxConcurrent: 1 }, "neutral"],
  [{ kind: "ejected", backend: "b", why: "ill" }, "neutral"],
  [{ kind: "draining" }, "neutral"],
  [{ kind: "faultOfOurs" }, "neutral"],
];

Deno.test("classify takes for a failure what is nothing but the backend's own trouble", () => {
  for (const [failure, expected] of FAILURES) {
    assertEquals(classify(failed(failure), LATER_MS), expected, Deno.inspect(failure));
  }
});

Deno.test("classify says nothing of a call that was not sent, or has no end", () => {
  for (const [failure] of FAILURES) {
    assertEquals(classify(failed(failure, { isSent: false }), LATER_MS), "neutral");
  }
  assertEquals(classify(sent({ deadlineMs: SENT_MS }), LATER_MS), "neutral");
});

Deno.test("classify takes a deadline for the backend's failure where it was patient, and ended the call", () => {
  const cases: [Failure["kind"], deadlineMs: number, endedMs: number, Classification][] = [
    ["deadline", SENT_MS + 500, SENT_MS + 500, "failure"],
    ["deadline", SENT_MS + 100, SENT_MS + 100, "failure"],
    ["deadline", SENT_MS + 99, SENT_MS + 99, "neutral"], // too hasty
    ["callerGone", SENT_MS + 500, SENT_MS + 450, "failure"], // clocks differ
    ["callerGone", SENT_MS + 500, SENT_MS + 449, "neutral"],
    ["callerGone", SENT_MS + 120, SENT_MS + 99, "neutral"],
    ["callerGone", SENT_MS + 500, SENT_MS + 900, "failure"],
  ];
  for (const [kind, deadlineMs, endedMs, expected] of cases) {
    const exchange = failed({ kind } as Failure, { deadlineMs });
    const what = `${kind} at ${endedMs - SENT_MS} of ${deadlineMs - SENT_MS}`;
    assertEquals(classify(exchange, endedMs), expected, what);
  }
});

Deno.test("classify takes the backend's timeout for its failure whatever the caller's deadline", () => {
  const failure: Failure = { kind: "backendTimeout", timeoutMs: 500, hasBegun: false };
  assertEquals(
    classify(failed(failure, { deadlineMs: SENT_MS + 9_000 }), SENT_MS + 500),
    "failure",
  );
  assertEquals(classify(failed(failure), SENT_MS + 99), "neutral");
});

Deno.test("classify takes no timeout for a failure once something has come", () => {
  for (const kind of ["deadline", "callerGone", "backendTimeout"] as const) {
    const withHead = sent({ deadlineMs: SENT_MS + 500 });
    withHead.reply.takeHeaders({ list: listOf(RESPONSE), perCall: [], tooLarge: false }, false);
    const withData = sent({ deadlineMs: SENT_MS + 500 });
    const message = framed("x");
    withData.reply.receive(message, 0, message.length);
    for (const exchange of [withHead, withData]) {
      exchange.reply.fail({ kind, timeoutMs: 500, hasBegun: false });
      assertEquals(classify(exchange, SENT_MS + 500), "neutral", kind);
    }
  }
});
