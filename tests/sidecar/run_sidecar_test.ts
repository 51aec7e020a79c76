/**
 * The sidecar as a process of its own, from its first line to its exit code.
 *
 * @module
 */

import { assert, assertEquals, assertGreater, assertMatch } from "@std/assert";
import { HELLO_PATHS } from "../../lib/hello/mod.ts";
import { ask, clientOf } from "../support/client.ts";
import { GatedBackend } from "../support/gated_backend.ts";
import { freePort, runToEnd, SidecarProcess } from "../support/process.ts";
import { until, within } from "../support/waiting.ts";

const { getGreeting, createGreeting } = HELLO_PATHS;

/** What a client sends before its first request: the preface and empty SETTINGS (RFC 9113 §3.4). */
const PREFACE_AND_SETTINGS = new TextEncoder().encode(
  "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0",
);

/** More than a sidecar needs to end when nothing holds it up, on a busy machine. */
const PROMPT_MS = 10_000;

/** Longer than any of these tests: a limit that must not be what ends them. */
const NOT_IN_THIS_TEST = "1m";

const SIGNAL_EVERY_MS = 60;

function start(
  { port }: { port: number },
  variables: Record<string, string> = {},
): Promise<SidecarProcess> {
  return SidecarProcess.start({ BACKEND_ADDRESS: `127.0.0.1:${port}`, ...variables });
}

function connect(port: number): Promise<Deno.TcpConn> {
  return Deno.connect({ hostname: "127.0.0.1", port });
}

Deno.test("runSidecar is not begun with settings that are wrong: all are named, the code is 64", async () => {
  const { code, output, errors } = await runToEnd(["serve", "--drain-timeout", "long"], {
    GRPC_PORT: "many",
    COLLAPSER_CACHE_DURATION: "fast",
    COLLAPSER_CACHE_DURATON: "1s",
  });
  assertEquals([code, output], [64, ""]);
  for (
    const said of [
      /^Cannot start without BACKEND_ADDRESS: /m,
      /^Cannot parse GRPC_PORT "many": expected /m,
      /^Cannot parse COLLAPSER_CACHE_DURATION "fast": expected /m,
      /^Cannot parse --drain-timeout "long": expected /m,
      /COLLAPSER_CACHE_DURATON.*COLLAPSER_CACHE_DURATION/,
    ]
  ) assertMatch(errors, said);
});

for (const variable of ["GRPC_PORT", "METRICS_PORT"]) {
  Deno.test(`runSidecar ends with 1 when ${variable} is taken, and says which that is`, async () => {
    using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { code, errors } = await runToEnd(["serve"], {
      BACKEND_ADDRESS: "127.0.0.1:1",
      GRPC_PORT: "0",
      METRICS_PORT: "0",
      GRPC_HOST: "127.0.0.1",
      METRICS_HOST: "127.0.0.1",
      [variable]: String(taken.addr.port),
    });
    assertEquals(code, 1);
    assertMatch(errors, new RegExp(`"level":"error".*in use.*set ${variable} to a free port`));
  });
}

Deno.test("runSidecar drains on SIGTERM: not ready at once, calls in flight end well, then 0", async () => {
  await using backend = new GatedBackend();
  await using sidecar = await start(backend, { DRAIN_TIMEOUT: NOT_IN_THIS_TEST });
  await using client = await clientOf(sidecar.grpcPort, { connections: 3 });
  const reads = Array.from({ length: 30 }, () => ask(client, getGreeting, { name: "Ada" }));
  const writes = Array.from({ length: 30 }, () => ask(client, createGreeting));
  await backend.holds(31);

  sidecar.signal("SIGTERM");
  await sidecar.becomes(503);
  assertEquals((await sidecar.ask("/ready")).text, "not ready: shutting down\n");
  assertEquals((await sidecar.ask("/health")).status, 200);
  backend.release();
  const statuses = (await Promise.all([...reads, ...writes])).map(({ status }) => status);
  assertEquals(statuses, statuses.map(() => 0));
  assertEquals((await sidecar.end(PROMPT_MS)).code, 0);
  assertEquals(backend.calls, 31);
  assertEquals(sidecar.log.at(-1)?.msg, "Stopped");
  assertEquals(sidecar.logged("Shutting down")?.signal, "SIGTERM");
});

