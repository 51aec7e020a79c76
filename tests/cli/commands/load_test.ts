import { assertEquals } from "@std/assert";
import { collapser } from "../support.ts";

const DEFAULTS = {
  address: { host: "127.0.0.1", port: 50_052 },
  method: "/hello.v1.Hello/GetGreeting",
  callers: 100,
  keys: 1,
  metadata: [],
  deadlineMs: undefined,
  durationMs: 10_000,
  calls: undefined,
  connections: 1,
  callsPerSecond: undefined,
  json: false,
};

Deno.test("load sends to the sidecar on this machine for ten seconds", async () => {
  const { code, ran } = await collapser("load");
  assertEquals([code, ran], [0, ["load", DEFAULTS]]);
});

Deno.test("load takes everything that shapes the calls", async () => {
  const { ran } = await collapser(
    "load --address [::1]:1 --method /a.B/C --callers 2 --keys 3 --metadata X-A=1 " +
      "--metadata x-b=2 --deadline 1s --seconds 4 --calls 5 --connections 6 --rate 7 --json",
  );
  assertEquals(ran?.[1], {
    address: { host: "::1", port: 1 },
    method: "/a.B/C",
    callers: 2,
    keys: 3,
    metadata: [["x-a", "1"], ["x-b", "2"]],
    deadlineMs: 1_000,
    durationMs: 4_000,
    calls: 5,
    connections: 6,
    callsPerSecond: 7,
    json: true,
  });
});

Deno.test("load has no time limit of its own when a number of calls ends it", async () => {
  const { ran } = await collapser("load --calls 5");
  assertEquals(ran?.[1], { ...DEFAULTS, calls: 5, durationMs: undefined });
});

Deno.test("load ends with 1 when a signal comes before its result", async () => {
  const never = new Promise<number>(() => {});
  const { code } = await collapser("load", {
    runners: { load: () => never },
    onSubscribed: (send) => queueMicrotask(send),
  });
  assertEquals(code, 1);
});
