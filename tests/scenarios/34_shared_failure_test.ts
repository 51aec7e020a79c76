/**
 * Scenario 34: what those who share a flight get when it fails. In memory, with faults of the sidecar's own wherever
 * one may strike: tests/proxy/fault_of_ours_test.ts; with ten callers and a lost connection: tests/proxy/shared_call_test.ts.
 *
 * @module
 */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { Connection } from "../../lib/connection/mod.ts";
import { MissedSharing } from "../../lib/downstream/missed_sharing.ts";
import { ERROR_CODE } from "../../lib/wire/mod.ts";
import { GrpcJs } from "../interop/grpc_js.ts";
import { allWays } from "../support/all_ways.ts";
import type { BackendRequest } from "../support/backend_end.ts";
import type { CallerCall } from "../support/caller_end.ts";
import { CertificateFolder } from "../support/certificate_folder.ts";
import { goAway, type Pairs, RESPONSE } from "../support/frames.ts";
import { ended } from "../support/peer_waiting.ts";
import { GET, PUT, withRig } from "../support/proxy_rig.ts";
import { LIST, type SocketRig, withSockets } from "../support/socket_rig.ts";
import { until } from "../support/waiting.ts";

const FAULT = "a fault of the sidecar's own";

/** All that a failure can say: a message that needs coding, details, metadata of its own. */
const RICH: Pairs = [
  ["grpc-message", "not %E2%82%AC enough: 5%25"],
  ["grpc-status-details-bin", "CAkSA25vdBoIAP+A"],
  ["x-reason", "quota"],
  ["x-reason", "again"],
];

Deno.test("Scenario 34(a): a fault of ours after the backend has answered is 13 for all five, and the next caller is answered", async () => {
  await withSockets(async (rig) => {
    const { map } = rig.proxy;
    const steps: [string, () => void][] = [
      ["keep", () => throwOnce(map, "keep")],
      ["add", () => throwOnce(map.stored, "add")],
    ];
    const callers = [await rig.caller(), await rig.caller()];
    const healthy = callers[0]!.call(PUT, "healthy");
    const other = await rig.request(0);
    for (const [i, [name, breaks]] of steps.entries()) {
      const calls = Array.from({ length: 5 }, (_, n) => callers[n % 2]!.call(GET, name));
      await rig.waits(5);
      const request = await rig.request(1 + 2 * i);
      breaks();
      request.replies(["lost"]);
      await ended(...calls);
      for (const call of calls) call.expectsFailure(13, FAULT);
      const next = callers[1]!.call(GET, name);
      (await rig.request(2 + 2 * i)).replies(["one"]);
      await ended(next);
      next.expects(0, "one");
    }
    assert(rig.local.log.some((line) => line.includes("keep failed"))); // others follow within its second
    other.replies(["fine"]);
    await ended(healthy);
    healthy.expects(0, "fine");
    assertEquals((await rig.local.ask("/health")).status, 200);
    assertEquals(rig.backend.ends.length, 1);
  });
});

Deno.test("Scenario 34(a): a fault of ours before the backend call is made is 13 for its own caller, and the key is free", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const { map } = rig.proxy;
    const steps: [string, () => void][] = [
      ["lead", () => throwOnce(map, "lead")],
      ["led", () => throwOnce(MissedSharing.prototype, "led")],
      ["set", () => throwOnce(rig.timers, "set")],
      ["openStream", () => throwOnce(Connection.prototype, "openStream")],
    ];
    for (const [i, [name, breaks]] of steps.entries()) {
      breaks();
      const unlucky = caller.call(GET, name);
      await rig.settle();
      unlucky.expectsFailure(13, FAULT);
      assertEquals(rig.gauges.flights, 0, name);
      const calls = [caller.call(GET, name), caller.call(GET, name)];
      await rig.settle();
      rig.expectsRequests(i + 1);
      rig.request(i).replies(["one"]);
      await rig.settle();
      for (const call of calls) call.expects(0, "one");
    }
  });
});

Deno.test("Scenario 34(a): a fault of ours while a stream is under way is 13 for all who share it, and its backend call is cancelled", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const calls = Array.from({ length: 5 }, () => caller.call(LIST, "1"));
    await rig.settle();
    rig.request(0).begins(["a"]);
    await rig.settle();
    throwOnce(rig.proxy.map, "makePrivate");
    rig.request(0).ends({ trailers: [["cache-control", "private"]] });
    await rig.settle();
    for (const call of calls) {
      call.expects(13, "a");
      call.expectsFailure(13, FAULT);
    }
    assertEquals([rig.gauges.flights, rig.gauges.inflight], [0, 0]);
    const next = caller.call(LIST, "1");
    await rig.settle();
    rig.request(1).replies(["b"]);
    await rig.settle();
    next.expects(0, "b");
  });
});

