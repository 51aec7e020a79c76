/**
 * Scenario 5: what stands in grpc-message.
 *
 * In memory, tests/proxy/shared_call_test.ts has encoded and malformed values pass unchanged beside a message, and
 * tests/proxy/failure_test.ts and tests/grpc/percent_test.ts have ours encoded. Here: real sockets and grpc-js, and text
 * of ours that others put there.
 *
 * @module
 */

import { assert, assertEquals, assertMatch } from "@std/assert";
import type { BackendRequest } from "../support/backend_end.ts";
import { requestHead } from "../support/caller_end.ts";
import { block, type Pairs, splitBlock } from "../support/frames.ts";
import { JsCaller } from "../support/js_caller.ts";
import { catchesUp, ended } from "../support/peer_waiting.ts";
import { GET, PUT, withRig } from "../support/proxy_rig.ts";
import { withSockets } from "../support/socket_rig.ts";

/** Bytes that a value may hold as they are; `%` only before two hexadecimal digits. */
const WIRE_FORM = /^(?:[\x20-\x24\x26-\x7e]|%[0-9A-F]{2})*$/;

/** As a backend may send them, each with what grpc-js makes of it. */
const ENCODED: readonly (readonly [value: string, decoded: string])[] = [
  ["%E7%BC%BA%0A100%25", "\u7f3a\n100%"],
  ["%e7%bc%ba", "\u7f3a"],
  ["plain, with spaces and ~", "plain, with spaces and ~"],
  ["", ""],
];

const MALFORMED = ["100% bad %zz", "%", "%4", "%FF%FE", "\xe9t\xe9", "%E7%BC"];

/** How a status comes: with a message before it, or alone. */
const WAYS: readonly ((request: BackendRequest, trailers: Pairs) => void)[] = [
  (request, trailers) => request.replies(["a"], { status: 9, trailers }),
  (request, trailers) => request.fails(9, trailers),
];

Deno.test("Scenario 5(a): an encoded message is the same on the wire, and grpc-js reads it", async () => {
  await withSockets(async (rig) => {
    using client = new JsCaller(rig.local.port);
    const caller = await rig.caller();
    let count = 0;
    for (const [value, decoded] of ENCODED) {
      for (const answer of WAYS) {
        const calls = [caller.call(GET, "raw"), caller.call(GET, "raw"), caller.call(PUT, "raw")];
        const asked = client.call(GET, "js");
        await rig.waits(3);
        await rig.backend.has(count += 3);
        for (const request of rig.backend.requests.slice(-3)) {
          answer(request, [["grpc-message", value]]);
        }
        await ended(...calls);
        for (const call of calls) assertEquals([call.status, call.grpcMessage], [9, value]);
        const { status } = await asked;
        assertEquals([status.code, status.details], [9, decoded]);
      }
    }
  });
});

Deno.test("Scenario 5(b): a malformed message passes as it is, with its status, and the next call is good", async () => {
  await withSockets(async (rig) => {
    const caller = await rig.caller();
    let count = 0;
    for (const value of MALFORMED) {
      for (const answer of WAYS) {
        const calls = [caller.call(GET, "raw"), caller.call(GET, "raw"), caller.call(PUT, "raw")];
        await rig.waits(2);
        await rig.backend.has(count += 2);
        for (const request of rig.backend.requests.slice(-2)) {
          answer(request, [["grpc-message", value]]);
        }
        await ended(...calls);
        for (const call of calls) assertEquals([call.status, call.grpcMessage], [9, value]);
      }
    }
    using client = new JsCaller(rig.local.port);
    const asked = client.call(GET, "js");
    await rig.backend.has(++count);
    rig.backend.requests.at(-1)!.fails(9, [["grpc-message", MALFORMED[0]!]]);
    assertEquals((await asked).status.code, 9); // what it makes of the text is its own affair
    const next = client.call(GET, "next");
    await rig.backend.has(++count);
    rig.backend.requests.at(-1)!.echoes();
    assertEquals((await next).messages, ["re:next"]);
    assertEquals(rig.backend.ends.length, 1);
  });
});

Deno.test("Scenario 5(c): text of the system's with a newline and a letter beyond ASCII is encoded in ours", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const calls = [GET, GET, PUT].map((path) => caller.call(path, "1"));
    await rig.settle();
    rig.backend.socket.ends(new Error("h\u00f4te\nperdu \u7f3a: 100%\x7f"));
    await rig.settle();
    for (const call of calls) {
      const text = "the connection to the backend was lost: h%C3%B4te%0Aperdu %E7%BC%BA: 100%25%7F";
      call.expectsFailure(14, text);
      assertMatch(call.grpcMessage!, WIRE_FORM);
    }
  });
});

Deno.test("Scenario 5(d): text of a caller's own that comes back in a message of ours is encoded", async () => {
  await withSockets(async (rig) => {
    const caller = await rig.caller();
    for (const value of ["1%\xe9", "\xc3\xa9S", "%zz", "100%", "", " ", "\x80\xff"]) {
      const call = caller.begins((id) => {
        const fields: Pairs = [...requestHead(GET), ["grpc-timeout", value]];
        return [splitBlock(id, block(fields), { endStream: true })];
      });
      await ended(call);
      if (call.reply.reset !== undefined) continue; // HTTP/2 itself does not allow it
      assertEquals(call.status, 13, value);
      assertMatch(call.grpcMessage!, WIRE_FORM);
    }
    const long = caller.call(GET, "1", { metadata: [["grpc-timeout", "\xe9".repeat(20_000)]] });
    await ended(long);
    assertEquals(long.status, 13);
    assert(long.grpcMessage!.length < 4_096, `${long.grpcMessage!.length} characters`);
    await catchesUp(caller);
    rig.expectsRequests(0);
  });
});
