/**
 * Scenario 27: the compressed flag and the names of encodings, which are nobody's business but the two ends'. Replies
 * that a server compresses, read by stock clients: tests/interop/grpc_js_test.ts, tests/interop/raw_replies_test.ts.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { gunzipSync } from "node:zlib";
import { encodeGreetingRequest } from "../../lib/hello/mod.ts";
import { GrpcJs } from "../interop/grpc_js.ts";
import { type CallerCall, type CallerEnd, requestHead } from "../support/caller_end.ts";
import { ascii, block, data, type Pairs, splitBlock } from "../support/frames.ts";
import { valueOf } from "../support/peer_end.ts";
import { ended } from "../support/peer_waiting.ts";
import { GET, PUT } from "../support/proxy_rig.ts";
import { withSockets } from "../support/socket_rig.ts";

const IDENTITY: Pairs = [["grpc-encoding", "identity"]];

/** What B says of itself when it cannot read what came (PROTOCOL-HTTP2, "Requests", Message-Encoding). */
const ACCEPTS: Pairs = [["grpc-accept-encoding", "identity,deflate,gzip"]];

const STORED = { variables: { COLLAPSER_CACHE_DURATION: "1m" } };

/** Two bytes that say they are compressed. */
const COMPRESSED = "\x01\0\0\0\x02\x1f\x8b";

Deno.test("Scenario 27(a): a request and a reply labelled identity go through as they are, shared or not", async () => {
  await withSockets(STORED, async (rig) => {
    rig.backend.onRequest = (request) => request.replies(request.messages, { headers: IDENTITY });
    const callers = [await rig.caller(), await rig.caller()];
    for (const path of [GET, PUT]) {
      const calls = callers.map((caller) => caller.call(path, "1", { metadata: IDENTITY }));
      await ended(...calls);
      for (const call of calls) {
        call.expects(0, "1");
        assertEquals(valueOf(call.reply.blocks[0], "grpc-encoding"), "identity");
        assertEquals(call.reply.text, "\0\0\0\0\x011");
      }
    }
    rig.expectsRequests(1 + 2);
    for (const { fields, seen } of rig.backend.requests) {
      assertEquals(valueOf(fields, "grpc-encoding"), "identity");
      assertEquals(seen.text, "\0\0\0\0\x011");
    }
    await using client = new GrpcJs(rig.local.port);
    const messages = [encodeGreetingRequest({ name: "Ada" })];
    const seen = await client.see({ name: "stock", kind: "unary", path: GET, messages });
    assertEquals([seen.code, seen.messages.length], [0, 1]);
  });
});

Deno.test("Scenario 27(b): a flagged request with no encoding named reaches the backend as it is, and its 13 comes back", async () => {
  await withSockets(async (rig) => {
    rig.backend.onRequest = (request) => {
      if (request.seen.text.charCodeAt(0) === 0) return;
      request.fails(13, [["grpc-message", "flag without encoding"]]);
    };
    const caller = await rig.caller();
    const healthy = caller.call(PUT, "healthy");
    await rig.request(0);
    for (const path of [GET, PUT]) {
      for (const flag of ["\x01", "\x02", "\xff"]) {
        const text = flag + COMPRESSED.slice(1);
        const call = callWith(caller, { path, text });
        await ended(call);
        call.expects(13);
        assertEquals(call.grpcMessage, "flag without encoding");
        const { seen, fields } = rig.backend.requests.at(-1)!;
        assertEquals(seen.text, text);
        assertEquals(valueOf(fields, "grpc-encoding"), undefined);
      }
    }
    rig.backend.requests[0]!.replies(["fine"]);
    await ended(healthy);
    healthy.expects(0, "fine");
    assertEquals([rig.backend.ends.length, rig.backend.requests.length], [1, 7]);
    assertEquals([caller, ...rig.backend.ends].flatMap((end) => end.seen("GOAWAY")), []);
  });
});

