import { assertEquals } from "@std/assert";
import { encodeGreetingRequest, HELLO_PATHS } from "../../lib/hello/mod.ts";
import { type Client, LoadRun, requestBody, type Tally } from "../../lib/measure/mod.ts";
import { MIRROR_PATHS, startMirror } from "../interop/mirror.ts";
import { beside } from "../support/beside.ts";
import { clientOf } from "../support/client.ts";
import { GatedBackend } from "../support/gated_backend.ts";
import { LocalSidecar } from "../support/local_sidecar.ts";
import { until, within } from "../support/waiting.ts";

const CALLERS = 10_000;
const CONNECTIONS = 100;

/** The backend holds its one call for as long as a busy machine takes to send all of them. */
const PATIENT = { BACKEND_TIMEOUT: "1m" };

/** All callers at once, who ask for the same thing. */
function burst(client: Client, path: string): Promise<Tally> {
  const body = requestBody(encodeGreetingRequest({ name: "Ada" }));
  const run = new LoadRun(client, {
    method: client.method({ path }),
    bodyOf: () => body,
    keys: 1,
    callers: CALLERS,
    calls: CALLERS,
  });
  return within(run.run(), "the end of the burst").then(() => run.tally);
}

Deno.test("startSidecar answers 10,000 callers on 100 connections with one call to the backend", async () => {
  await using backend = new GatedBackend();
  await using local = await LocalSidecar.before(backend, PATIENT);
  await using client = await clientOf(local.port, { connections: CONNECTIONS });
  const over = burst(client, HELLO_PATHS.getGreeting);
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

Deno.test("startSidecar answers as many in front of a grpc-js server with one call, too", async () => {
  const gate = Promise.withResolvers<void>();
  const mirror = await startMirror(gate.promise);
  await using local = await beside(mirror, PATIENT);
  await using client = await clientOf(local.port, { connections: CONNECTIONS });
  const over = burst(client, MIRROR_PATHS.getBack);
  await until(() => local.sidecar.proxy.map.waiting === CALLERS, "all callers waiting at once");
  await until(() => mirror.total === 1, "the one call");
  gate.resolve();
  const { ended, statuses } = await over;
  assertEquals([ended, [...statuses]], [CALLERS, [[0, CALLERS]]]);
  assertEquals(mirror.total, 1);
});
