/**
 * Scenario 24: the fields that a request is forwarded with. The key in memory, metadata order and traces included:
 * tests/proxy/call_test.ts. A stock client's metadata and authority, seen by a stock server: tests/interop/.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { encodeGreetingRequest } from "../../lib/hello/mod.ts";
import { GrpcJs } from "../interop/grpc_js.ts";
import type { BackendRequest } from "../support/backend_end.ts";
import { requestHead } from "../support/caller_end.ts";
import { block, data, headers, type Pairs, splitBlock } from "../support/frames.ts";
import { framed, valueOf } from "../support/peer_end.ts";
import { ended } from "../support/peer_waiting.ts";
import { GET, PUT } from "../support/proxy_rig.ts";
import { withSockets } from "../support/socket_rig.ts";

/** What speaks of a connection and not of a request (RFC 9113 §8.2.2). */
const CONNECTION_FIELDS = [
  "connection",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
];

const AGENT: Pairs = [["user-agent", "own-agent/1.2 (x; y) grpc-c++/1.60"]];

Deno.test("Scenario 24: te, user-agent and :authority reach the backend as the caller sent them", async () => {
  await withSockets(async (rig) => {
    rig.backend.onRequest = (request) => request.echoes();
    const caller = await rig.caller();
    for (const path of [GET, PUT]) {
      const call = caller.call(path, "1", { head: headAt("svc.test", path), metadata: AGENT });
      await ended(call);
      call.expects(0, "re:1");
      const request = rig.backend.requests.at(-1)!;
      assertEquals(valuesOf(request, "te"), ["trailers"]);
      assertEquals(valuesOf(request, "user-agent"), [AGENT[0]![1]]);
      assertEquals(valuesOf(request, ":authority"), ["svc.test"]);
      assertEquals(valuesOf(request, ":path"), [path]);
      for (const name of [...CONNECTION_FIELDS, "content-length", "host", "via"]) {
        assertEquals(valuesOf(request, name), [], name);
      }
    }
  });
});

Deno.test("Scenario 24: a stock client's te, agent and authority reach the backend, each once", async () => {
  await withSockets(async (rig) => {
    rig.backend.onRequest = (request) => request.echoes("");
    await using client = new GrpcJs(rig.local.port);
    for (const path of [GET, PUT]) {
      const messages = [encodeGreetingRequest({ name: "Ada" })];
      const seen = await client.see({ name: path, kind: "unary", path, messages });
      assertEquals([seen.code, seen.message], [0, ""]);
      const request = rig.backend.requests.at(-1)!;
      assertEquals(valuesOf(request, "te"), ["trailers"]);
      assertEquals(valuesOf(request, ":authority"), ["hello.test"]);
      const [agent, ...more] = valuesOf(request, "user-agent");
      assertEquals([agent?.startsWith("grpc-node-js/"), more], [true, []]);
    }
  });
});

Deno.test("Scenario 24: a content-length that fits its DATA reaches the backend with just as much DATA", async () => {
  await withSockets(async (rig) => {
    rig.backend.onRequest = (request) => request.echoes();
    const caller = await rig.caller();
    const whole = framed("abc");
    const bodies: ((id: number) => Uint8Array[])[] = [
      (id) => [data(id, whole, { endStream: true })],
      (id) => [data(id, whole.subarray(0, 2)), data(id, whole.subarray(2), { endStream: true })],
      (id) => [data(id, whole, { padding: 100 }), data(id, "", { endStream: true, padding: 7 })],
      (id) => [data(id, whole), headers(id, [["x-late", "1"]], { endStream: true })],
    ];
    for (const path of [GET, PUT]) {
      for (const [i, body] of bodies.entries()) {
        const fields: Pairs = [...requestHead(path), ["content-length", "8"], ["x-body", `${i}`]];
        const call = caller.begins((id) => [splitBlock(id, block(fields)), ...body(id)]);
        await ended(call);
        call.expects(0, "re:abc");
        const request = rig.backend.requests.at(-1)!;
        assertEquals(valuesOf(request, "content-length"), ["8"]);
        assertEquals(request.seen.text.length, 8);
      }
    }
    rig.expectsRequests(2 * bodies.length);
  });
});