Deno.test("Scenario 34(b): ten callers get the backend's 9 with its message, details and metadata, from one call, and it is not kept", async () => {
  await withSockets(async (rig) => {
    const callers = [await rig.caller(), await rig.caller()];
    const calls = Array.from({ length: 10 }, (_, i) => callers[i % 2]!.call(GET, "1"));
    await rig.waits(10);
    (await rig.request(0)).fails(9, RICH);
    await ended(...calls);
    for (const { reply } of calls) {
      assertEquals(reply.blocks, [[...RESPONSE, ["grpc-status", "9"], ...RICH]]);
      assertEquals([reply.text, reply.endedBy, reply.reset], ["", "HEADERS", undefined]);
    }
    rig.expectsRequests(1);
    const next = callers[0]!.call(GET, "1");
    (await rig.request(1)).replies(["better"]);
    await ended(next);
    next.expects(0, "better");
  });
});

Deno.test("Scenario 34(b): a stream that fails after two messages ends for all with the same messages, status and trailers, early or late joiners", async () => {
  await withSockets(async (rig) => {
    const callers = [await rig.caller(), await rig.caller()];
    const calls = Array.from({ length: 9 }, (_, i) => callers[i % 2]!.call(LIST, "1"));
    await rig.waits(9);
    const request = await rig.request(0);
    request.begins(["a", "b"], { headers: [["x-head", "h"]] });
    await until(() => calls.every(({ messages }) => messages.length === 2), "two messages each");
    calls.push(callers[0]!.call(LIST, "1"));
    await rig.waits(10);
    request.ends({ status: 9, trailers: RICH });
    await ended(...calls);
    for (const call of calls) {
      call.expects(9, "a", "b");
      assertEquals(call.reply.blocks, [
        [...RESPONSE, ["x-head", "h"]],
        [["grpc-status", "9"], ...RICH],
      ]);
    }
    rig.expectsRequests(1);
  });
});

Deno.test("Scenario 34(b): a failure that is kept since errors are is the same for those who come later; one of ours never is", async () => {
  const variables = { COLLAPSER_CACHE_ERRORS: "true", COLLAPSER_CACHE_DURATION: "1m" };
  await withSockets({ variables }, async (rig) => {
    const callers = [await rig.caller(), await rig.caller()];
    const ours = callers.map((caller) => caller.call(GET, "reset"));
    await rig.waits(2);
    (await rig.request(0)).resets(ERROR_CODE.internalError);
    await ended(...ours);
    for (const call of ours) call.expects(13);
    const calls = callers.map((caller) => caller.call(GET, "1"));
    await rig.waits(2);
    (await rig.request(1)).fails(9, RICH);
    await ended(...calls);
    calls.push(...callers.map((caller) => caller.call(GET, "1")));
    const next = callers[0]!.call(GET, "reset");
    (await rig.request(2)).replies(["fine"]);
    await ended(...calls, next);
    for (const { reply } of calls) {
      assertEquals(reply.blocks, [[...RESPONSE, ["grpc-status", "9"], ...RICH]]);
    }
    next.expects(0, "fine");
    rig.expectsRequests(3);
  });
});

Deno.test("Scenario 34(b): stock clients read the same failure, whoever led", async () => {
  await withSockets(async (rig) => {
    await using one = new GrpcJs(rig.local.port);
    await using other = new GrpcJs(rig.local.port);
    const plan = { name: "read", kind: "unary", path: GET, messages: [Uint8Array.of(1)] } as const;
    const seeing = Array.from({ length: 10 }, (_, i) => (i % 2 ? one : other).see(plan));
    await rig.waits(10);
    (await rig.request(0)).fails(9, RICH);
    const seen = await Promise.all(seeing);
    for (const outcome of seen) assertEquals(outcome, seen[0]);
    const { code, message, trailers } = seen[0]!;
    assertEquals([code, message], [9, "not € enough: 5%"]);
    const values = Object.fromEntries(trailers);
    assertEquals(values["grpc-status-details-bin"], ["CAkSA25vdBoIAP+A"]);
    assertEquals(values["x-reason"], ["quota, again"]); // its HTTP/2 library puts them together
    rig.expectsRequests(1);
  });
});

