import { assert, assertEquals } from "@std/assert";
import type { Fault } from "../../lib/connection/mod.ts";
import { containedObserver, type ProxyObserver, SILENT } from "../../lib/observe/mod.ts";
import { data, goAway, raw } from "../support/frames.ts";
import { GET, withRig } from "../support/proxy_rig.ts";

const FAULT: Fault = { scope: "connection", streamId: 0, code: 1, why: "bad" };

/** Each thing that is told, once. */
const TOLD: readonly (readonly [name: keyof ProxyObserver, args: readonly unknown[]])[] = [
  ["methodJudged", ["/a.S/Get", { eligible: true, why: "its name" }, "collapse"]],
  ["couldHaveCollapsed", ["/a.S/Put"]],
  ["keptApartBy", ["/a.S/Get", "x-hop"]],
  ["dependsOnCaller", ["/a.S/Get", ["x-tenant"], "verify"]],
  ["connectionFailed", ["backend", FAULT, "10.0.0.1:1"]],
  ["backendUp", ["main"]],
  ["backendDown", ["main", "refused"]],
  ["backendEjected", ["main", "ill"]],
  ["backendReturned", ["main"]],
  ["goneAway", ["backend", { code: 11, debug: "too_many_pings" }, "10.0.0.1:1"]],
  ["turnedAway", ["main", "full"]],
  ["notDescribed", ["a.S", "Unavailable"]],
  ["faultOfOurs", ["sending", new Error("no")]],
];

/** Tells all of it, and says what came out. */
function tellAll(observer: ProxyObserver): void {
  for (const [name, args] of TOLD) {
    (observer[name] as (...args: readonly unknown[]) => void)(...args);
  }
}

function observerOf(
  hear: (name: keyof ProxyObserver, args: readonly unknown[]) => void,
): ProxyObserver {
  const entries = TOLD.map(([name]) => [name, (...args: unknown[]) => hear(name, args)]);
  return Object.fromEntries(entries) as unknown as ProxyObserver;
}

Deno.test("containedObserver passes everything on as it is told", () => {
  assertEquals(TOLD.map(([name]) => name).sort(), Object.keys(SILENT).sort()); // nothing is left out
  const heard: unknown[] = [];
  const counters = { faults: 0 };
  tellAll(containedObserver(observerOf((name, args) => heard.push([name, args])), counters));
  assertEquals(heard, [...TOLD]);
  assertEquals(counters.faults, 1);
});

Deno.test("containedObserver tells an observer of its own faults, and whoever tells of none", () => {
  const heard: unknown[] = [];
  tellAll(containedObserver(
    observerOf((name, args) => {
      if (name !== "faultOfOurs") throw new Error(name);
      heard.push(args);
    }),
    { faults: 0 },
  ));
  const faults = TOLD.slice(0, -1).map(([name]) => ["telling the observer", new Error(name)]);
  assertEquals(heard, [...faults, TOLD.at(-1)![1]]);
});

Deno.test("containedObserver leaves to the process what not even the observer's own faults can be told", () => {
  const reported: string[] = [];
  function hear(event: ErrorEvent): void {
    event.preventDefault();
    reported.push(event.error.message);
  }
  addEventListener("error", hear);
  try {
    let told = 0;
    tellAll(containedObserver(
      observerOf((name) => {
        throw new Error(`${name} ${++told}`);
      }),
      { faults: 0 },
    ));
  } finally {
    removeEventListener("error", hear);
  }
  // Each fault itself, and not that it could not be told.
  const names = TOLD.map(([name], i) => `${name} ${2 * i + 1}`);
  assertEquals(reported, names);
});

Deno.test("containedObserver keeps an observer that throws from doing any harm", async () => {
  const faults: string[] = [];
  function boom(): never {
    throw new Error("boom");
  }
  const observer = {
    methodJudged: boom,
    connectionFailed: boom,
    backendUp: boom,
    backendDown: boom,
    faultOfOurs: (what: string, error: unknown) => void faults.push(`${what}: ${error}`),
  };
  await withRig({ observer, dialling: "refuses" }, async (rig) => {
    rig.dialling = "accepts";
    await rig.advance(700); // it is asked again all the same
    assertEquals(rig.proxy.readiness.ready, true);
    const [caller, bad] = [await rig.caller(), await rig.caller()];
    const call = caller.call(GET, "1");
    await rig.settle();
    rig.request(0).replies(["one"]);
    await rig.settle();
    call.expects(0, "one");
    bad.sends(raw(6, {}, new Uint8Array(3)));
    await rig.settle();
    assertEquals(bad.seen("GOAWAY").length, 1);
    rig.backend.sends(data(0, "x"));
    await rig.settle();
    assertEquals(rig.backends[0]!.seen("GOAWAY").length, 1);
    rig.backend.sends(goAway(0, 0));
    await rig.advance(700);
    assertEquals(rig.proxy.readiness.ready, true);
    assert(faults.length >= 5, `${faults.length} faults`);
    for (const fault of faults) assertEquals(fault, "telling the observer: Error: boom");
  });
});
