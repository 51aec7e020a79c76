import { assertEquals, assertNotEquals, assertStrictEquals } from "@std/assert";
import { requestFault, responseFault, trailersFault } from "../../lib/connection/header_rules.ts";
import { HeaderCache } from "../../lib/wire/mod.ts";
import { type Pairs, REQUEST, RESPONSE, TRAILERS } from "../support/frames.ts";

// What is illegal, one by one, is in tests/conformance/rfc9113_8_messages_test.ts.

Deno.test("header rules find no fault with what gRPC sends", () => {
  const cache = new HeaderCache();
  assertEquals(requestFault(cache.list(REQUEST)), "");
  assertEquals(responseFault(cache.list(RESPONSE)), "");
  assertEquals(responseFault(cache.list([...RESPONSE, ...TRAILERS])), "");
  assertEquals(trailersFault(cache.list(TRAILERS)), "");
  assertEquals(trailersFault(cache.list([])), "");
});

Deno.test("header rules judge a list for each of its places apart", () => {
  const cache = new HeaderCache();
  const lists = [REQUEST, RESPONSE, TRAILERS].map((fields) => cache.list(fields));
  const verdicts = lists.map((list) =>
    [requestFault, responseFault, trailersFault].map((fault) => fault(list) === "")
  );
  assertEquals(verdicts, [
    [true, false, false],
    [false, true, false],
    [false, false, true],
  ]);
});

Deno.test("header rules keep their verdict on the list and do not ask again", () => {
  const list = new HeaderCache().list(TRAILERS);
  const fault = requestFault(list);
  assertNotEquals(fault, "");
  assertStrictEquals(list.requestFault, fault);
  list.requestFault = "asked before";
  assertEquals(requestFault(list), "asked before");
});

Deno.test("header rules ask CONNECT for neither scheme nor path (RFC 9113 §8.5)", () => {
  const connect: Pairs = [[":method", "CONNECT"], [":authority", "a:1"]];
  assertEquals(requestFault(new HeaderCache().list(connect)), "");
});
