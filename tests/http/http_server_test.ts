import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { type HttpServer, serveHttp } from "../../lib/http/mod.ts";
import { randomCuts } from "../support/cuts.ts";
import { type HeldTimer, holdingTimer } from "../support/held_timer.ts";
import { askRaw } from "../support/raw_http.ts";
import { until, within } from "../support/waiting.ts";

const REQUEST_MS = 5_000;
const WRITE_MS = 10_000;
const IDLE_MS = 120_000;
const MAX_CONNECTIONS = 256;

const WHOLE = "GET /whole HTTP/1.1\r\nhost: x\r\n\r\n";

const encoder = new TextEncoder();

/** A server whose clock stands still, and whose sweep is the test's to make. */
class Rig implements AsyncDisposable {
  nowMs = 0;
  readonly server: HttpServer;
  readonly asked: Request[] = [];
  readonly #sweep: HeldTimer;
  #closed: Promise<void> | undefined;

  constructor(answer: (request: Request) => Response | Promise<Response> = echo) {
    const { given, timer } = holdingTimer("setInterval", () =>
      serveHttp({
        hostname: "127.0.0.1",
        port: 0,
        handler: (request) => {
          this.asked.push(request);
          return Promise.resolve(answer(request));
        },
        onTrouble(error) {
          throw error;
        },
        now: () => this.nowMs,
      }));
    this.server = given;
    this.#sweep = timer;
  }

  /** So much time passes, and connections are looked at. */
  pass(ms: number): void {
    this.nowMs += ms;
    this.#sweep.goesOff();
  }

  async connect(text = ""): Promise<Client> {
    const { connections } = this.server;
    const client = new Client(
      await Deno.connect({ hostname: "127.0.0.1", port: this.server.port }),
    );
    await until(() => this.server.connections > connections, "the connection");
    await client.send(text);
    return client;
  }

  close(graceMs: number): Promise<void> {
    return this.#closed ??= this.server.close(graceMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close(0);
  }
}

class Client implements Disposable {
  heard = "";
  isEnded = false;
  readonly #socket: Deno.TcpConn;

  constructor(socket: Deno.TcpConn, reads = true) {
    this.#socket = socket;
    if (reads) void this.#read();
  }

  async send(text: string): Promise<void> {
    if (text !== "") await this.#socket.write(encoder.encode(text));
  }

  async ends(): Promise<string> {
    await until(() => this.isEnded, "the end of the connection");
    return this.heard;
  }

  async hears(text: string): Promise<void> {
    await until(() => this.heard.includes(text), text);
  }

  [Symbol.dispose](): void {
    try {
      this.#socket.close();
    } catch { /* closed by the test */ }
  }

  async #read(): Promise<void> {
    const bytes = new Uint8Array(4_096);
    try {
      for (let n = await this.#socket.read(bytes); n !== null; n = await this.#socket.read(bytes)) {
        this.heard += new TextDecoder("latin1").decode(bytes.subarray(0, n));
      }
    } catch { /* reset, or closed by the test */ }
    this.isEnded = true;
  }
}

async function echo(request: Request): Promise<Response> {
  return new Response(`${request.method} ${request.url} ${await request.text()}\n`);
}

Deno.test("serveHttp answers requests one behind the other, wherever their bytes are cut", async () => {
  const text = "POST /a HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n\r\nabc" +
    "GET /b HTTP/1.1\r\nhost: y\r\n\r\n" +
    "HEAD /c HTTP/1.1\r\nhost: z\r\nconnection: close\r\n\r\n";
  for (let seed = 1; seed <= 20; seed++) {
    await using rig = new Rig();
    using client = await rig.connect();
    for (const part of randomCuts(encoder.encode(text), seed)) {
      await client.send(new TextDecoder().decode(part));
    }
    const heard = await client.ends();
    const answers = heard.split("HTTP/1.1 200 OK\r\n").slice(1);
    assertEquals(answers.length, 3, `seed ${seed}: ${heard}`);
    assert(answers[0]!.endsWith("\r\n\r\nPOST http://x/a abc\n"));
    assert(answers[1]!.endsWith("\r\n\r\nGET http://y/b \n"));
    assertMatch(answers[2]!, /content-length: 17\r\nconnection: close\r\n\r\n$/);
  }
});

Deno.test("serveHttp tells a request that never ends so, and closes one that never began in silence", async () => {
  await using rig = new Rig();
  // What comes in one read with a request is read when that is answered.
  using half = await rig.connect(`${WHOLE}GET / HTTP/1.1\r\nhost: x\r\n`);
  using silent = await rig.connect();
  using body = await rig.connect(
    `${WHOLE}POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n`,
  );
  await half.hears("GET http://x/whole");
  await body.hears("GET http://x/whole");
  rig.pass(REQUEST_MS - 1);
  assertEquals(rig.server.connections, 3);
  rig.pass(1);
  assertStringIncludes(await half.ends(), "408 Request Timeout");
  assertStringIncludes(await body.ends(), "408 Request Timeout");
  assertEquals(await silent.ends(), "");
  assertEquals(rig.asked.length, 2);
});

Deno.test("serveHttp gives no more time to a client that sends its head a byte at a time", async () => {
  await using rig = new Rig();
  using client = await rig.connect(`${WHOLE}G`);
  await client.hears("GET http://x/whole");
  for (const byte of "ET / HT") {
    rig.pass(700);
    await client.send(byte);
  }
  rig.pass(700);
  assertStringIncludes(await client.ends(), "408");
});