Deno.test("runSidecar reads the policy file anew at each SIGHUP, and is not ended by one, with or without a file", async () => {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/policy.json`;
  const write = (ttl: string) =>
    Deno.writeTextFile(path, `{"methodConfig":[{"name":[{}],"collapser":{"ttl":"${ttl}"}}]}`);
  await write("1s");
  await using backend = new GatedBackend({ open: true });
  await using plain = await start(backend);
  await using sidecar = await start(backend, { COLLAPSER_CONFIG: path });
  const ttl = async () => {
    const { applied } = JSON.parse((await sidecar.ask("/api/policy")).text);
    return applied.methodConfig[0].collapser.ttl;
  };
  assertEquals(await ttl(), "1s");
  for (const next of ["2s", "3s"]) {
    await write(next);
    sidecar.signal("SIGHUP");
    plain.signal("SIGHUP");
    await until(async () => await ttl() === next, `${next} to be in force`);
  }
  await until(() => plain.logged("There is no policy file to read anew") !== undefined, "a word");
  assertEquals((await plain.ask("/health")).status, 200);
  for (const process of [plain, sidecar]) {
    process.signal("SIGTERM");
    assertEquals((await process.end(PROMPT_MS)).code, 0);
  }
  await Deno.remove(folder, { recursive: true });
});

Deno.test("runSidecar ends calls that outlast DRAIN_TIMEOUT with 14, and itself with 0", async () => {
  await using backend = new GatedBackend();
  await using sidecar = await start(backend, { DRAIN_TIMEOUT: "200ms" });
  await using client = await clientOf(sidecar.grpcPort);
  const calls = [ask(client, getGreeting), ask(client, createGreeting)];
  await backend.holds(2);
  sidecar.signal("SIGINT");
  for (const { status, message } of await Promise.all(calls)) {
    assertEquals([status, message], [14, "collapser: shutting down"]);
  }
  assertEquals((await sidecar.end(PROMPT_MS)).code, 0);
  assertEquals(sidecar.logged("Ended calls that did not finish in time")?.calls, 2);
});

Deno.test("runSidecar goes on serving during DRAIN_DELAY, old and new connections alike", async () => {
  await using backend = new GatedBackend({ open: true });
  await using sidecar = await start(backend, { DRAIN_DELAY: NOT_IN_THIS_TEST });
  await using known = await clientOf(sidecar.grpcPort);
  sidecar.signal("SIGTERM");
  await sidecar.becomes(503);
  await using latecomer = await clientOf(sidecar.grpcPort);
  for (const client of [known, latecomer, known]) {
    assertEquals((await ask(client, createGreeting)).status, 0);
  }
});

Deno.test("runSidecar ends with 0 after DRAIN_DELAY, not before", async () => {
  await using backend = new GatedBackend({ open: true });
  await using sidecar = await start(backend, { DRAIN_DELAY: "300ms" });
  const signalledMs = performance.now();
  sidecar.signal("SIGTERM");
  assertEquals((await sidecar.end(PROMPT_MS)).code, 0);
  assertGreater(performance.now() - signalledMs, 299);
});

Deno.test("runSidecar ends at once with 1 on a second signal, whatever is under way", async () => {
  await using backend = new GatedBackend();
  await using sidecar = await start(backend, { DRAIN_TIMEOUT: NOT_IN_THIS_TEST });
  await using client = await clientOf(sidecar.grpcPort);
  const call = ask(client, createGreeting);
  await backend.holds(1);
  sidecar.signal("SIGTERM");
  await sidecar.becomes(503);
  // One that follows too closely is taken for the first one's echo.
  const again = setInterval(() => sidecar.signal("SIGTERM"), SIGNAL_EVERY_MS);
  const { code } = await sidecar.end(PROMPT_MS).finally(() => clearInterval(again));
  assertEquals(code, 1);
  assertEquals((await call).status, 14);
});

Deno.test("runSidecar is not held up by connections that are quiet or never say a word", async () => {
  await using backend = new GatedBackend({ open: true });
  await using sidecar = await start(backend, { DRAIN_TIMEOUT: NOT_IN_THIS_TEST });
  using _silent = await connect(sidecar.grpcPort);
  using quiet = await connect(sidecar.grpcPort);
  await quiet.write(PREFACE_AND_SETTINGS);
  await using client = await clientOf(sidecar.grpcPort);
  assertEquals((await ask(client, getGreeting)).status, 0);
  const series = (await sidecar.ask("/metrics")).text;
  assertMatch(series, /^collapser_connections 3$/m);
  sidecar.signal("SIGTERM");
  assertEquals((await sidecar.end(PROMPT_MS)).code, 0);
});

Deno.test("runSidecar starts before its backend does", async () => {
  const port = freePort();
  await using sidecar = await start({ port }, { BACKEND_CONNECT_TIMEOUT: NOT_IN_THIS_TEST });
  assertEquals((await sidecar.ask("/ready")).status, 503);
  await using client = await clientOf(sidecar.grpcPort);
  for (let again = 0; again < 3; again++) {
    const { status } = await within(ask(client, getGreeting), "an answer that waits for nobody");
    assertEquals(status, 14);
  }
  await using _backend = new GatedBackend({ open: true, port });
  await sidecar.becomes(200);
  assertEquals((await ask(client, getGreeting)).status, 0);
  assert(sidecar.logged("Backend is reachable") !== undefined);
});

Deno.test("runSidecar goes on when its backend is killed and started again under load", async () => {
  const port = freePort();
  await using sidecar = await start({ port });
  await using client = await clientOf(sidecar.grpcPort, { connections: 4 });
  const load = new Load((n) => ask(client, n % 2 === 0 ? getGreeting : createGreeting));
  try {
    for (let round = 0; round < 3; round++) {
      const backend = new GatedBackend({ open: true, port });
      await load.sees(50, 0);
      assertEquals((await sidecar.ask("/ready")).status, 200);
      backend.hold();
      await until(() => backend.waiting > 1, "calls in flight");
      await backend[Symbol.asyncDispose]();
      await load.sees(50, 14);
    }
    await sidecar.becomes(503);
  } finally {
    await load.stop();
  }
  // No call was lost, and none was answered with anything else.
  assertEquals([...load.statuses.keys()].sort((a, b) => a - b), [0, 14]);
  assertEquals(sidecar.log.filter(({ level }) => level === "error"), []);
  sidecar.signal("SIGTERM");
  assertEquals((await sidecar.end(PROMPT_MS)).code, 0);
});

const WORKERS = 16;

/** Between two calls of a worker: a call that fails does so at once, and must not turn into a busy loop. */
const PAUSE_MS = 2;

/** Callers that ask again as soon as they are answered, until they are stopped. */
class Load {
  /** Calls by their status. */
  readonly statuses = new Map<number, number>();
  #stopped = false;
  #workers: Promise<void>[];
  #begun = 0;

  constructor(call: (n: number) => Promise<{ status: number }>) {
    this.#workers = Array.from({ length: WORKERS }, () => this.#work(call));
  }

  /** Resolves when so many more calls have ended with this status. */
  async sees(calls: number, status: number): Promise<void> {
    const count = () => this.statuses.get(status) ?? 0;
    const wanted = count() + calls;
    await until(() => count() >= wanted, `${calls} more calls that end with ${status}`);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await within(Promise.all(this.#workers), "the end of all calls");
  }

  async #work(call: (n: number) => Promise<{ status: number }>): Promise<void> {
    while (!this.#stopped) {
      const { status } = await call(this.#begun++);
      this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
      await new Promise((resume) => setTimeout(resume, PAUSE_MS));
    }
  }
}
