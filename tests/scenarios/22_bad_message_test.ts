/**
 * One bad message must not cost a connection. Lists of what is illegal stand in `tests/proxy/caller_session_test.ts` and
 * `tests/proxy/backend_session_test.ts` ("… malformed …"), the rules in `tests/conformance/rfc9113_8_messages_test.ts`;
 * here are both hops on real sockets beside streams that live, each illegal thing in its other places, and what must
 * not reach the other hop. The row lets a caller's fault be 13 or a reset with PROTOCOL_ERROR: it is the reset.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { latin1 } from "../../lib/wire/mod.ts";
import { type CallerCall, requestHead } from "../support/caller_end.ts";
import { concat, data, headers, type Pairs, RESPONSE, TRAILERS } from "../support/frames.ts";
import { framed, type PeerEnd } from "../support/peer_end.ts";
import { GET, type ProxyRig, PUT, withRig } from "../support/proxy_rig.ts";
import { LIST, withSockets } from "../support/socket_rig.ts";
import { until } from "../support/waiting.ts";

/**
 * Illegal in any header block; each has "illegal" in it, to be found where it must not be. Blanks at the ends of a value
 * are not among them: RFC 9113 §8.2.1 forbids them, but gRPC leaves them in grpc-message, so they are let through.
 */
const ILLEGAL: Readonly<Record<string, Pairs[number]>> = {
  "an upper-case name": ["X-illegal", "1"],
  "a control byte in a value": ["x-illegal", "a\x01b"],
  "a line break in a value": ["x-illegal", "a\r\nb: c"],
  "a NUL in a value": ["x-illegal", "a\0b"],
  "a DEL in a value": ["x-illegal", "a\x7fb"],
  "a space in a name": ["x illegal", "1"],
  "a colon in a name": ["x:illegal", "1"],
  "an empty name": ["", "illegal"],
  "connection": ["connection", "x-illegal"],
  "keep-alive": ["keep-alive", "illegal"],
  "proxy-connection": ["proxy-connection", "illegal"],
  "transfer-encoding": ["transfer-encoding", "illegal"],
  "upgrade": ["upgrade", "illegal"],
  "an unknown pseudo-header": [":illegal", "1"],
};

/** Where a reply has header blocks. */
const PLACES: Readonly<Record<string, (id: number, bad: Pairs) => Uint8Array[]>> = {
  "the head": (id, bad) => [headers(id, [...RESPONSE, ...bad])],
  "the only block": (id, bad) => [
    headers(id, [...RESPONSE, ...TRAILERS, ...bad], { endStream: true }),
  ],
  "the trailers": (id, bad) => [
    headers(id, RESPONSE),
    data(id, framed("x")),
    headers(id, [...TRAILERS, ...bad], { endStream: true }),
  ],
};

Deno.test("Scenario 22: on real sockets a bad reply costs its callers 13, a bad request its own reset, and streams beside them nothing", async () => {
  await withSockets(async (rig) => {
    const { backend } = rig;
    const caller = await rig.caller();
    const long = caller.call(LIST, "long");
    const longRequest = await rig.request(0);
    longRequest.begins(["a"]);
    const names = ["an upper-case name", "a control byte in a value", "connection"];
    for (const [i, name] of names.entries()) {
      const calls = [caller.call(GET, name), caller.call(GET, name)];
      const request = await rig.request(1 + i);
      await rig.waits(3);
      request.backend.sends(headers(request.id, [...RESPONSE, ILLEGAL[name]!]));
      for (const call of calls) {
        await until(() => call.status !== undefined, "the end of a bad reply");
        assertEquals(call.status, 13);
      }
    }
    const bad: CallerCall[] = [];
    for (const fields of [[["te", "gzip"]], [["x-illegal", "a\x01b"]]] satisfies Pairs[]) {
      const head = requestHead(PUT).filter(([name]) => name !== fields[0]![0]);
      bad.push(caller.call(PUT, "bad", { head: [...head, ...fields] }));
    }
    await until(() => bad.every(({ reply }) => reply.reset !== undefined), "the resets");
    for (const { reply } of bad) assertEquals(reply.reset, "PROTOCOL_ERROR");
    const fine = caller.call(PUT, "fine");
    (await rig.request(1 + names.length)).echoes();
    longRequest.sends("b");
    longRequest.ends();
    await until(() => long.status !== undefined && fine.status !== undefined, "the others");
    long.expects(0, "a", "b");
    fine.expects(0, "re:fine");
    assertEquals([caller.seen("GOAWAY"), backend.ends.length], [[], 1]);
    assertEquals(backend.ends[0]!.seen("GOAWAY"), []);
    expectsNothingIllegal(caller, backend.ends[0]!);
  });
});

