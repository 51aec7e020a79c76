import { assertEquals } from "@std/assert";
import protobuf from "protobufjs";
import "protobufjs/ext/descriptor/index.js";
import { messagesIn } from "../../lib/grpc/mod.ts";
import { compileIgnoredFields } from "../../lib/trust/mod.ts";
import { encode } from "../trust/messages.ts";

const SOURCE = `
syntax = "proto3";
package bar;
service Things { rpc GetThing (Ask) returns (Thing); rpc ListThings (Ask) returns (stream Thing.Page); }
message Ask {}
message Thing {
  string title = 1;
  Stamp stamp = 3;
  map<string, Stamp> by_name = 400;
  message Page { repeated Thing things = 2; }
}
message Stamp { string made = 1; int64 at = 2; }
`;

/** The reflection response of a server with SOURCE, as protobuf.js writes its descriptors. */
function described(): Uint8Array {
  const { root } = protobuf.parse(SOURCE, new protobuf.Root(), { keepCase: true });
  // The extension adds both, and its types say nothing of it.
  const set = (root as unknown as { toDescriptor(syntax: string): object }).toDescriptor("proto3");
  const files = (set as { file: object[] }).file;
  const { FileDescriptorProto } = (protobuf as unknown as {
    descriptor: { FileDescriptorProto: protobuf.Type };
  }).descriptor;
  const bytes = files.map((file) => FileDescriptorProto.encode(file).finish());
  return encode([[4, bytes.map((file) => [1, Uint8Array.from(file)] as const)]]);
}

Deno.test("messagesIn reads what protobuf.js wrote: fields, messages within messages, maps, methods", () => {
  const { messages, answers } = messagesIn(described());
  const numbers = (message: string) =>
    [...messages.get(message) ?? []].map(([name, { number }]) => [name, number]);
  assertEquals(numbers("bar.Thing"), [["title", 1], ["stamp", 3], ["by_name", 400]]);
  assertEquals(numbers("bar.Stamp"), [["made", 1], ["at", 2]]);
  assertEquals(numbers("bar.Thing.Page"), [["things", 2]]);
  assertEquals([...answers.keys()], ["/bar.Things/GetThing", "/bar.Things/ListThings"]);
});

Deno.test("messagesIn serves the names of ignoreFields, and no name of another message", () => {
  const file = encode([
    [2, "bar"],
    [4, [[1, "Thing"], [2, [[1, "stamp"], [3, 3], [6, ".bar.Stamp"]]]]],
    [4, [[1, "Stamp"], [2, [[1, "made"], [3, 1]]]]],
    [6, [[1, "Things"], [2, [[1, "GetThing"], [3, ".bar.Thing"]]]]],
  ]);
  const { messages, answers } = messagesIn(encode([[4, [[1, file]]]]));
  const names = {
    answer: answers.get("/bar.Things/GetThing")!,
    fieldOf: (message: string, name: string) => messages.get(message)?.get(name),
  };
  assertEquals(compileIgnoredFields(["stamp.made", "made"], names), {
    ignored: new Map([[3, new Map([[1, "all" as const]])]]),
    unknown: ["made"],
  });
});

Deno.test("messagesIn says nothing of bytes that are no response, and never throws", () => {
  const whole = described();
  for (let length = 0; length < whole.length; length++) messagesIn(whole.subarray(0, length));
  const { messages, answers } = messagesIn(Uint8Array.of(0xff, 0xff, 1));
  assertEquals([messages.size, answers.size], [0, 0]);
});

Deno.test("messagesIn goes no deeper than sixteen messages within each other", () => {
  let nested = encode([[1, "M"]]);
  for (let i = 0; i < 40; i++) nested = encode([[1, "M"], [3, nested]]);
  assertEquals(messagesIn(encode([[4, [[1, encode([[4, nested]])]]]])).messages.size, 16);
});
