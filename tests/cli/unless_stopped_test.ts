import { assertEquals, assertRejects } from "@std/assert";
import type { StopSignal } from "../../lib/cli/signals.ts";
import { unlessStopped } from "../../lib/cli/unless_stopped.ts";

function fakeSignals() {
  const subscribers = new Set<(signal: StopSignal) => void>();
  return {
    subscribers,
    onSignal(fn: (signal: StopSignal) => void) {
      subscribers.add(fn);
      return () => void subscribers.delete(fn);
    },
  };
}

Deno.test("unlessStopped gives the code of the work and unsubscribes", async () => {
  const signals = fakeSignals();
  assertEquals(await unlessStopped(signals, Promise.resolve(0)), 0);
  assertEquals(signals.subscribers.size, 0);
});

Deno.test("unlessStopped gives 1 for work that a signal cut short", async () => {
  const signals = fakeSignals();
  const work = Promise.withResolvers<number>();
  const code = unlessStopped(signals, work.promise);
  for (const subscriber of signals.subscribers) subscriber("SIGTERM");
  assertEquals(await code, 1);
  // What becomes of the work later is nobody's concern.
  work.reject(new Error("cut off"));
});

Deno.test("unlessStopped passes a fault of the work on and unsubscribes", async () => {
  const signals = fakeSignals();
  const work = Promise.reject(new Error("boom"));
  await assertRejects(() => unlessStopped(signals, work), Error, "boom");
  assertEquals(signals.subscribers.size, 0);
});
