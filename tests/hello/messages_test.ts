import { assertEquals, assertThrows } from "@std/assert";
import {
  decodeCountsReply,
  decodeGreetingReply,
  encodeGreetingRequest,
} from "../../lib/hello/mod.ts";
import helloText from "../../lib/hello/hello.proto" with { type: "text" };
import { readProto } from "../../lib/hello/proto_file.ts";

// protobufjs, reading the same hello.proto, is what the helpers are held against.
const hello = readProto(helloText, "hello.proto").service("hello.v1.Hello").GetGreeting!;
const stats = readProto(helloText, "hello.proto").service("hello.v1.Stats").ReportCounts!;

const FULL = {
  name: "Ada – é",
  delayMs: 300,
  replyBytes: 70_000,
  echoMetadata: ["authorization", "x-b"],
  failWith: { code: 16, message: "no", details: Uint8Array.of(0, 1, 255) },
  count: 4_294_967_295,
  intervalMs: 7,
};

Deno.test("encodeGreetingRequest writes what protobufjs reads", () => {
  const read = hello.requestDeserialize(Buffer.from(encodeGreetingRequest(FULL)));
  const { _delayMs, _count, ...fields } = read as Record<string, unknown>;
  assertEquals(
    JSON.stringify({ ...fields, delayMs: 300, count: FULL.count }),
    JSON.stringify({
      ...fields,
      ...FULL,
      failWith: { ...FULL.failWith, details: Buffer.from(FULL.failWith.details) },
    }),
  );
  assertEquals([_delayMs, _count], ["delayMs", "count"]);
});

Deno.test("encodeGreetingRequest keeps absent apart from zero where that matters", () => {
  assertEquals(encodeGreetingRequest({}), new Uint8Array());
  assertEquals(encodeGreetingRequest({ name: "", replyBytes: 0, intervalMs: 0 }), new Uint8Array());
  assertEquals(encodeGreetingRequest({ delayMs: 0, count: 0 }), Uint8Array.of(0x10, 0, 0x30, 0));
  assertEquals(encodeGreetingRequest({ failWith: { code: 2 } }), Uint8Array.of(0x2a, 2, 8, 2));
});

Deno.test("encodeGreetingRequest throws on numbers that are none", () => {
  for (const delayMs of [-1, 0.5, NaN, 2 ** 53]) {
    assertThrows(() => encodeGreetingRequest({ delayMs }), RangeError, String(delayMs));
  }
});

Deno.test("decodeGreetingReply reads what protobufjs writes", () => {
  const reply = {
    text: "Hello, Ada – é",
    from: 2 ** 40 + 3,
    metadata: { "x-a": "1", "": "empty name", "x-empty": "" },
    padding: new Uint8Array(300),
    sequence: 9,
  };
  const { padding: _, ...expected } = reply;
  assertEquals(decodeGreetingReply(hello.responseSerialize(reply)), expected);
  const nothing = { text: "", from: 0, metadata: {}, sequence: 0 };
  assertEquals(decodeGreetingReply(new Uint8Array()), nothing);
});

Deno.test("decodeCountsReply reads what protobufjs writes", () => {
  const reply = { calls: { "/a/B": 1, "/c/D": 300 }, total: 301, inFlight: 2, peakInFlight: 40 };
  assertEquals(decodeCountsReply(stats.responseSerialize(reply)), reply);
});

Deno.test("decodeGreetingReply reads a prefix of whole fields, and throws at any other cut", () => {
  const whole = hello.responseSerialize({ text: "Ada", from: 300, metadata: { a: "b" } });
  // text ends at 5, from at 8; metadata is the rest
  const ends = new Set([0, 5, 8, whole.length]);
  for (let cut = 0; cut <= whole.length; cut++) {
    const bytes = whole.subarray(0, cut);
    if (ends.has(cut)) decodeGreetingReply(bytes);
    else assertThrows(() => decodeGreetingReply(bytes), RangeError, "Cannot read");
  }
});
