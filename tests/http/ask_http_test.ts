import { assertEquals, assertRejects } from "@std/assert";
import { askHttp } from "../../lib/http/mod.ts";
import { Process } from "../support/process.ts";

const GENEROUS_MS = 10_000;

/** Answers one connection with a text as it stands, and tells what was asked. */
async function answered(answer: string, method: "GET" | "POST" = "GET") {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const url = new URL(`http://127.0.0.1:${listener.addr.port}/a?b=c`);
  const asking = askHttp(url, { method, headers: { "x-a": "b" }, timeoutMs: GENEROUS_MS });
  using socket = await listener.accept();
  const bytes = new Uint8Array(4_096);
  const read = await socket.read(bytes);
  await socket.write(new TextEncoder().encode(answer));
  await socket.closeWrite();
  return { asked: new TextDecoder().decode(bytes.subarray(0, read ?? 0)), answer: await asking };
}

Deno.test("askHttp asks one thing, and reads its answer to the end of the connection", async () => {
  const ok = "HTTP/1.1 202 Accepted\r\ncontent-type: text/plain\r\n\r\ntwo\r\n\r\nlines\n";
  const { asked, answer } = await answered(ok, "POST");
  assertEquals(answer, { status: 202, text: "two\r\n\r\nlines\n" });
  const [line, host, ...rest] = asked.split("\r\n");
  assertEquals(line, "POST /a?b=c HTTP/1.0");
  assertEquals(host?.startsWith("host: 127.0.0.1:"), true);
  assertEquals(rest, ["x-a: b", "content-length: 0", "", ""]);
});

Deno.test("askHttp refuses what is no answer of HTTP", async () => {
  for (
    const text of ["", "HTTP/2 200\r\n\r\n", "SSH-2.0-OpenSSH\r\n", "HTTP/1.1 200 OK\r\nx: y\r\n"]
  ) {
    await assertRejects(() => answered(text), Error, "its answer is not HTTP");
  }
});

Deno.test("askHttp reads as much as it is told, and cuts the rest", async () => {
  const body = "x".repeat(200_000);
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    () => new Response(body),
  );
  const url = new URL(`http://127.0.0.1:${server.addr.port}/`);
  const ask = async (maxBytes?: number) =>
    (await askHttp(url, { timeoutMs: GENEROUS_MS, ...(maxBytes !== undefined && { maxBytes }) }))
      .text;
  assertEquals((await ask(1 << 20)).length, body.length);
  assertEquals((await ask()).length < 64 * 1_024, true);
});

Deno.test("askHttp waits no longer than it may", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const url = new URL(`http://127.0.0.1:${listener.addr.port}/`);
  const asking = askHttp(url, { timeoutMs: 50 });
  const [socket] = await Promise.all([
    listener.accept(),
    assertRejects(() => asking, DOMException, "no answer within 50 ms"),
  ]);
  socket.close();
});

Deno.test("askHttp goes past the proxy that the environment names, as a probe in a pod must", async () => {
  await using healthy = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    () => new Response("ok\n"),
  );
  const url = `http://127.0.0.1:${healthy.addr.port}/`;
  await using probe = new Process(
    ["run", "-A", "--no-check", "main.ts", "healthcheck", "--http", url, "--timeout", "10s"],
    { HTTP_PROXY: "http://127.0.0.1:1", http_proxy: "http://127.0.0.1:1" },
  );
  const { code } = await probe.end();
  assertEquals([code, probe.said], [0, `${url}: HTTP 200: ok`]);
});
