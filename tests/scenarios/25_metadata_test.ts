/**
 * Scenario 25: names that occur more than once, and binary values. In memory, ten callers of one answer:
 * tests/proxy/shared_call_test.ts; stock clients that have all bytes back through a stock server: the mirror of
 * tests/interop/.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { GrpcJs } from "../interop/grpc_js.ts";
import type { CallerCall } from "../support/caller_end.ts";
import { requestHead } from "../support/caller_end.ts";
import type { Pairs } from "../support/frames.ts";
import { ended } from "../support/peer_waiting.ts";
import { GET, PUT } from "../support/proxy_rig.ts";
import { withSockets } from "../support/socket_rig.ts";

/** Bytes that text cannot hold, unpadded, padded, as two values in one, and of no bytes at all. */
const AWKWARD: Pairs = [
  ["x-tag", "a"],
  ["k-bin", "AP8"],
  ["x-tag", "b"],
  ["k-bin", "AP8="],
  ["k-bin", "AP8,/wA="],
  ["z-bin", ""],
  ["x-tag", "a"],
  ["x-empty", ""],
  ["x-list", "one, two,three"],
];

const STORED = { variables: { COLLAPSER_CACHE_DURATION: "1m" } };

const HEAD: Pairs = [[":status", "200"], ["content-type", "application/grpc"]];
const IDENTITY: Pairs = [["grpc-encoding", "identity"]];

Deno.test("Scenario 25: request metadata reaches the backend with every value in its order, and nothing twice", async () => {
  await withSockets(STORED, async (rig) => {
    rig.backend.onRequest = (request) => request.echoes();
    const caller = await rig.caller();
    const own: Pairs = [...IDENTITY, ["user-agent", "own/1"]];
    for (const path of [GET, PUT]) {
      const calls = [0, 1].map(() => caller.call(path, "1", { metadata: [...own, ...AWKWARD] }));
      await ended(...calls);
      for (const call of calls) call.expects(0, "re:1");
      const { fields } = rig.backend.requests.at(-1)!;
      assertEquals(fields, [...requestHead(path), ...own, ...AWKWARD]);
      assertEquals(decoded(fields, "k-bin"), ["00ff", "00ff", "00ff", "ff00"]);
    }
    rig.expectsRequests(1 + 2);
  });
});

Deno.test("Scenario 25: leader, follower and hit see identical headers and trailers, and no reserved name twice", async () => {
  await withSockets(STORED, async (rig) => {
    const [one, other] = [await rig.caller(), await rig.caller()];
    const calls = [one.call(GET, "1"), other.call(GET, "1")];
    await rig.waits(2);
    (await rig.request(0)).replies(["one"], {
      headers: [...IDENTITY, ...AWKWARD],
      trailers: AWKWARD,
    });
    await ended(...calls);
    const hit = other.call(GET, "1");
    await ended(hit);
    for (const { reply } of [...calls, hit]) {
      assertEquals(reply.blocks, [
        [...HEAD, ...IDENTITY, ...AWKWARD],
        [["grpc-status", "0"], ...AWKWARD],
      ]);
      assertEquals(reply.messages, ["one"]);
    }
    rig.expectsRequests(1);
  });
});

Deno.test("Scenario 25: a status that comes alone keeps its metadata for leader, follower and a call that passes", async () => {
  await withSockets(async (rig) => {
    const [one, other] = [await rig.caller(), await rig.caller()];
    const shared = [one.call(GET, "1"), other.call(GET, "1")];
    await rig.waits(2);
    (await rig.request(0)).fails(9, AWKWARD);
    const passed = other.call(PUT, "1");
    (await rig.request(1)).fails(9, AWKWARD);
    await ended(...shared, passed);
    for (const { reply } of [...shared, passed]) {
      assertEquals(reply.blocks, [[...HEAD, ["grpc-status", "9"], ...AWKWARD]]);
    }
  });
});

Deno.test("Scenario 25: calls that differ in a value, in the order of values or in their number do not share", async () => {
  await withSockets(STORED, async (rig) => {
    rig.backend.onRequest = (request) => request.echoes();
    const caller = await rig.caller();
    const kinds: Pairs[] = [
      [["x-tag", "a"], ["x-tag", "b"]],
      [["x-tag", "b"], ["x-tag", "a"]],
      [["x-tag", "a"]],
      [["x-tag", "a"], ["x-tag", "a"]],
      [["k-bin", "AP8"]],
      [["k-bin", "AP8,AP8"]],
      [["k-bin", "AP8"], ["k-bin", "AP8"]],
      [["k-bin", "AP9"]],
      [["k-bin", ""]],
    ];
    const calls = kinds.map((metadata) => caller.call(GET, "1", { metadata }));
    await ended(...calls);
    for (const call of calls) call.expects(0, "re:1");
    rig.expectsRequests(kinds.length);
  });
});

Deno.test("Scenario 25: a stock client reads the same metadata as leader and as follower", async () => {
  await withSockets(STORED, async (rig) => {
    await using one = new GrpcJs(rig.local.port);
    await using other = new GrpcJs(rig.local.port);
    const plan = { name: "read", kind: "unary", path: GET, messages: [Uint8Array.of(1)] } as const;
    const metadata = [["k-bin", Uint8Array.of(0, 255)], ["k-bin", Uint8Array.of(44)]] as const;
    const seeing = [one, other].map((client) => client.see({ ...plan, metadata }));
    await rig.waits(2);
    const request = await rig.request(0);
    assertEquals(decoded(request.fields, "k-bin"), ["00ff", "2c"]);
    request.replies(["one"], { headers: AWKWARD, trailers: AWKWARD });
    for (const seen of await Promise.all(seeing)) {
      assertEquals([seen.code, seen.messages], [0, [btoa("one")]]);
      for (const entries of [seen.head!, seen.trailers]) {
        const values = Object.fromEntries(entries);
        assertEquals(values["x-tag"], ["a, b, a"]); // its HTTP/2 library puts them together
        assertEquals(values["k-bin"], ["AP8=", "AP8=", "AP8=", "/wA="]);
        assertEquals(values["x-list"], ["one, two,three"]);
      }
    }
    rig.expectsRequests(1);
  });
});

Deno.test("Scenario 25: metadata of a hundred values of one name comes through, whatever came before on the connection", async () => {
  await withSockets(STORED, async (rig) => {
    const many: Pairs = Array.from({ length: 100 }, (_, i) => ["x-many", `value ${i % 7}`]);
    rig.backend.onRequest = (request) =>
      request.replies(["x"], {
        headers: request.fields.filter(([name]) => name === "x-many"),
        trailers: many,
      });
    const caller = await rig.caller();
    const calls: CallerCall[] = [];
    for (let i = 0; i < 3; i++) { // by then some of it is in the tables of both connections
      calls.push(caller.call(PUT, "1", { metadata: many }), caller.call(GET, "1"));
      await ended(...calls);
    }
    for (const [i, { reply }] of calls.entries()) {
      assertEquals(reply.blocks[0], i % 2 === 0 ? [...HEAD, ...many] : HEAD);
      assertEquals(reply.blocks[1], [["grpc-status", "0"], ...many]);
    }
  });
});

/** The values of a binary name as hexadecimal digits; two may stand in one field. */
function decoded(fields: Pairs, name: string): string[] {
  return fields.filter(([known]) => known === name).flatMap(([, value]) => value.split(",")).map(
    (value) => Buffer.from(value, "base64").toString("hex"),
  );
}
