import { Buffer } from "node:buffer";
import { Metadata, status } from "@grpc/grpc-js";
import { assert, assertEquals, assertGreater, assertStringIncludes } from "@std/assert";
import { decodeCountsReply, HELLO_PATHS } from "../../lib/hello/mod.ts";
import { helloPair, outcomeOf, until } from "./hello_client.ts";

Deno.test("GetGreeting greets, and says which call answered", async () => {
  using pair = await helloPair();
  for (const from of [1, 2]) {
    const { replies, head, status } = await pair.client.ask(HELLO_PATHS.getGreeting, {
      name: "Ada",
    });
    assertEquals(replies, [{ text: "Hello, Ada", from, metadata: {}, sequence: 1 }]);
    assertEquals(head?.get("x-hello-call"), [String(from)]);
    assertEquals([status.code, status.details], [0, "OK"]);
    assertEquals(status.metadata.get("x-hello"), [String(from)]);
  }
});

Deno.test("GetGreeting takes its time: the request's own, else the default", async () => {
  using pair = await helloPair({ delayMs: 60 });
  const before = performance.now();
  await pair.client.ask(HELLO_PATHS.getGreeting, {});
  assertGreater(performance.now() - before, 59);
  using slowPair = await helloPair({ delayMs: 3_600_000 });
  await slowPair.client.ask(HELLO_PATHS.getGreeting, { delayMs: 0 });
});

Deno.test("GetGreeting sends back the metadata it is asked for, and no other", async () => {
  using pair = await helloPair();
  const metadata = new Metadata();
  metadata.add("authorization", "Bearer ada");
  metadata.add("x-two", "1");
  metadata.add("x-two", "2");
  metadata.add("x-raw-bin", Buffer.from([0, 255]));
  metadata.add("x-other", "unasked");
  const echoMetadata = ["authorization", "x-two", "x-raw-bin", "x-absent", ":authority"];
  const { replies } = await pair.client.ask(HELLO_PATHS.getGreeting, { echoMetadata }, {
    metadata,
  });
  assertEquals(replies[0]?.metadata, {
    "authorization": "Bearer ada",
    "x-two": "1, 2",
    "x-raw-bin": "AP8=",
    ":authority": `127.0.0.1:${pair.backend.port}`,
  });
});

Deno.test("GetGreeting fails as it is told to, with details and trailers", async () => {
  using pair = await helloPair();
  const failWith = { code: 5, message: "no such – greeting", details: Uint8Array.of(8, 5, 0, 255) };
  const { replies, head, status } = await pair.client.ask(HELLO_PATHS.getGreeting, { failWith });
  assertEquals(replies, []);
  assertEquals(head?.get("x-hello-call"), ["1"]);
  assertEquals([status.code, status.details], [5, "no such – greeting"]);
  assertEquals(status.metadata.get("x-hello"), ["1"]);
  assertEquals(status.metadata.get("grpc-status-details-bin"), [Buffer.from(failWith.details)]);
});

Deno.test("GetGreeting refuses what is out of bounds, and says why", async () => {
  using pair = await helloPair();
  for (const wish of [{ replyBytes: 2 ** 27 }, { delayMs: 2 ** 31 }, { intervalMs: 2 ** 31 }]) {
    for (const path of [HELLO_PATHS.getGreeting, HELLO_PATHS.listGreetings, HELLO_PATHS.chat]) {
      const { replies, status: got } = await pair.client.ask(path, wish);
      assertEquals([replies.length, got.code], [0, status.INVALID_ARGUMENT], JSON.stringify(wish));
      assertStringIncludes(got.details, String(Object.values(wish)[0]));
    }
  }
});

Deno.test("GetGreeting pads its reply to the asked length", async () => {
  using pair = await helloPair();
  for (const replyBytes of [1_000, 100_000]) {
    const request = Uint8Array.of(0x18, ...varint(replyBytes));
    const { replies } = await pair.client.askRaw(HELLO_PATHS.getGreeting, request, {
      decode: (bytes) => bytes.length,
    });
    assertEquals(replies, [replyBytes]);
  }
});

