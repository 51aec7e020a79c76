/**
 * `collapser drain` beside a sidecar, as a preStop hook runs it: the same program with the same environment.
 *
 * @module
 */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { HELLO_PATHS } from "../../lib/hello/mod.ts";
import { ask, clientOf } from "../support/client.ts";
import { GatedBackend } from "../support/gated_backend.ts";
import { freePort, get, Process, SidecarProcess } from "../support/process.ts";
import { until } from "../support/waiting.ts";

const { getGreeting } = HELLO_PATHS;

/** A sidecar whose page is where the manifests have it: on the loopback address, apart from the figures. */
async function start(backend: GatedBackend, more: Record<string, string> = {}) {
  const env = {
    BACKEND_ADDRESS: `127.0.0.1:${backend.port}`,
    ADMIN_HOST: "127.0.0.1",
    ADMIN_PORT: String(freePort()),
    DRAIN_TIMEOUT: "1m",
    ...more,
  };
  const sidecar = await SidecarProcess.start(env);
  await sidecar.becomes(200);
  return { sidecar, env };
}

function drain(env: Record<string, string>, ...flags: string[]): Process {
  return new Process(["run", "-A", "--no-check", "main.ts", "drain", ...flags], env);
}

Deno.test("collapser drain returns when calls in flight are done, and leaves the sidecar to its signal", async () => {
  await using backend = new GatedBackend();
  const { sidecar, env } = await start(backend);
  await using _ = sidecar;
  await using client = await clientOf(sidecar.grpcPort);
  const inFlight = ask(client, getGreeting);
  await backend.holds(1);
  await using hook = drain(env);
  await sidecar.becomes(503);
  const refused = async () => {
    try {
      (await Deno.connect({ hostname: "127.0.0.1", port: sidecar.grpcPort })).close();
      return false;
    } catch (error) {
      return error instanceof Deno.errors.ConnectionRefused;
    }
  };
  await until(refused, "nobody new to be let in");
  assert(hook.isRunning, "it waits for the call");
  backend.release();
  assertEquals((await inFlight).status, 0);
  assertEquals((await hook.end()).code, 0);
  assertEquals(hook.said, `http://127.0.0.1:${env.ADMIN_PORT}: drained`);
  // The container must live until the kubelet ends it, or a hook that runs in it would be cut off.
  assertEquals((await get(`http://127.0.0.1:${sidecar.metricsPort}/health`)).status, 200);
  assert(sidecar.isRunning);
  await using again = drain(env);
  assertEquals((await again.end()).code, 0, "drained once is drained");
  sidecar.signal("SIGTERM");
  assertEquals((await sidecar.end()).code, 0);
  assertEquals(sidecar.logged("Drained")?.calls_ended, 0);
});

Deno.test("collapser drain goes on as one drain when the signal comes in the midst of it", async () => {
  await using backend = new GatedBackend();
  const { sidecar, env } = await start(backend);
  await using _ = sidecar;
  await using client = await clientOf(sidecar.grpcPort);
  const inFlight = ask(client, getGreeting);
  await backend.holds(1);
  await using hook = drain(env);
  await sidecar.becomes(503);
  sidecar.signal("SIGTERM");
  await until(() => sidecar.logged("Shutting down") !== undefined, "the signal to be heard");
  backend.release();
  assertEquals((await inFlight).status, 0);
  assertEquals((await sidecar.end()).code, 0);
  const { code } = await hook.end();
  assertEquals([code, hook.said.includes("drained")], [0, true]);
});

Deno.test("collapser drain says what to do where others reach the sidecar's page", async () => {
  await using backend = new GatedBackend({ open: true });
  const { sidecar, env } = await start(backend, { ADMIN_HOST: "0.0.0.0" });
  await using _ = sidecar;
  await using hook = drain(env);
  assertEquals((await hook.end()).code, 1);
  assertMatch(hook.said, /set ADMIN_HOST=127\.0\.0\.1, or ADMIN_TOKEN$/);
  await sidecar.becomes(200);
});

Deno.test("collapser drain gives up when its time is over, and says so", async () => {
  await using backend = new GatedBackend();
  const { sidecar, env } = await start(backend);
  await using _ = sidecar;
  await using client = await clientOf(sidecar.grpcPort);
  const inFlight = ask(client, getGreeting);
  await backend.holds(1);
  await using hook = drain(env, "--timeout", "300ms");
  assertEquals((await hook.end()).code, 1);
  assertMatch(hook.said, /not drained within 300 ms|no answer within/);
  backend.release();
  assertEquals((await inFlight).status, 0);
});
