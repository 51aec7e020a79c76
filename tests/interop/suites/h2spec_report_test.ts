import { assert, assertEquals, assertFalse } from "@std/assert";
import { EXCEPTIONS, IDS } from "./h2spec_cases.ts";
import { closedAsExpected, parseReport } from "./h2spec_report.ts";

/** Laid out as h2spec does it, with bytes of a server's answer in it as they came. */
const REPORT = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="5.1. States" package="http2/5.1" id="5.1" tests="3" skipped="1" failures="0" errors="1">
    <testcase package="http2/5.1" classname="idle: &#34;DATA&#34; &amp; more" time="0.0011"></testcase>
    <testcase package="http2/5.1" classname="skipped" time="0.0000">
      <skipped></skipped>
    </testcase>
    <testcase package="http2/5.1" classname="failed" time="2.0012">
      <failure>Expect:
GOAWAY Frame (Error Code: STREAM_CLOSED)
Connection closed
Actual:
DATA Frame (length:3, <\u0001&>)</failure>
    </testcase>
  </testsuite>
  <testsuite name="4. Types" package="generic/4" id="4" tests="1" skipped="0" failures="0" errors="1">
    <testcase package="generic/4" classname="late" time="2.0001">
      <error>Timeout</error>
    </testcase>
  </testsuite>
</testsuites>`;

Deno.test("parseReport reads each case with its number within its section", () => {
  const nothing = { expected: [], actual: "" };
  assertEquals(parseReport(REPORT), [
    { id: "http2/5.1/1", title: 'idle: "DATA" & more', result: "passed", ...nothing },
    { id: "http2/5.1/2", title: "skipped", result: "skipped", ...nothing },
    {
      id: "http2/5.1/3",
      title: "failed",
      result: "failed",
      expected: ["GOAWAY Frame (Error Code: STREAM_CLOSED)", "Connection closed"],
      actual: "DATA Frame (length:3, <\u0001&>)",
    },
    { id: "generic/4/1", title: "late", result: "failed", expected: [], actual: "Timeout" },
  ]);
});

Deno.test("parseReport finds nothing where there is no report", () => {
  assertEquals(parseReport(""), []);
});

Deno.test("closedAsExpected takes a reset for a close where a close will do", () => {
  const actual = "Error: read tcp 127.0.0.1:1->127.0.0.1:2: read: connection reset by peer";
  const verdict = { id: "", title: "", result: "failed" as const, actual };
  assert(closedAsExpected({ ...verdict, expected: ["PING Frame", "Connection closed"] }));
  assertFalse(closedAsExpected({ ...verdict, expected: ["PING Frame"] }));
  assertFalse(closedAsExpected({ ...verdict, expected: ["Connection closed"], actual: "Timeout" }));
});

Deno.test("IDS are the 146 cases of h2spec, each once", () => {
  assertEquals([IDS.length, new Set(IDS).size], [146, 146]);
});

Deno.test("EXCEPTIONS are cases of h2spec, and none is made for gRPC calls", () => {
  assertEquals(EXCEPTIONS.grpc, {});
  assertEquals(Object.keys(EXCEPTIONS.plain).filter((id) => !IDS.includes(id)), []);
});