Deno.test("Scenario 34(c): twenty callers get 14 from one or two calls when the backend drops its connection, over TCP, TLS and unix sockets", async () => {
  using folder = new CertificateFolder();
  for (const [name, options] of await allWays(folder)) {
    await withSockets(options, async (rig) => {
      const calls = await twenty(rig, "1");
      (await rig.request(0)).backend.socket.ends();
      await ended(...calls);
      for (const call of calls) call.expects(14);
      assertMatch(calls[0]!.grpcMessage!, /^collapser: the connection to the backend was lost: /);
      assert(
        rig.backend.requests.length <= 2,
        `${rig.backend.requests.length} requests over ${name}`,
      );
      const next = rig.callers[0]!.call(GET, "1"); // the sidecar finds its way back by itself
      const asked = rig.backend.requests.length;
      (await rig.request(asked)).replies(["one"]);
      await ended(next);
      next.expects(0, "one");
    });
  }
});

Deno.test("Scenario 34(c): waiters do not repeat what failed, one after another, however the backend fails again and again", async () => {
  const ways: [status: number, most: number, (request: BackendRequest) => void][] = [
    [14, 2, ({ backend }) => backend.socket.ends()],
    [14, 2, (request) => request.resets(ERROR_CODE.refusedStream)], // nothing was done: once more
    [14, 2, ({ backend }) => { // nothing was done either
      backend.sends(goAway(0, ERROR_CODE.noError));
      backend.socket.ends();
    }],
    [13, 1, (request) => request.resets(ERROR_CODE.internalError)],
    [8, 1, (request) => request.resets(ERROR_CODE.enhanceYourCalm)],
    [1, 1, (request) => request.resets(ERROR_CODE.cancel)],
  ];
  await withSockets(async (rig) => {
    for (const [i, [status, most, fail]] of ways.entries()) {
      const before = rig.backend.requests.length;
      rig.backend.onRequest = undefined;
      const calls = await twenty(rig, `${i}`);
      await rig.request(before);
      rig.backend.onRequest = fail;
      fail(rig.backend.requests[before]!);
      await ended(...calls);
      for (const call of calls) call.expects(status);
      const asked = rig.backend.requests.length - before;
      assert(asked >= 1 && asked <= most, `${asked} requests, way ${i}`);
    }
  });
});

Deno.test("Scenario 34(c): a connection dropped in the middle of a reply ends all twenty with 14 after what they had, and nobody asks again", async () => {
  await withSockets(async (rig) => {
    const calls = await twenty(rig, "1");
    const request = await rig.request(0);
    request.begins(["a"]);
    await until(() => calls.every(({ messages }) => messages.length === 1), "a message each");
    request.backend.socket.ends();
    await ended(...calls);
    for (const call of calls) {
      call.expects(14, "a");
      assertEquals(call.reply.blocks.length, 2);
    }
    rig.expectsRequests(1);
  });
});

Deno.test("Scenario 34(c): a lost connection costs twenty flights one call each, and the backend one new connection", async () => {
  await withSockets(async (rig) => {
    const caller = await rig.caller();
    const calls = Array.from({ length: 20 }, (_, i) => caller.call(GET, `${i}`));
    await rig.request(19);
    rig.backend.ends[0]!.socket.ends();
    await ended(...calls);
    for (const call of calls) call.expects(14);
    const next = caller.call(GET, "0");
    (await rig.request(20)).replies(["one"]);
    await ended(next);
    next.expects(0, "one");
    assertEquals([rig.backend.requests.length, rig.backend.ends.length], [21, 2]);
  });
});

/** Calls that share a flight, of two callers. */
async function twenty(rig: SocketRig, question: string): Promise<CallerCall[]> {
  await until(() => rig.proxy.readiness.ready, "a backend that is back");
  const callers = [await rig.caller(), await rig.caller()];
  const calls = Array.from({ length: 20 }, (_, i) => callers[i % 2]!.call(GET, question));
  await rig.waits(20);
  return calls;
}

/** Makes the next call of a method throw. */
function throwOnce<K extends string>(
  of: { [P in K]: (...args: never[]) => unknown },
  name: K,
): void {
  const real = of[name];
  const isOwn = Object.hasOwn(of, name);
  of[name] = function () {
    if (isOwn) of[name] = real;
    else delete (of as Record<string, unknown>)[name];
    throw new Error(`${name} failed`);
  } as typeof real;
}
