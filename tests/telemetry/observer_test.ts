import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { MAX_LABELS } from "../../lib/observe/mod.ts";
import { createLogger, loggingObserver } from "../../lib/telemetry/mod.ts";

const FAULT = { scope: "connection", streamId: 0, code: 1, why: "PING on a stream" } as const;

function observed() {
  const entries: Record<string, unknown>[] = [];
  const clock = { nowMs: 0 };
  const log = createLogger({
    level: "info",
    format: "json",
    write(line) {
      const { time: _, ...entry } = JSON.parse(line);
      entries.push(entry);
    },
  });
  return { entries, clock, observer: loggingObserver(log, { now: () => clock.nowMs }) };
}

Deno.test("loggingObserver says once how a method is judged, and why", () => {
  const { entries, observer } = observed();
  observer.methodJudged("/a.B/GetC", { eligible: true, why: "begins with Get" }, "collapse");
  observer.methodJudged("/a.B/PutC", { eligible: false, why: "no reading verb" }, "collapse");
  observer.methodJudged("/a.B/GetC", { eligible: true, why: "begins with Get" }, "collapse");
  assertEquals(entries, [
    { level: "info", msg: "Method collapses", method: "/a.B/GetC", why: "begins with Get" },
    { level: "info", msg: "Method passes through", method: "/a.B/PutC", why: "no reading verb" },
  ]);
});

Deno.test("loggingObserver names as many methods as have labels, says so, and is silent", () => {
  const { entries, observer } = observed();
  for (let i = 0; i < MAX_LABELS + 50; i++) {
    observer.methodJudged(`/a.B/M${i}`, { eligible: false, why: "x" }, "collapse");
  }
  assertEquals(entries.length, MAX_LABELS + 1);
  assertEquals(entries.at(-1), {
    level: "info",
    msg: "Not logged any more after 200: methods and how they are judged",
  });
  observer.couldHaveCollapsed("/a.B/M1"); // each sort has its own allowance
  assertEquals(entries.length, MAX_LABELS + 2);
});

Deno.test("loggingObserver says how far a method's answers are shared", () => {
  const { entries, observer } = observed();
  const verdict = { eligible: true, why: "its name" };
  for (const mode of ["collapse", "verify", "shadow", "off"]) {
    observer.methodJudged("/a.B/GetC", verdict, mode);
  }
  assertEquals(entries.map(({ msg }) => msg), [
    "Method collapses",
    "Method collapses, and a sample is verified",
    "Method would collapse: it is in shadow",
    "Method passes through",
  ]);
});

Deno.test("loggingObserver tells an error of a method that was taken out, and warns of one in shadow once", () => {
  const { entries, observer } = observed();
  for (let i = 0; i < 2; i++) {
    observer.dependsOnCaller("/a.B/GetC", ["x-tenant", "x-user"], "shadow");
  }
  observer.dependsOnCaller("/a.B/GetC", ["x-tenant"], "verify");
  assertEquals(entries.map(({ level, metadata }) => [level, metadata]), [
    ["warn", "x-tenant,x-user"],
    ["error", "x-tenant"],
  ]);
});

Deno.test("loggingObserver says once for a method what would share its calls", () => {
  const { entries, observer } = observed();
  observer.couldHaveCollapsed("/pkg.S/M");
  observer.couldHaveCollapsed("/pkg.S/M");
  assertEquals(entries, [{
    level: "info",
    msg: "Equal calls at the same time each went to the backend",
    method: "/pkg.S/M",
    hint: "set COLLAPSER_METHODS=auto,/pkg.S/M if its answers may be shared",
  }]);
});

Deno.test("loggingObserver says once for a metadata name that it keeps calls apart", () => {
  const { entries, observer } = observed();
  observer.keptApartBy("/a.B/GetC", "x-page-view");
  observer.keptApartBy("/a.B/GetD", "x-page-view");
  assertEquals(entries, [{
    level: "info",
    msg: "Calls at the same time differed in one metadata name alone",
    method: "/a.B/GetC",
    metadata: "x-page-view",
    hint: "set COLLAPSER_IGNORE_HEADERS=x-page-view if answers do not depend on it",
  }]);
});

Deno.test("loggingObserver warns before a name that may say who asks is ignored", () => {
  for (const name of ["authorization", "cookie", "x-api-key", "x-tenant-id", "x-user"]) {
    const { entries, observer } = observed();
    observer.keptApartBy("/a.B/GetC", name);
    assertMatch(String(entries[0]?.hint), /only if every caller gets the same answers$/);
  }
});

Deno.test("loggingObserver warns of broken connections once a second for a side", () => {
  const { entries, clock, observer } = observed();
  for (let i = 0; i < 3; i++) observer.connectionFailed("caller", FAULT, "10.0.0.1:5000");
  observer.connectionFailed("backend", { ...FAULT, code: 11 }, "10.0.0.2:50051");
  clock.nowMs = 1_000;
  observer.connectionFailed("caller", FAULT, "10.0.0.1:5001");
  const msg = "Connection closed: the peer broke the protocol";
  const rest = { level: "warn", msg, why: "PING on a stream" };
  assertEquals(entries, [
    { ...rest, side: "caller", remote: "10.0.0.1:5000", code: "PROTOCOL_ERROR" },
    { ...rest, side: "backend", remote: "10.0.0.2:50051", code: "ENHANCE_YOUR_CALM" },
    { ...rest, side: "caller", remote: "10.0.0.1:5001", code: "PROTOCOL_ERROR", left_out: 2 },
  ]);
});

Deno.test("loggingObserver says that a backend comes and goes", () => {
  const { entries, observer } = observed();
  observer.backendUp("a");
  observer.backendDown("a", "connection refused");
  assertEquals(entries, [
    { level: "info", msg: "Backend is reachable", backend: "a" },
    { level: "warn", msg: "Backend is not reachable", backend: "a", why: "connection refused" },
  ]);
});

Deno.test("loggingObserver says of each backend once a second that it comes, and that it goes", () => {
  const { entries, clock, observer } = observed();
  for (let i = 0; i < 3; i++) {
    observer.backendUp("a");
    observer.backendDown("a", "connection refused");
  }
  observer.backendDown("b", "timed out");
  clock.nowMs = 1_000;
  observer.backendUp("a");
  observer.backendDown("a", "no route");
  const up = { level: "info", msg: "Backend is reachable" };
  const down = { level: "warn", msg: "Backend is not reachable" };
  assertEquals(entries, [
    { ...up, backend: "a" },
    { ...down, backend: "a", why: "connection refused" },
    { ...down, backend: "b", why: "timed out" },
    { ...up, backend: "a", left_out: 2 },
    { ...down, backend: "a", why: "no route", left_out: 2 },
  ]);
});

Deno.test("loggingObserver gives a fault of ours with its stack and its cause, once a second", () => {
  const { entries, clock, observer } = observed();
  const error = new TypeError("no such thing", { cause: new Error("the reason") });
  observer.faultOfOurs("sweep", error);
  observer.faultOfOurs("sweep", error);
  observer.faultOfOurs("flush", "just a text");
  clock.nowMs = 1_500;
  observer.faultOfOurs("sweep", Object.create(null));
  assertEquals(entries.map(({ level, what, left_out }) => [level, what, left_out]), [
    ["error", "sweep", undefined],
    ["error", "flush", undefined],
    ["error", "sweep", 1],
  ]);
  const stack = String(entries[0]?.stack);
  for (const part of ["TypeError: no such thing", "observer_test.ts", "the reason"]) {
    assertStringIncludes(stack, part);
  }
  assertStringIncludes(String(entries[1]?.stack), "just a text");
});
