/**
 * Replies as HTTP/2 carries them, read by node:http2: what gRPC libraries do not show, such as the shape of an error
 * or the coding of a message.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { type ClientHttp2Session, connect } from "node:http2";
import { assertEquals } from "@std/assert";
import { startHello } from "../../lib/hello/mod.ts";
import { frameMessage } from "../../lib/grpc/mod.ts";
import { beside, besideHello, STORED_LONG } from "../support/beside.ts";
import { within } from "../support/waiting.ts";
import { PRESSED, startGzipServer } from "./gzip_server.ts";
import { SHARED, SHARED_FAILURES, SHARED_STREAM_FAILURES, SINGLE, TOOLS } from "./plans.ts";
import { entriesOf, type Plan, show } from "./seen.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A session of node:http2, which a GOAWAY does not harm. */
class RawCaller implements AsyncDisposable {
  readonly #session: ClientHttp2Session;

  constructor(port: number) {
    this.#session = connect(`http://127.0.0.1:${port}`);
  }

  /** Everything of a reply: its head, its DATA as one, its trailers. */
  async see({ name, path, messages }: Pick<Plan, "name" | "path" | "messages">) {
    const stream = this.#session.request({
      ":method": "POST",
      ":path": path,
      ":authority": "hello.test",
      "content-type": "application/grpc",
      "grpc-accept-encoding": "identity, gzip",
      "te": "trailers",
    });
    const heads: Fields[] = [];
    const tails: Fields[] = [];
    const chunks: Uint8Array[] = [];
    stream.on("response", (fields: Fields) => heads.push(fields));
    stream.on("trailers", (fields: Fields) => tails.push(fields));
    stream.on("data", (chunk: Uint8Array) => chunks.push(chunk));
    const over = new Promise<void>((resolve, reject) => {
      stream.on("error", reject);
      stream.on("close", resolve);
    });
    stream.end(Buffer.concat(messages.map((message) => frameMessage(message))));
    await within(over, `the end of "${name}"`);
    const data = Buffer.concat(chunks);
    return { heads: heads.map(plain), data: show(data), flag: data[0], tails: tails.map(plain) };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return new Promise((resolve) => this.#session.close(resolve));
  }
}

/** Fields by name; node gives a list for some names only. */
function plain(fields: Fields) {
  return entriesOf(Object.fromEntries(Object.entries(fields).map(([k, v]) => [k, [v].flat()])));
}

Deno.test("raw replies are the same through the sidecar, field by field", async () => {
  const alone = await startHello();
  await using pair = await besideHello(STORED_LONG);
  {
    await using direct = new RawCaller(alone.port);
    await using through = new RawCaller(pair.local.port);
    const shared = [...SHARED, ...SHARED_FAILURES, ...SHARED_STREAM_FAILURES];
    for (const plan of [...shared, ...SINGLE, ...TOOLS]) {
      if (plan.cancelAfter !== undefined) continue;
      assertEquals(await through.see(plan), await direct.see(plan), plan.name);
    }
  }
  alone.kill();
});

Deno.test("raw replies keep the coding of their messages, stored or not", async () => {
  using server = await startGzipServer();
  await using sidecar = await beside(server, STORED_LONG);
  await using direct = new RawCaller(server.port);
  await using through = new RawCaller(sidecar.port);
  const plan = { name: "pressed", path: "/press.v1.Press/GetPressed", messages: [PRESSED] };
  const expected = await direct.see(plan);
  assertEquals(expected.flag, 1); // Compressed-Flag of the message
  for (let again = 0; again < 3; again++) assertEquals(await through.see(plan), expected);
  assertEquals(sidecar.outcomes.hit, 2);
});
