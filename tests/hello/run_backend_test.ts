import { assertEquals, assertGreater, assertMatch, assertStringIncludes } from "@std/assert";
import { runBackend, startHello } from "../../lib/hello/mod.ts";
import { until } from "./hello_client.ts";

/** Runs a backend whose output and signals are in the test's hands. */
function run(options: { port?: number; isTerminal?: boolean; host?: string }) {
  const { isTerminal = false, ...rest } = options;
  const printed: string[] = [];
  let stop = () => {};
  let subscribed = true;
  const code = runBackend({ port: 0, ...rest }, {
    print: (text) => printed.push(text),
    isTerminal,
    onStop: (listener) => {
      stop = listener;
      return () => subscribed = false;
    },
  });
  return { printed, code, stop: () => stop(), isSubscribed: () => subscribed };
}

Deno.test("runBackend says what it serves and where, and exits with 0 when it is stopped", async () => {
  const backend = run({});
  await until(() => backend.printed.length > 0);
  backend.stop();
  assertEquals(await backend.code, 0);
  const [banner, farewell] = backend.printed;
  assertMatch(
    banner!,
    /^Hello backend on 127\.0\.0\.1:\d+, 50 ms per answer: hello\.v1\.Hello,.*\n$/,
  );
  assertMatch(banner!, /grpcurl -plaintext .* 127\.0\.0\.1:\d+ hello\.v1\.Hello\/GetGreeting\n$/);
  assertEquals(farewell, "Stopped after 0 calls\n");
  assertEquals(backend.isSubscribed(), false);
});

Deno.test("runBackend names an address that can be called where it listens on all of them", async () => {
  const backend = run({ host: "0.0.0.0" });
  await until(() => backend.printed.length > 0);
  backend.stop();
  await backend.code;
  assertMatch(backend.printed[0]!, / localhost:\d+ hello/);
});

Deno.test("runBackend shows a running count on a terminal only", async () => {
  const backend = run({ isTerminal: true });
  await until(() => backend.printed.length > 1);
  backend.stop();
  await backend.code;
  assertEquals(backend.printed[1], "\r0 calls, 0 in flight, 0 at most\x1b[K");
});

Deno.test("runBackend exits with 1 when it cannot listen, and says so", async () => {
  const other = await startHello();
  const backend = run({ port: other.port });
  assertEquals(await backend.code, 1);
  assertStringIncludes(backend.printed.join(""), `Cannot listen on 127.0.0.1:${other.port}`);
  assertEquals(backend.isSubscribed(), false);
  other.kill();
});

Deno.test("runBackend exits with 1 when it is told twice to stop", async () => {
  const backend = run({});
  await until(() => backend.printed.length > 0);
  backend.stop();
  backend.stop();
  assertEquals(await backend.code, 1);
});

Deno.test("runBackend ends a process of its own with 0 on SIGTERM and on SIGINT", async () => {
  const room = import.meta.resolve("../../lib/hello/mod.ts");
  const script = `import { runBackend } from "${room}"; Deno.exit(await runBackend({ port: 0 }));`;
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    const child = new Deno.Command(Deno.execPath(), {
      args: ["eval", "--no-lock", script],
      cwd: new URL("../..", import.meta.url),
      stdout: "piped",
    }).spawn();
    const reader = child.stdout.getReader();
    const { value } = await reader.read();
    assertGreater(value?.length ?? 0, 0);
    child.kill(signal);
    assertEquals((await child.status).code, 0, signal);
    await reader.cancel();
  }
});