Deno.test("Scenario 27(b): a flagged reply with no encoding named reaches leader, follower and hit byte for byte", async () => {
  await withSockets(STORED, async (rig) => {
    const [one, other] = [await rig.caller(), await rig.caller()];
    const calls = [one.call(GET, "1"), other.call(GET, "1")];
    await rig.waits(2);
    const request = await rig.request(0);
    request.begins();
    request.backend.sends(data(request.id, ascii(COMPRESSED)));
    request.ends();
    await ended(...calls);
    calls.push(other.call(GET, "1"));
    await ended(...calls);
    for (const { status, reply } of calls) assertEquals([status, reply.text], [0, COMPRESSED]);
    rig.expectsRequests(1);
  });
});

Deno.test("Scenario 27(c): the 12 of a backend without the encoding, and the list of those it has, reach all who asked", async () => {
  await withSockets(async (rig) => {
    const [one, other] = [await rig.caller(), await rig.caller()];
    const metadata: Pairs = [["grpc-encoding", "snappy"]];
    const shared = [one, other].map((caller) =>
      callWith(caller, { path: GET, text: COMPRESSED, metadata })
    );
    await rig.waits(2);
    (await rig.request(0)).fails(12, ACCEPTS);
    const passed = callWith(other, { path: PUT, text: COMPRESSED, metadata });
    (await rig.request(1)).fails(12, ACCEPTS);
    await ended(...shared, passed);
    for (const call of [...shared, passed]) {
      call.expects(12);
      assertEquals(valueOf(call.trailers, "grpc-accept-encoding"), ACCEPTS[0]![1]);
    }
    for (const { fields, seen } of rig.backend.requests) {
      assertEquals(valueOf(fields, "grpc-encoding"), "snappy");
      assertEquals(seen.text, COMPRESSED);
    }
  });
});

Deno.test("Scenario 27(d): the same question of a stock client, gzipped and plain at once, is two calls, and both are answered", async () => {
  await withSockets(STORED, async (rig) => {
    await using client = new GrpcJs(rig.local.port);
    const message = encodeGreetingRequest({ name: "press ".repeat(100) });
    const seeing = [true, false, true].map((gzip) =>
      client.see({ name: `gzip ${gzip}`, kind: "unary", path: GET, messages: [message], gzip })
    );
    await rig.waits(3);
    await rig.request(1);
    const questions = rig.backend.requests.map(({ seen, fields }) => {
      const sent = Buffer.from(seen.text, "latin1");
      const isGzip = sent[0] === 1;
      assertEquals(valueOf(fields, "grpc-encoding") ?? "identity", isGzip ? "gzip" : "identity");
      const body = sent.subarray(5);
      return [isGzip, new Uint8Array(isGzip ? gunzipSync(body) : body)] as const;
    });
    assertEquals(new Map(questions), new Map([[true, message], [false, message]]));
    for (const request of rig.backend.requests) {
      request.replies([request.seen.text.charCodeAt(0) === 1 ? "pressed" : "plain"]);
    }
    const replies = (await Promise.all(seeing)).map(({ code, messages }) => [code, ...messages]);
    const [pressed, plain] = [[0, btoa("pressed")], [0, btoa("plain")]];
    assertEquals(replies, [pressed, plain, pressed]);
    rig.expectsRequests(2);
  });
});

Deno.test("Scenario 27(d): who cannot read gzip shares no answer with who can; the order of the list does not matter", async () => {
  await withSockets(STORED, async (rig) => {
    rig.backend.onRequest = (request) =>
      request.replies([valueOf(request.fields, "grpc-accept-encoding")?.length ? "listed" : "-"]);
    const caller = await rig.caller();
    const lists = [["identity,gzip"], ["gzip, identity"], ["gzip", "identity"], ["identity"], []];
    for (let round = 0; round < 2; round++) {
      const calls = lists.map((values) =>
        caller.call(GET, "1", {
          metadata: values.map((value) => ["grpc-accept-encoding", value] as const),
        })
      );
      await ended(...calls);
      for (const call of calls.slice(0, 4)) call.expects(0, "listed");
      calls[4]!.expects(0, "-");
    }
    rig.expectsRequests(3);
  });
});

/** A call whose DATA is just this. */
function callWith(
  caller: CallerEnd,
  { path, text, metadata = [] }: { path: string; text: string; metadata?: Pairs },
): CallerCall {
  return caller.begins((id) => [
    splitBlock(id, block([...requestHead(path), ...metadata])),
    data(id, ascii(text), { endStream: true }),
  ]);
}