Deno.test("ListGreetings sends as many as asked, 3 when not asked, none for 0", async () => {
  using pair = await helloPair();
  for (const [request, expected] of [[{}, 3], [{ count: 0 }, 0], [{ count: 40 }, 40]] as const) {
    const { replies, status } = await pair.client.ask(HELLO_PATHS.listGreetings, request);
    assertEquals(replies.map((reply) => reply.sequence), sequence(expected));
    assertEquals(new Set(replies.map((reply) => reply.from)).size, expected === 0 ? 0 : 1);
    assertEquals(status.code, 0);
    assertEquals(status.metadata.get("x-hello"), [String(pair.backend.total)]);
  }
});

Deno.test("ListGreetings waits between greetings", async () => {
  using pair = await helloPair();
  const before = performance.now();
  await pair.client.ask(HELLO_PATHS.listGreetings, { count: 4, intervalMs: 20 });
  assertGreater(performance.now() - before, 59);
});

Deno.test("ListGreetings sends its greetings before it fails", async () => {
  using pair = await helloPair();
  const wish = { count: 2, failWith: { code: 8 } };
  const { replies, status } = await pair.post(HELLO_PATHS.listGreetings, [wish]);
  assertEquals([replies.length, status], [2, "8"]);
});

Deno.test("ListGreetings waits for a caller that does not read", async () => {
  using pair = await helloPair();
  const call = pair.client.openChat(HELLO_PATHS.listGreetings);
  call.write({ count: 200, replyBytes: 65_536 });
  call.end();
  await new Promise((resolve) => call.once("metadata", resolve));
  assertEquals(pair.backend.report().inFlight, 1);
  const { replies } = await outcomeOf<unknown>(call);
  assertEquals(replies.length, 200);
});

Deno.test("CreateGreeting answers as GetGreeting does, under its own name", async () => {
  using pair = await helloPair();
  const { replies } = await pair.client.ask(HELLO_PATHS.createGreeting, { name: "Ada" });
  assertEquals(replies[0]?.text, "Hello, Ada");
  assertEquals(pair.backend.counts(), { "/hello.v1.Hello/CreateGreeting": 1 });
});

Deno.test("UploadGreetings answers once, after the last name", async () => {
  using pair = await helloPair();
  const names = ["Ada", "Grace", "Mary"].map((name) => ({ name }));
  const { replies, head, status } = await pair.client.askMany(HELLO_PATHS.uploadGreetings, names);
  assertEquals(replies, [{ text: "Hello, Ada and 2 more", from: 1, metadata: {}, sequence: 3 }]);
  assertEquals([head?.get("x-hello-call"), status.code], [["1"], 0]);
});

Deno.test("UploadGreetings fails as its first message says", async () => {
  using pair = await helloPair();
  const uploads = [{ name: "Ada", failWith: { code: 9 } }, { name: "Grace" }];
  const { replies, status } = await pair.client.askMany(HELLO_PATHS.uploadGreetings, uploads);
  assertEquals([replies.length, status.code], [0, 9]);
});

Deno.test("UploadGreetings of nothing greets nobody", async () => {
  using pair = await helloPair();
  const { replies } = await pair.client.askMany(HELLO_PATHS.uploadGreetings, []);
  assertEquals(replies.map(({ text, sequence }) => [text, sequence]), [["Hello, ", 0]]);
});

Deno.test("Chat sends its head at once and answers each message as it comes", async () => {
  using pair = await helloPair();
  const call = pair.client.openChat(HELLO_PATHS.chat);
  const texts: string[] = [];
  const outcome = outcomeOf(call);
  await new Promise((resolve) => call.once("metadata", resolve));
  for (const name of ["Ada", "Grace"]) {
    const answered = new Promise<void>((resolve) =>
      call.once("data", ({ text }) => (texts.push(text), resolve()))
    );
    call.write({ name });
    await answered;
  }
  assertEquals(texts, ["Hello, Ada", "Hello, Grace"]);
  assertEquals(pair.backend.report().inFlight, 1);
  call.end();
  assertEquals((await outcome).status.code, 0);
  assertEquals(pair.backend.report().inFlight, 0);
});

