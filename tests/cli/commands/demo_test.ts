import { assertEquals } from "@std/assert";
import { collapser } from "../support.ts";

Deno.test("demo bursts 10000 callers of one key at a backend of 50 ms", async () => {
  const { code, ran } = await collapser("demo");
  assertEquals([code, ran], [0, [
    "demo",
    { callers: 10_000, keys: 1, delayMs: 50, connections: 10, shadow: false },
  ]]);
});

Deno.test("demo takes each number", async () => {
  const { ran } = await collapser("demo --callers 5 --keys 4 --delay 3ms --connections 2");
  assertEquals(ran?.[1], { callers: 5, keys: 4, delayMs: 3, connections: 2, shadow: false });
});

Deno.test("demo ends with 1 when a signal comes before its result", async () => {
  const never = new Promise<number>(() => {});
  const { code } = await collapser("demo", {
    runners: { demo: () => never },
    onSubscribed: (send) => queueMicrotask(send),
  });
  assertEquals(code, 1);
});
