import { assert, assertEquals } from "@std/assert";
import { healthRequest, healthStatus, STATUS } from "../../../lib/grpc/mod.ts";
import { type Client, openClient, type Reply } from "../../../lib/measure/client/client.ts";
import { StallBackend } from "../../../lib/measure/stall/backend.ts";
import type { FaultName } from "../../../lib/measure/stall/fault.ts";
import { PATIENCE_MS, until, within } from "../../support/waiting.ts";

/** Longer than any fault here: the test ends each. */
const LONG_MS = 60_000;

/** A busy machine needs longer than usual for a call, and a silent backend is found out soon enough. */
const SOON_MS = 300;

interface Pair {
  readonly backend: StallBackend;
  readonly client: Client;
}

async function withBackend(body: (pair: Pair) => Promise<void>): Promise<void> {
  const backend = new StallBackend({ port: 0, serviceMs: 1 });
  const client = await openClient({ host: "127.0.0.1", port: backend.port });
  try {
    await body({ backend, client });
  } finally {
    await client.close();
    await backend.close();
  }
}

function ask(client: Client, deadlineMs = PATIENCE_MS): Promise<Reply> {
  return client.callOnce({ path: "/a.B/GetC", message: new Uint8Array(0), deadlineMs });
}

Deno.test("StallBackend answers any call, and says that it is healthy", async () => {
  await withBackend(async ({ client }) => {
    const replies = await Promise.all(Array.from({ length: 500 }, () => ask(client)));
    assertEquals(replies.filter(({ status }) => status === STATUS.ok).length, 500);
    const path = "/grpc.health.v1.Health/Check";
    const health = await client.callOnce({ path, message: healthRequest("") });
    assertEquals(healthStatus(health.body), 1);
  });
});

for (const fault of ["stall", "sigstop"] satisfies FaultName[]) {
  Deno.test(`StallBackend with ${fault} accepts and is silent, and answers all of it afterwards`, async () => {
    await withBackend(async ({ backend, client }) => {
      backend.begin(fault, LONG_MS);
      const waiting = ask(client);
      assertEquals((await ask(client, SOON_MS)).status, STATUS.deadlineExceeded);
      // The kernel accepts; SETTINGS do not come before the end.
      const opening = openClient({ host: "127.0.0.1", port: backend.port });
      backend.end();
      assertEquals((await within(waiting, "the answer")).status, STATUS.ok);
      const second = await within(opening, "a connection");
      assertEquals((await ask(second)).status, STATUS.ok);
      await second.close();
    });
  });
}

Deno.test("StallBackend with blackhole never answers what came meanwhile, and drops its connections", async () => {
  await withBackend(async ({ backend, client }) => {
    backend.begin("blackhole", LONG_MS);
    const lost = ask(client);
    assertEquals((await ask(client, SOON_MS)).status, STATUS.deadlineExceeded);
    backend.end();
    assertEquals((await within(lost, "the end of the call")).status, STATUS.unavailable);
    await until(async () => (await ask(client)).status === STATUS.ok, "a new connection");
  });
});

Deno.test("StallBackend with reset resets what is under way and what comes", async () => {
  await withBackend(async ({ backend, client }) => {
    backend.begin("reset", LONG_MS);
    const { status, message } = await ask(client);
    assertEquals([status, message], [STATUS.internal, "the stream was reset: INTERNAL_ERROR"]);
    backend.end();
    assertEquals((await ask(client)).status, STATUS.ok);
  });
});

Deno.test("StallBackend with latency takes 100 ms longer, and only then", async () => {
  await withBackend(async ({ backend, client }) => {
    backend.begin("latency", LONG_MS);
    const slow = await ask(client);
    assertEquals(slow.status, STATUS.ok);
    assert(slow.latencyMs >= 100, `${slow.latencyMs} ms`);
    backend.end();
    await until(async () => (await ask(client)).latencyMs < 100, "a quick answer");
  });
});

Deno.test("StallBackend with slow-start is gone, then slow, then as before, at the same port", async () => {
  await withBackend(async ({ backend, client }) => {
    const { port } = backend;
    backend.begin("slow-start", 1_500);
    await until(async () => (await ask(client)).status === STATUS.unavailable, "its being gone");
    let first: Reply | undefined;
    await until(
      async () => (first = await ask(client)).status === STATUS.ok,
      "its coming back by itself",
    );
    assert(first!.latencyMs > 5, `${first!.latencyMs} ms`);
    backend.end();
    assertEquals(backend.port, port);
    assertEquals((await ask(client)).status, STATUS.ok);
  });
});

Deno.test("StallBackend ends calls of a fault that lasts when it is closed", async () => {
  for (const fault of ["stall", "blackhole", "slow-start"] satisfies FaultName[]) {
    await withBackend(async ({ backend, client }) => {
      backend.begin(fault, LONG_MS);
      const asked = ask(client);
      await backend.close();
      const { status } = await within(asked, "the end of the call");
      assert(status === STATUS.unavailable || status === STATUS.ok, `${fault}: ${status}`);
    });
  }
});