Deno.test("Chat ends at the message that asks for a failure", async () => {
  using pair = await helloPair();
  const messages = [{ name: "Ada" }, { name: "Grace", failWith: { code: 10 } }, { name: "Mary" }];
  const { replies, status } = await pair.post(HELLO_PATHS.chat, messages);
  assertEquals(replies.map((reply) => reply.text), ["Hello, Ada", "Hello, Grace"]);
  assertEquals(status, "10");
});

Deno.test("Hello lets go of a call whose caller has gone, whatever its kind", async () => {
  using pair = await helloPair({ delayMs: 60_000 });
  const { getGreeting, listGreetings, uploadGreetings, chat } = HELLO_PATHS;
  for (const path of [getGreeting, listGreetings, uploadGreetings, chat]) {
    const cancel = new AbortController();
    const outcome = pair.client.ask(path, {}, { cancel: cancel.signal });
    await until(() => pair.backend.report().inFlight === 1);
    cancel.abort();
    assertEquals((await outcome).status.code, status.CANCELLED, path);
    await until(() => pair.backend.report().inFlight === 0);
  }
});

Deno.test("Hello lets go of a stream whose caller goes before its half-close", async () => {
  using pair = await helloPair();
  for (const path of [HELLO_PATHS.uploadGreetings, HELLO_PATHS.chat]) {
    const call = pair.client.openChat(path);
    const outcome = outcomeOf(call);
    call.write({ name: "Ada" });
    await until(() => pair.backend.report().inFlight === 1);
    call.cancel();
    assertEquals((await outcome).status.code, status.CANCELLED, path);
    await until(() => pair.backend.report().inFlight === 0);
  }
});

Deno.test("Hello lets go of a stream whose caller goes while it does not read", async () => {
  using pair = await helloPair();
  const call = pair.client.openChat(HELLO_PATHS.listGreetings);
  call.on("error", () => {});
  call.write({ count: 1_000, replyBytes: 65_536 });
  call.end();
  await new Promise((resolve) => call.once("metadata", resolve));
  call.cancel();
  await until(() => pair.backend.report().inFlight === 0);
});

Deno.test("Hello survives a message that cannot be read", async () => {
  using pair = await helloPair();
  for (const path of Object.values(HELLO_PATHS)) {
    const decode = (bytes: Uint8Array) => bytes;
    const { status: got } = await pair.client.askRaw(path, Uint8Array.of(0x0f), { decode });
    assertEquals(got.code, status.INTERNAL, path);
  }
  await until(() => pair.backend.report().inFlight === 0);
});

Deno.test("Hello answers a thousand callers at once", async () => {
  using pair = await helloPair({ delayMs: 100 });
  const outcomes = await Promise.all(
    Array.from({ length: 1_000 }, () => pair.client.ask(HELLO_PATHS.getGreeting, {})),
  );
  assert(outcomes.every(({ status }) => status.code === 0));
  assertEquals(new Set(outcomes.map(({ replies }) => replies[0]?.from)).size, 1_000);
  assertEquals(pair.backend.total, 1_000);
});

Deno.test("ReportCounts tells others what the backend counted, itself left out", async () => {
  using pair = await helloPair({ delayMs: 20 });
  const { client, backend } = pair;
  await Promise.all([1, 2, 3].map(() => client.ask(HELLO_PATHS.getGreeting, {})));
  await client.ask(HELLO_PATHS.listGreetings, { count: 1 });
  const options = { decode: decodeCountsReply };
  for (const _ of [1, 2]) {
    const { replies } = await client.askRaw(HELLO_PATHS.reportCounts, new Uint8Array(), options);
    assertEquals(replies, [{
      calls: { "/hello.v1.Hello/GetGreeting": 3, "/hello.v1.Hello/ListGreetings": 1 },
      total: 4,
      inFlight: 0,
      peakInFlight: 3,
    }]);
    assertEquals(replies[0], backend.report());
  }
});

function sequence(length: number): number[] {
  return Array.from({ length }, (_, index) => index + 1);
}

/** Numbers from 128 to 2^21 - 1 only need two or three bytes. */
function varint(value: number): number[] {
  const high = value >> 7;
  return [value & 0x7f | 0x80, ...(high < 0x80 ? [high] : [high & 0x7f | 0x80, high >> 7])];
}
