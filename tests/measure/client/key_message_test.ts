import { assertEquals, assertStrictEquals } from "@std/assert";
import { encodeGreetingRequest } from "../../../lib/hello/mod.ts";
import { requestBody } from "../../../lib/measure/client/client.ts";
import { keyBodies, keyBody } from "../../../lib/measure/client/key_message.ts";
import type { FrameLog } from "../../../lib/wire/mod.ts";

function bytesOf({ bytes, end }: FrameLog): Uint8Array {
  return bytes.slice(0, end);
}

Deno.test("keyBody is a greeting request whose name is the key", () => {
  for (const key of [0, 7, 1_000, 2 ** 53]) {
    const want = requestBody(encodeGreetingRequest({ name: `key-${key}` }));
    assertEquals(bytesOf(keyBody(key)), bytesOf(want));
    assertEquals([keyBody(key).ended, keyBody(key).dataBytes], [true, want.dataBytes]);
  }
});

Deno.test("keyBodies encodes the first keys once and all of them rightly", () => {
  const bodyOf = keyBodies();
  const first = bodyOf(3);
  for (const key of [0, 3, 9_999, 10_000, 123_456]) {
    assertEquals(bytesOf(bodyOf(key)), bytesOf(keyBody(key)));
  }
  assertStrictEquals(bodyOf(3), first);
});
