import { Metadata } from "@grpc/grpc-js";
import { assert, assertEquals } from "@std/assert";
import { greet, type Reply } from "../../lib/hello/greeting.ts";
import helloText from "../../lib/hello/hello.proto" with { type: "text" };
import { readProto } from "../../lib/hello/proto_file.ts";

const serialize = readProto(helloText, "hello.proto").service("hello.v1.Hello").GetGreeting!
  .responseSerialize as (reply: Reply) => Uint8Array;

const caller = { metadata: new Metadata(), getHost: () => "here" };

function lengthWhenAskedFor(replyBytes: number): number {
  const request = { name: "", replyBytes, echoMetadata: [], failWith: null, intervalMs: 0 };
  return serialize(greet(caller, request, { from: 1, sequence: 1, serialize })).length;
}

Deno.test("greet pads to the asked length, or one byte less where the length's own length grows", () => {
  const bare = lengthWhenAskedFor(0);
  const growth = [128, 16_384, 2_097_152].map((padding, index) => bare + padding + 2 + index);
  for (const near of [bare + 3, ...growth]) {
    for (let wanted = near - 3; wanted < near + 4; wanted++) {
      const got = lengthWhenAskedFor(wanted);
      const room = wanted - bare;
      if (room < 3) assertEquals(got, bare);
      else assertEquals(got, growth.includes(wanted) ? wanted - 1 : wanted);
    }
  }
});

Deno.test("greet does not shorten a reply that is longer than asked for", () => {
  assert(lengthWhenAskedFor(1) > 1);
  assertEquals(lengthWhenAskedFor(1), lengthWhenAskedFor(0));
});
