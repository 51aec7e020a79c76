import { assertEquals, assertThrows } from "@std/assert";
import { CallLedger } from "../../lib/hello/call_ledger.ts";

Deno.test("CallLedger numbers calls over all methods and counts them by method", () => {
  const ledger = new CallLedger();
  assertEquals(["/a", "/b", "/a"].map((path) => ledger.enter(path)), [1, 2, 3]);
  assertEquals(ledger.report(), {
    calls: { "/a": 2, "/b": 1 },
    total: 3,
    inFlight: 3,
    peakInFlight: 3,
  });
});

Deno.test("CallLedger remembers the most calls that were in flight together", () => {
  const ledger = new CallLedger();
  ledger.enter("/a");
  ledger.enter("/a");
  ledger.leave();
  ledger.leave();
  ledger.enter("/a");
  const { inFlight, peakInFlight } = ledger.report();
  assertEquals([inFlight, peakInFlight], [1, 2]);
});

Deno.test("CallLedger does not end more calls than were begun", () => {
  assertThrows(() => new CallLedger().leave(), Error, "none is in flight");
});
