import { assertEquals } from "@std/assert";
import { BackendCounters, ProxyCounters } from "../../lib/observe/mod.ts";
import { Timers } from "../../lib/transport/mod.ts";
import { Places } from "../../lib/trial/places.ts";
import { FakeClock } from "../support/fake_clock.ts";

function rig() {
  const clock = new FakeClock();
  const timers = new Timers(clock);
  const counters = new ProxyCounters();
  const backend = new BackendCounters("main");
  backend.limit = 10;
  counters.backends.push(backend);
  const places = new Places(counters, timers, 1);
  const heard: string[] = [];
  const ask = (name: string, kind: "first" | "sampled" = "first") =>
    places.ask({
      ...{ kind, backend: "main" },
      start: () => heard.push(name),
      skipped: (reason) => heard.push(`${name} ${reason}`),
    });
  return { clock, timers, backend, places, heard, ask };
}

Deno.test("Places start what waits once callers wait no longer", () => {
  const { clock, backend, heard, ask, timers, places } = rig();
  backend.pending = 1;
  ask("one");
  clock.advance(500);
  assertEquals(heard, []);
  backend.pending = 0;
  clock.advance(100);
  assertEquals(heard, ["one"]);
  places.ended("main");
  assertEquals(timers.pending, 0); // nothing looks any more
});

Deno.test("Places give up what has waited for a minute, and its place is another's", () => {
  const { clock, places, heard, ask } = rig();
  for (const name of ["one", "two"]) ask(name);
  clock.advance(61_000);
  ask("three");
  assertEquals(heard, ["one", "two deadline"]);
  places.ended("main");
  assertEquals(heard, ["one", "two deadline", "three"]);
});

Deno.test("Places skip all that waits and all that comes once they are stopped", () => {
  const { places, heard, ask, timers } = rig();
  for (const name of ["one", "two"]) ask(name);
  places.stop();
  ask("three");
  assertEquals(heard, ["one", "two draining", "three draining"]);
  assertEquals(timers.pending, 0);
});
