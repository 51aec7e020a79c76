import { assertEquals, assertThrows } from "@std/assert";
import { readProto } from "../../lib/hello/proto_file.ts";

const TEXT = `syntax = "proto3";
package a.b;
service S { rpc Do(M) returns (M.Inner); }
message M { message Inner { enum E { ZERO = 0; } E of_e = 1; Inner again = 2; } }`;

Deno.test("readProto finds everything that a file declares", () => {
  const file = readProto(TEXT, "a/b.proto");
  assertEquals(file.serviceNames, ["a.b.S"]);
  assertEquals(file.symbols, ["a.b.S", "a.b.S.Do", "a.b.M", "a.b.M.Inner", "a.b.M.Inner.E"]);
  assertEquals(file.service("a.b.S").Do?.path, "/a.b.S/Do");
});

Deno.test("readProto serializes into a Buffer, as grpc-js demands", () => {
  const { requestSerialize } = readProto(TEXT, "a/b.proto").service("a.b.S").Do!;
  assertEquals(Buffer.isBuffer(requestSerialize({})), true);
});

Deno.test("readProto describes nested types by their full names", () => {
  const text = new TextDecoder().decode(readProto(TEXT, "a/b.proto").descriptor);
  for (const name of [".a.b.M", ".a.b.M.Inner", ".a.b.M.Inner.E"]) {
    assertEquals(text.includes(`${String.fromCharCode(name.length)}${name}`), true, name);
  }
});

Deno.test("readProto throws on a text that is no proto, and on a service that is not there", () => {
  assertThrows(() => readProto("message {", "x.proto"));
  assertThrows(() => readProto(TEXT, "x.proto").service("a.b.T"), TypeError, "a.b.T");
  assertThrows(() => readProto(`syntax = "proto3";`, "x.proto"), TypeError, "one package, got 0");
});