Deno.test("Scenario 24: a content-length that does not fit ends its own stream and nobody else's", async () => {
  await withSockets(async (rig) => {
    const caller = await rig.caller();
    const healthy = [GET, PUT].map((path) => caller.call(path, "healthy"));
    await rig.request(1);
    for (const path of [GET, PUT]) {
      for (const length of ["0", "7", "9", "x", "-8", "8, 9"]) {
        const bad = caller.call(path, "bad", { metadata: [["content-length", length]] });
        await ended(bad);
        assertEquals(bad.reply.reset, "PROTOCOL_ERROR", `${path} ${length}`);
      }
    }
    for (const request of rig.backend.requests) if (!request.isOver) request.replies(["fine"]);
    await ended(...healthy);
    for (const call of healthy) call.expects(0, "fine");
    for (const request of rig.backend.requests) { // what was sent before the fault showed is taken back
      const isBad = valuesOf(request, "content-length").length > 0;
      assertEquals(request.seen.reset, isBad ? "CANCEL" : undefined);
      assertEquals(request.ended, !isBad);
    }
    assertEquals([caller, ...rig.backend.ends].flatMap((end) => end.seen("GOAWAY")), []);
  });
});

Deno.test("Scenario 24: clients that differ in user-agent alone, or in saying how long their message is, share one call", async () => {
  await withSockets(async (rig) => {
    const callers = [await rig.caller(), await rig.caller()];
    const agents = ["grpc-go/1.70.0", "grpc-java-netty/1.60.0"];
    const calls = callers.map((caller, i) =>
      caller.call(GET, "1", { metadata: [["user-agent", agents[i]!]] })
    );
    const none = callers[0]!.call(GET, "1", { metadata: [["content-length", "6"]] });
    await rig.waits(3);
    const request = await rig.request(0);
    request.replies(["one"]);
    await ended(...calls, none);
    for (const call of [...calls, none]) call.expects(0, "one");
    rig.expectsRequests(1);
    const [agent] = valuesOf(request, "user-agent"); // which of the two leads is the system's choice
    assertEquals(agent === undefined || agents.includes(agent), true, agent);
  });
});

Deno.test("Scenario 24: two clients that differ in :authority do not share, in flight or stored", async () => {
  await withSockets({ variables: { COLLAPSER_CACHE_DURATION: "1m" } }, async (rig) => {
    rig.backend.onRequest = (request) => request.replies([valueOf(request.fields, ":authority")!]);
    const callers = [await rig.caller(), await rig.caller()];
    for (let round = 0; round < 2; round++) {
      const calls = callers.map((caller, i) =>
        caller.call(GET, "1", { head: headAt(`${i}.test`, GET) })
      );
      await ended(...calls);
      for (const [i, call] of calls.entries()) call.expects(0, `${i}.test`);
    }
    rig.expectsRequests(2);
  });
});

Deno.test("Scenario 24: a reply's content-length goes no further than the sidecar; one that does not fit is 13 for its own call", async () => {
  await withSockets({ variables: { COLLAPSER_CACHE_DURATION: "1m" } }, async (rig) => {
    const [one, other] = [await rig.caller(), await rig.caller()];
    const sharing = [one.call(GET, "1"), other.call(GET, "1")];
    await rig.waits(2);
    (await rig.request(0)).replies(["one"], { headers: [["content-length", "8"]] });
    await ended(...sharing);
    const hit = other.call(GET, "1");
    await ended(hit);
    for (const call of [...sharing, hit]) {
      call.expects(0, "one");
      assertEquals(valueOf(call.reply.blocks[0], "content-length"), undefined);
    }
    const healthy = one.call(PUT, "1");
    await rig.request(1);
    for (const [i, length] of ["7", "9"].entries()) {
      const bad = [one.call(GET, `bad ${i}`), other.call(GET, `bad ${i}`)];
      await rig.waits(2);
      (await rig.request(2 + i)).replies(["one"], { headers: [["content-length", length]] });
      await ended(...bad);
      for (const call of bad) assertEquals([call.status, call.reply.reset], [13, undefined]);
    }
    rig.backend.requests[1]!.replies(["fine"]);
    await ended(healthy);
    healthy.expects(0, "fine");
    assertEquals(rig.backend.ends.length, 1);
  });
});

function headAt(authority: string, path: string): Pairs {
  return requestHead(path).map(([name, value]) =>
    name === ":authority" ? [name, authority] as const : [name, value] as const
  );
}

function valuesOf({ fields }: BackendRequest, name: string): string[] {
  return fields.filter(([known]) => known === name).map(([, value]) => value);
}