for (const [place, frames] of Object.entries(PLACES)) {
  Deno.test(`Scenario 22: whatever is illegal in ${place} of a reply is 13 for leader, follower and who passes, and is not kept`, async () => {
    await beside(async (rig, caller) => {
      for (const [name, bad] of Object.entries(ILLEGAL)) {
        const calls = [caller.call(GET, name), caller.call(GET, name), caller.call(PUT, name)];
        await rig.settle();
        const [shared, passed] = rig.requests.slice(-2);
        for (const request of [shared!, passed!]) {
          request.backend.sends(...frames(request.id, [bad]));
        }
        await rig.settle();
        for (const call of calls) assertEquals(call.status, 13, `${name} in ${place}`);
        const again = caller.call(GET, name);
        await rig.settle();
        rig.request(-1).replies(["new"]);
        await rig.settle();
        again.expects(0, "new");
      }
    });
  });
}

Deno.test("Scenario 22: whatever is illegal in a request's head or trailers resets that stream alone and reaches nobody", async () => {
  await beside(async (rig, caller) => {
    const requests = rig.requests.length;
    for (const path of [GET, PUT]) {
      for (const [name, bad] of Object.entries(ILLEGAL)) {
        const head = caller.call(path, "1", { head: [...requestHead(path), bad] });
        await rig.settle();
        assertEquals(head.reply.reset, "PROTOCOL_ERROR", name);
        rig.uncounted++;
      }
    }
    rig.expectsRequests(requests);
    for (const [name, bad] of Object.entries(ILLEGAL)) {
      const call = caller.call(PUT, "1", { ends: false });
      await rig.settle();
      caller.sends(headers(call.id, [bad], { endStream: true }));
      await rig.settle();
      assertEquals(call.reply.reset, "PROTOCOL_ERROR", `${name} in trailers`);
      assertEquals(rig.request(-1).seen.reset, "CANCEL");
    }
  });
});

Deno.test("Scenario 22: request heads that lack or double what they must have, or mean no request, are reset alone", async () => {
  const without = (name: string) => requestHead(GET).filter(([known]) => known !== name);
  const heads: Readonly<Record<string, Pairs>> = {
    "te: gzip": [...without("te"), ["te", "gzip"]],
    "te: trailers, gzip": [...without("te"), ["te", "trailers, gzip"]],
    "no :method": without(":method"),
    "no :scheme": without(":scheme"),
    "no :path": without(":path"),
    "an empty :path": requestHead(""),
    "two paths": [[":path", GET], ...requestHead(GET)],
    "a pseudo-header after others": [...without(":path"), [":path", GET]],
    ":status": [[":status", "200"], ...requestHead(GET)],
    "a wrong content-length": [...requestHead(GET), ["content-length", "5"]],
    "a content-length that is none": [...requestHead(GET), ["content-length", "six"]],
  };
  await beside(async (rig, caller) => {
    const requests = rig.requests.length;
    for (const [name, head] of Object.entries(heads)) {
      const call = caller.call(GET, "1", { head });
      await rig.settle();
      assertEquals(call.reply.reset, "PROTOCOL_ERROR", name);
      assertEquals(call.status, undefined, name);
    }
    rig.expectsRequests(requests);
    const begun = Object.values(rig.outcomes).reduce((sum, count) => sum + count, 0);
    rig.uncounted = caller.calls.length - begun; // all but those whose fault showed with their DATA
  });
});

Deno.test("Scenario 22: blanks at the ends of a value are relayed as they are, both ways", async () => {
  await beside(async (rig, caller) => {
    const blanks: Pairs = [["x-blank", " 1\t"], ["grpc-message", " why "]];
    const call = caller.call(PUT, "1", { metadata: blanks.slice(0, 1) });
    await rig.settle();
    assertEquals(rig.request(-1).fields.slice(-1), [...blanks.slice(0, 1)]);
    rig.request(-1).fails(3, blanks);
    await rig.settle();
    assertEquals(call.trailers?.slice(-2), [...blanks]);
  });
});

/** A long shared stream and an open upload live beside what `body` does, on the same connections, to a good end. */
async function beside(
  body: (rig: ProxyRig, caller: Awaited<ReturnType<ProxyRig["caller"]>>) => Promise<void>,
): Promise<void> {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const long = caller.call(LIST, "long");
    const upload = caller.call(PUT, "up", { ends: false });
    await rig.settle();
    const [longRequest, upRequest] = [rig.request(0), rig.request(1)];
    longRequest.begins(["a"]);
    await body(rig, caller);
    longRequest.sends("b");
    longRequest.ends();
    upload.sends("more", { ends: true });
    await rig.settle();
    upRequest.replies(["done"]);
    await rig.settle();
    long.expects(0, "a", "b");
    upload.expects(0, "done");
    assertEquals([rig.backends.length, caller.seen("GOAWAY")], [1, []]);
    assertEquals(rig.backend.seen("GOAWAY"), []);
    expectsNothingIllegal(caller, rig.backend);
  });
}

/** No field's name or value that the proxy wrote has the word in it but its own explanations. */
function expectsNothingIllegal(...ends: PeerEnd[]): void {
  for (const end of ends) {
    for (const { fields } of end.seen("HEADERS")) {
      for (const [name, value] of fields) {
        if (name === "grpc-message") continue; // says what was wrong, percent-encoded
        assert(!/illegal/i.test(`${name}${value}`), `${name}: ${value} was relayed`);
      }
    }
    const all = concat(...end.wire);
    assert(!latin1(all, 0, all.length).includes("a\x01b"));
  }
}
