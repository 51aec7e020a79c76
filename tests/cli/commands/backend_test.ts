import { assertEquals, assertExists } from "@std/assert";
import { collapser } from "../support.ts";

Deno.test("backend runs on its defaults, and is told of signals", async () => {
  const { code, ran } = await collapser("backend");
  assertEquals([code, ran?.[0], ran?.[1]], [
    0,
    "backend",
    { host: "127.0.0.1", port: 50_051, delayMs: 50 },
  ]);
  assertExists((ran?.[2] as { signals?: unknown }).signals);
});

Deno.test("backend takes host, port and delay", async () => {
  const { ran } = await collapser("backend --host [::] --port 0 --delay 1.5s");
  assertEquals(ran?.[1], { host: "::", port: 0, delayMs: 1_500 });
});
