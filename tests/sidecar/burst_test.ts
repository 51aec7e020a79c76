import { assertEquals, assertLess } from "@std/assert";
import { encodeGreetingRequest, HELLO_PATHS } from "../../lib/hello/mod.ts";
import { type Client, LoadRun, requestBody, type Tally } from "../../lib/measure/mod.ts";
import { besideHello } from "../support/beside.ts";
import { clientOf } from "../support/client.ts";
import { GatedBackend } from "../support/gated_backend.ts";
import { LocalSidecar } from "../support/local_sidecar.ts";
import { until, within } from "../support/waiting.ts";

const CALLERS = 10_000;
const CONNECTIONS = 100;

/** Longer than it takes to send the burst: a caller that comes later is answered from what is stored, or leads again. */
const SLOW_MS = 500;

/** All callers at once, who ask for the same thing. */
function burst(client: Client): Promise<Tally> {
  const body = requestBody(encodeGreetingRequest({ name: "Ada" }));
  const run = new LoadRun(client, {
    method: client.method({ path: HELLO_PATHS.getGreeting }),
    bodyOf: () => body,
    keys: 1,
    callers: CALLERS,
    calls: CALLERS,
  });
  return within(run.run(), "the end of the burst").then(() => run.tally);
}

Deno.test("startSidecar answers 10,000 callers on 100 connections with one call to the backend", async () => {
  await using backend = new GatedBackend();
  await using local = await LocalSidecar.before(backend);
  await using client = await clientOf(local.port, { connections: CONNECTIONS });
  const over = burst(client);
  const { map, counters } = local.sidecar.proxy;
  await until(() => map.waiting === CALLERS, "all callers waiting at once");
  await backend.holds(1);
  assertEquals([backend.calls, map.flying, counters.connections], [1, 1, CONNECTIONS]);
  backend.release();
  const { ended, statuses } = await over;
  assertEquals([ended, [...statuses]], [CALLERS, [[0, CALLERS]]]);
  assertEquals(backend.calls, 1);
  const { led, joined } = local.outcomes;
  assertEquals([led, joined], [1, CALLERS - 1]);
});

Deno.test("startSidecar answers as many in front of a grpc-js server with one call or two", async () => {
  await using pair = await besideHello({}, { delayMs: SLOW_MS });
  await using client = await clientOf(pair.local.port, { connections: CONNECTIONS });
  const { ended, statuses } = await burst(client);
  assertEquals([ended, [...statuses]], [CALLERS, [[0, CALLERS]]]);
  assertLess(pair.hello.total, 3);
});