Deno.test("serveHttp keeps a connection that asks nothing for two minutes", async () => {
  await using rig = new Rig();
  using client = await rig.connect("GET /1 HTTP/1.1\r\nhost: x\r\n\r\n");
  await client.hears("/1 \n");
  rig.pass(IDLE_MS - 1);
  await client.send("GET /2 HTTP/1.1\r\nhost: x\r\n\r\n");
  await client.hears("/2 \n");
  rig.pass(IDLE_MS);
  await client.ends();
});

Deno.test("serveHttp waits for its own handler without a limit", async () => {
  const { promise, resolve } = Promise.withResolvers<Response>();
  await using rig = new Rig(() => promise);
  using client = await rig.connect("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
  await until(() => rig.asked.length === 1, "the request");
  rig.pass(10 * IDLE_MS);
  resolve(new Response("late\n"));
  await client.hears("late\n");
});

Deno.test("serveHttp says what is wrong with a request, and closes once that was read", async () => {
  const cases = [
    ["GET / HTTP/2.0\r\nhost: x\r\n\r\n", "505 HTTP Version Not Supported"],
    ["GET / HTTP/1.1\r\n\r\n", "400 Bad Request"],
    [`GET / HTTP/1.1\r\nhost: x\r\na: ${"b".repeat(17_000)}\r\n\r\n`, "431 "],
    [`GET /${"b".repeat(17_000)}`, "431 "],
    ["POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9999\r\n\r\n", "413 Content Too Large"],
    ["POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n", "411 Length Required"],
  ] as const;
  await using rig = new Rig();
  for (const [text, status] of cases) {
    using client = await rig.connect(text);
    await client.hears(status);
    assertStringIncludes(client.heard, "connection: close\r\n");
    await client.ends();
  }
  assertEquals(rig.asked.length, 0);
});

Deno.test("serveHttp takes a newcomer for the one that has asked nothing for longest", async () => {
  await using rig = new Rig();
  using stack = new DisposableStack();
  const flood: Client[] = [];
  for (let i = 0; i < MAX_CONNECTIONS; i++) {
    flood.push(stack.use(await rig.connect("GET / HTTP/1.1\r\n")));
  }
  using late = new Client(await Deno.connect({ hostname: "127.0.0.1", port: rig.server.port }));
  await late.send("GET /late HTTP/1.1\r\nhost: x\r\n\r\n");
  await late.hears("/late \n");
  await flood[0]!.ends();
  assertEquals(flood.filter(({ isEnded }) => isEnded).length, 1);
  assertEquals(rig.server.connections, MAX_CONNECTIONS);
});

Deno.test("serveHttp lets go of a client that does not take its answer", async () => {
  await using rig = new Rig(() => new Response("x".repeat(32 * 2 ** 20)));
  const socket = await Deno.connect({ hostname: "127.0.0.1", port: rig.server.port });
  using _client = new Client(socket, false);
  await socket.write(encoder.encode("GET / HTTP/1.1\r\nhost: x\r\n\r\n"));
  await until(() => rig.asked.length === 1, "the request");
  await until(() => {
    rig.pass(WRITE_MS);
    return rig.server.connections === 0;
  }, "its end");
});

Deno.test("serveHttp sends events as they come, in chunks to who knows them", async () => {
  let events: ReadableStreamDefaultController<Uint8Array>;
  let cancelled = 0;
  await using rig = new Rig(() =>
    new Response(
      new ReadableStream<Uint8Array>({
        start(controller) {
          events = controller;
        },
        cancel() {
          cancelled++;
        },
      }),
      { headers: { "content-type": "text/event-stream" } },
    )
  );
  using chunks = await rig.connect("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
  await chunks.hears("transfer-encoding: chunked\r\n");
  events!.enqueue(encoder.encode("data: one\n\n"));
  await chunks.hears("\r\n\r\nb\r\ndata: one\n\n\r\n");
  rig.pass(10 * IDLE_MS); // a quiet stream has no limit
  events!.enqueue(encoder.encode("data: two\n\n"));
  events!.close();
  assert((await chunks.ends()).endsWith("b\r\ndata: two\n\n\r\n0\r\n\r\n"));

  using plain = await rig.connect("GET / HTTP/1.0\r\n\r\n");
  await until(() => rig.asked.length === 2, "the request");
  events!.enqueue(encoder.encode("data: one\n\n"));
  events!.close();
  assert((await plain.ends()).endsWith("connection: close\r\n\r\ndata: one\n\n"));

  using gone = await rig.connect("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
  await until(() => rig.asked.length === 3, "the request");
  gone[Symbol.dispose]();
  await until(() => {
    if (cancelled === 0) events!.enqueue(encoder.encode("data: more\n\n"));
    return cancelled === 1;
  }, "the cancel");
});

Deno.test("HttpServer.close ends connections that ask nothing at once, and the others after their answer", async () => {
  const { promise, resolve } = Promise.withResolvers<Response>();
  await using rig = new Rig(() => promise);
  using idle = await rig.connect();
  using busy = await rig.connect("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
  await until(() => rig.asked.length === 1, "the request");
  const closed = rig.close(60_000);
  await idle.ends();
  resolve(new Response("last\n"));
  await busy.hears("last\n");
  assertStringIncludes(busy.heard, "connection: close\r\n");
  busy[Symbol.dispose]();
  await within(closed, "the end");
  assertEquals(
    await askRaw(rig.server.port, "GET / HTTP/1.0\r\n\r\n").catch(() => "refused"),
    "refused",
  );
});
