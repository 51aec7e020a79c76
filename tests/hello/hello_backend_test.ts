import { connect } from "node:http2";
import { assertEquals, assertGreater, assertRejects } from "@std/assert";
import { HELLO_PATHS, startHello } from "../../lib/hello/mod.ts";
import { postCall, until } from "./hello_client.ts";

Deno.test("startHello says where it listens", async () => {
  for (const host of ["127.0.0.1", "0.0.0.0"]) {
    const backend = await startHello({ host });
    assertGreater(backend.port, 0);
    assertEquals(backend.address, `${host}:${backend.port}`);
    backend.kill();
  }
});

Deno.test("startHello rejects when the port is taken, and names it", async () => {
  const backend = await startHello();
  try {
    const { port } = backend;
    await assertRejects(() => startHello({ port }), Error, `Cannot listen on 127.0.0.1:${port}: `);
  } finally {
    backend.kill();
  }
});

// node:http2 and no grpc-js client: stop sends GOAWAY, which grpc-js on Deno may not survive.
Deno.test("HelloBackend.stop lets a call under way finish, and ends watches and idle connections", async () => {
  const backend = await startHello();
  const session = connect(`http://127.0.0.1:${backend.port}`);
  const closed = new Promise((resolve) => session.once("close", resolve));
  const watch = postCall(session, { path: "/grpc.health.v1.Health/Watch", requests: [{}] });
  const greeting = postCall(session, {
    path: HELLO_PATHS.getGreeting,
    requests: [{ delayMs: 100 }],
  });
  await until(() => backend.report().inFlight === 1);
  const stopped = backend.stop();
  assertEquals((await greeting).status, "0");
  assertEquals((await watch).status, "0");
  await stopped;
  await closed;
  assertEquals(backend.report().inFlight, 0);
});

Deno.test("HelloBackend.kill cuts off a call under way", async () => {
  const backend = await startHello({ delayMs: 60_000 });
  const session = connect(`http://127.0.0.1:${backend.port}`);
  session.on("error", () => {});
  const closed = new Promise((resolve) => session.once("close", resolve));
  const greeting = postCall(session, { path: HELLO_PATHS.getGreeting, requests: [{}] });
  await until(() => backend.report().inFlight === 1);
  backend.kill();
  assertEquals((await greeting).status, "");
  await closed;
  await until(() => backend.report().inFlight === 0);
});
