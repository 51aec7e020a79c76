import { status } from "@grpc/grpc-js";
import { assert, assertEquals, assertExists } from "@std/assert";
import { type Field, readFields, Writer } from "../../lib/hello/protobuf_bytes.ts";
import { type HelloClient, helloPair } from "./hello_client.ts";

/** Fields of ServerReflectionRequest and ServerReflectionResponse. */
const BY_FILENAME = 3;
const BY_SYMBOL = 4;
const BY_EXTENSION = 5;
const EXTENSIONS_OF = 6;
const LIST_SERVICES = 7;
const FILES = 4;
const EXTENSION_NUMBERS = 5;
const SERVICES = 6;
const ERROR = 7;

const VERSIONS = ["grpc.reflection.v1", "grpc.reflection.v1alpha"];

Deno.test("reflection lists every service, in both of its versions", async () => {
  using pair = await helloPair();
  for (const version of VERSIONS) {
    const answer = await ask(pair.client, { version, field: LIST_SERVICES, value: "*" });
    const names = all(one(answer, SERVICES), 1).map((service) => one(service.bytes, 1).text());
    assertEquals(names, [
      "grpc.health.v1.Health",
      "grpc.reflection.v1.ServerReflection",
      "grpc.reflection.v1alpha.ServerReflection",
      "hello.v1.Hello",
      "hello.v1.Stats",
    ]);
  }
});

Deno.test("reflection says which methods have no side effects", async () => {
  using pair = await helloPair();
  for (const version of VERSIONS) {
    const file = await fileOf(pair.client, { version, field: BY_SYMBOL, value: "hello.v1.Hello" });
    const hello = all(file, 6).find((service) => one(service.bytes, 1).text() === "Hello");
    assertExists(hello);
    // FileDescriptorProto.service = 6, .method = 2, MethodDescriptorProto.options = 4, .idempotency_level = 34
    const levels = all(hello, 2).map((method) => {
      const [options] = all(method, 4);
      const level = options && all(options, 34)[0]?.value;
      return [one(method.bytes, 1).text(), level];
    });
    assertEquals(levels, [
      ["GetGreeting", 1],
      ["ListGreetings", 1],
      ["CreateGreeting", undefined],
      ["UploadGreetings", undefined],
      ["Chat", undefined],
    ]);
  }
});

Deno.test("reflection serves a file under its name, and under every name in it", async () => {
  using pair = await helloPair();
  const version = VERSIONS[0]!;
  const field = BY_FILENAME;
  const file = await fileOf(pair.client, { version, field, value: "hello/v1/hello.proto" });
  assertEquals(one(file, 1).text(), "hello/v1/hello.proto");
  assertEquals(one(file, 2).text(), "hello.v1");
  for (const name of ["Hello", "Hello.Chat", "Stats", "GreetingReply", "Failure"]) {
    const value = `hello.v1.${name}`;
    assertEquals(await fileOf(pair.client, { version, field: BY_SYMBOL, value }), file, name);
  }
});

Deno.test("reflection serves types by their full names, maps and optional fields marked", async () => {
  using pair = await helloPair();
  const version = VERSIONS[0]!;
  const file = await fileOf(pair.client, { version, field: BY_SYMBOL, value: "hello.v1.Hello" });
  const messages = new Map(all(file, 4).map((m) => [one(m.bytes, 1).text(), m]));
  const fields = (message: string) =>
    new Map(all(messages.get(message)!, 2).map((field) => [one(field.bytes, 1).text(), field]));
  // FieldDescriptorProto: type_name = 6, proto3_optional = 17
  const typeName = (field: Field) => one(field.bytes, 6).text();
  const optional = (field: Field) => all(field, 17)[0]?.value;
  const request = fields("GreetingRequest");
  assertEquals(typeName(request.get("fail_with")!), ".hello.v1.Failure");
  assertEquals(optional(request.get("delay_ms")!), 1);
  assertEquals(optional(request.get("interval_ms")!), undefined);
  const entry = ".hello.v1.GreetingReply.MetadataEntry";
  assertEquals(typeName(fields("GreetingReply").get("metadata")!), entry);
  const [nested] = all(messages.get("GreetingReply")!, 3);
  assertEquals(nested && one(nested.bytes, 1).text(), "MetadataEntry");
});

Deno.test("reflection answers what it cannot find with NOT_FOUND, and goes on", async () => {
  using pair = await helloPair();
  const version = VERSIONS[0]!;
  for (const field of [BY_FILENAME, BY_SYMBOL, BY_EXTENSION, EXTENSIONS_OF]) {
    const error = one(await ask(pair.client, { version, field, value: "absent" }), ERROR);
    assertEquals(one(error.bytes, 1).value, status.NOT_FOUND);
  }
  const empty = one(await ask(pair.client, { version, field: 1, value: "host" }), ERROR);
  assertEquals(one(empty.bytes, 1).value, status.INVALID_ARGUMENT);
});

Deno.test("reflection knows of no extensions", async () => {
  using pair = await helloPair();
  const value = "hello.v1.Failure";
  const answer = await ask(pair.client, { version: VERSIONS[0]!, field: EXTENSIONS_OF, value });
  const numbers = one(answer, EXTENSION_NUMBERS);
  assertEquals(one(numbers.bytes, 1).text(), value);
  assertEquals(all(numbers, 2), []);
});

interface Question {
  readonly version: string;
  readonly field: number;
  readonly value: string;
}

/** Asks one question; the answer repeats it. */
async function ask(client: HelloClient, question: Question): Promise<Uint8Array> {
  const { version, field, value } = question;
  const request = new Writer();
  if (field === BY_EXTENSION) request.bytes(field, Uint8Array.of(0x0a, 1, 0x78, 0x10, 1));
  else request.text(field, value);
  const path = `/${version}.ServerReflection/ServerReflectionInfo`;
  const bytes = request.finish();
  const { replies, status } = await client.askRaw(path, bytes, { decode: (reply) => reply });
  assertEquals([replies.length, status.code], [1, 0]);
  const echoed = one(replies[0]!, 2);
  assert(all(echoed, field).length === 1, "the answer repeats its question");
  return replies[0]!;
}

async function fileOf(client: HelloClient, question: Question): Promise<Uint8Array> {
  const files = all(one(await ask(client, question), FILES), 1);
  assertEquals(files.length, 1);
  return files[0]!.bytes;
}

function all(message: Field | Uint8Array, number: number): Field[] {
  const bytes = message instanceof Uint8Array ? message : message.bytes;
  return readFields(bytes).filter((field) => field.number === number);
}

function one(message: Uint8Array, number: number): Field {
  const [field] = all(message, number);
  assertExists(field, `field ${number}`);
  return field;
}
