import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { decodeCountsReply, HELLO_PATHS } from "../../../lib/hello/mod.ts";
import {
  type BackendCount,
  type LoadOptions,
  runLoad,
} from "../../../lib/measure/load/run_load.ts";
import { besideHello, STORED_LONG } from "../../support/beside.ts";
import { GatedBackend } from "../../support/gated_backend.ts";
import { RecordedScreen } from "../recorded_screen.ts";

const HELLO_COUNT: BackendCount = {
  path: HELLO_PATHS.reportCounts,
  callsOf: (reply, method) => decodeCountsReply(reply).calls[method] ?? 0,
};

function optionsFor(port: number, options: Partial<LoadOptions> = {}): LoadOptions {
  return {
    address: { host: "127.0.0.1", port },
    method: HELLO_PATHS.getGreeting,
    callers: 20,
    keys: 1,
    metadata: [],
    deadlineMs: undefined,
    durationMs: undefined,
    calls: 500,
    connections: 2,
    callsPerSecond: undefined,
    json: false,
    ...options,
  };
}

Deno.test("runLoad prints outcomes, and what the backend itself counted", async () => {
  await using pair = await besideHello(STORED_LONG, { delayMs: 5 });
  const screen = new RecordedScreen();
  const options = optionsFor(pair.local.port, { keys: 3 });
  const code = await runLoad(options, { backendCount: HELLO_COUNT, screen });
  assertEquals([code, screen.complaints], [0, []]);
  assertEquals(pair.hello.counts()[HELLO_PATHS.getGreeting], 3);
  assertMatch(
    screen.text,
    /^\/hello\.v1\.Hello\/GetGreeting at 127\.0\.0\.1:\d+: 20 callers, 3 keys, /,
  );
  assertMatch(screen.text, /\ncalls {5}500 in .*, [\d,]+ answered OK a second\n/);
  assertStringIncludes(screen.text, "\nstatuses  OK 500\n");
  assertMatch(screen.text, /\noutcomes {2}hit \d+, joined \d+, led 3\n/);
  assertStringIncludes(screen.text, "\nbackend   counted 3 calls: one for 167 answers\n");
  assertMatch(screen.text, /\nlatency {3}p50 .* p99\.9 .* max .*\n\n.* - .* %$/s);
  for (const line of screen.text.split("\n").slice(1)) assert(line.length <= 80, line);
});

Deno.test("runLoad prints one JSON object with --json", async () => {
  await using pair = await besideHello(STORED_LONG);
  const screen = new RecordedScreen();
  const options = optionsFor(pair.local.port, { json: true, keys: 2, deadlineMs: 20_000 });
  assertEquals(await runLoad(options, { backendCount: HELLO_COUNT, screen }), 0);
  assertEquals(screen.printed.length, 1);
  const result = JSON.parse(screen.text);
  assertEquals(result.statuses, { OK: 500 });
  assertEquals([result.calls, result.failed, result.backendCalls], [500, 0, 2]);
  assertEquals(result.outcomes.led, 2);
  assertEquals(
    [result.address, result.keys, result.callers, result.connections, result.deadlineMs],
    [`127.0.0.1:${pair.local.port}`, 2, 20, 2, 20_000],
  );
  assertEquals([result.callsPerSecond, result.latenessMs], [null, null]);
  assertEquals(Object.keys(result.latencyMs), ["mean", "p50", "p90", "p99", "p999", "max"]);
  assert(result.seconds > 0 && result.answeredPerSecond > 0);
});

Deno.test("runLoad in an open loop tells how late it was itself", async () => {
  await using backend = new GatedBackend({ open: true });
  const screen = new RecordedScreen();
  const options = optionsFor(backend.port, { json: true, callsPerSecond: 500, calls: 100 });
  assertEquals(await runLoad(options, { screen }), 0);
  const result = JSON.parse(screen.text);
  assertEquals([backend.calls, result.calls, result.callsPerSecond], [100, 100, 500]);
  assertEquals([result.backendCalls, result.outcomes], [null, {}]);
  assert(result.latenessMs.max > 0);
  assert(result.seconds > 0.19, "500 a second");
});

Deno.test("runLoad exits with 1 and the first message of each status when calls fail", async () => {
  await using backend = new GatedBackend();
  const screen = new RecordedScreen();
  const options = optionsFor(backend.port, { calls: 30, callers: 30, deadlineMs: 50 });
  assertEquals(await runLoad(options, { screen }), 1);
  assertStringIncludes(screen.text, "deadline 50 ms");
  assertStringIncludes(screen.text, "\nstatuses  DeadlineExceeded 30\n");
  assertStringIncludes(screen.text, "\n          DeadlineExceeded: no answer by the deadline");
  assertEquals(screen.text.includes("latency"), false);
});

Deno.test("runLoad exits with 1 when nobody listens", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  const screen = new RecordedScreen();
  assertEquals(await runLoad(optionsFor(port), { screen }), 1);
  assertEquals(screen.printed, []);
  assertMatch(screen.complaints[0]!, /^Cannot connect to 127\.0\.0\.1:\d+: /);
});

Deno.test("runLoad leaves out what the backend will not tell", async () => {
  await using pair = await besideHello();
  const screen = new RecordedScreen();
  const backendCount = { ...HELLO_COUNT, path: "/hello.v1.Stats/Nothing" };
  assertEquals(await runLoad(optionsFor(pair.local.port), { backendCount, screen }), 0);
  assertEquals(screen.text.includes("backend"), false);
});
