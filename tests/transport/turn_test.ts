import { assertEquals } from "@std/assert";
import { Turn } from "../../lib/transport/mod.ts";
import { concat, ping } from "../support/frames.ts";
import { PumpFixture, settle } from "./pump_fixture.ts";

Deno.test("Turn flushes all that was added, in order, after the code that added it", async () => {
  const turn = new Turn();
  const flushed: string[] = [];
  for (const name of ["a", "b", "c"]) turn.add({ flush: () => flushed.push(name) });
  assertEquals(flushed, []);
  await undefined;
  assertEquals(flushed, ["a", "b", "c"]);
  await settle();
  assertEquals(flushed.length, 3);
});

Deno.test("Turn keeps what is added while it flushes for a flush of its own", async () => {
  const turn = new Turn();
  const flushed: number[] = [];
  const again = {
    flush(): void {
      flushed.push(flushed.length);
      if (flushed.length < 5) turn.add(again);
    },
  };
  turn.add(again);
  queueMicrotask(() => flushed.push(-1)); // what waits already comes before the second flush
  await settle();
  assertEquals(flushed, [0, -1, 2, 3, 4]);
});

Deno.test("Turn makes one write a connection of what all reads of a turn produced", async () => {
  const turn = new Turn();
  const fixtures = await Promise.all(upToTen(() => PumpFixture.ready({ turn })));
  for (const fixture of fixtures) {
    // Everybody's read brings answers for everybody, as a flight does that many wait for.
    fixture.onReceived = () => {
      for (const other of fixtures) {
        other.say();
        other.pump.flushSoon();
      }
    };
  }
  for (const { socket } of fixtures) socket.sends(concat(ping(1), ping(2)));
  await settle();
  for (const fixture of fixtures) {
    assertEquals(fixture.socket.writeSizes.length, 1);
    assertEquals(fixture.takeNumbers().length, fixtures.length);
    fixture.pump.abort();
  }
});

function upToTen<T>(make: () => T): T[] {
  return Array.from({ length: 10 }, make);
}
