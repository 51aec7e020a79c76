import { assertEquals, assertMatch } from "@std/assert";
import { probe, type ProbeTarget } from "../../../lib/measure/client/probe.ts";
import { besideHello } from "../../support/beside.ts";
import { GatedBackend } from "../../support/gated_backend.ts";

function ask(port: number, service: string, timeoutMs = 5_000) {
  return probe({ over: "grpc", address: { host: "127.0.0.1", port }, service }, { timeoutMs });
}

Deno.test("probe over gRPC knows serving from not serving, and from not known", async () => {
  await using pair = await besideHello();
  const { port } = pair.local;
  for (const service of ["collapser", "", "hello.v1.Hello"]) {
    assertEquals(await ask(port, service), { healthy: true, detail: "serving" });
  }
  pair.hello.setServing(false);
  assertEquals(await ask(port, "hello.v1.Hello"), { healthy: false, detail: "not serving" });
  assertEquals(await ask(port, "no.Such"), {
    healthy: false,
    detail: 'it does not know the service "no.Such"',
  });
});

Deno.test("probe over gRPC says why there was no answer", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  const silent = ask(port, "", 60);
  const socket = await listener.accept();
  const told = await silent;
  assertEquals(told.healthy, false);
  assertMatch(told.detail, /no SETTINGS came in time|no answer within 60 ms/);
  socket.close();
  listener.close();
  const refused = await ask(port, "");
  assertEquals(refused.healthy, false);
  assertMatch(refused.detail, /^Cannot connect to 127\.0\.0\.1:\d+: /);
  const nowhere: ProbeTarget = {
    over: "grpc",
    address: { host: "no.such.invalid", port: 1 },
    service: "",
  };
  assertEquals((await probe(nowhere, { timeoutMs: 5_000 })).healthy, false);
});

Deno.test("probe over gRPC waits no longer than it was given, and takes no other answer for health", async () => {
  await using backend = new GatedBackend();
  assertEquals(await ask(backend.port, "", 60), {
    healthy: false,
    detail: "no answer within 60 ms",
  });
  backend.release();
  assertEquals(await ask(backend.port, ""), {
    healthy: false,
    detail: "its answer cannot be read",
  });
});

Deno.test("probe over HTTP takes 200 alone for healthy, and shows what was said", async () => {
  const answers = [
    [200, "ready\nmore", true, "HTTP 200: ready"],
    [503, "no backend", false, "HTTP 503: no backend"],
    [204, null, false, "HTTP 204"],
    [302, null, false, "HTTP 302"],
  ] as const;
  let answer = 0;
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    () => {
      const [status, text] = answers[answer]!;
      return new Response(text, { status, headers: status === 302 ? { location: "/" } : {} });
    },
  );
  const url = `http://127.0.0.1:${server.addr.port}/ready`;
  for (; answer < answers.length; answer++) {
    const [, , healthy, detail] = answers[answer]!;
    assertEquals(await probe({ over: "http", url }, { timeoutMs: 5_000 }), { healthy, detail });
  }
  await server.shutdown();
  assertEquals((await probe({ over: "http", url }, { timeoutMs: 5_000 })).healthy, false);
});

Deno.test("probe over HTTP gives up in time", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const url = `http://127.0.0.1:${listener.addr.port}/`;
  const asked = probe({ over: "http", url }, { timeoutMs: 50 });
  const socket = await listener.accept();
  assertEquals(await asked, { healthy: false, detail: "no answer within 50 ms" });
  socket.close();
  listener.close();
});
