/**
 * Scenario 26: what is taken for gRPC, and what is not. In memory, with the same list and each refused both before and
 * after its request is whole: tests/proxy/caller_session_test.ts; the rule by itself: tests/grpc/content_type_test.ts.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { type CallerCall, requestHead } from "../support/caller_end.ts";
import { data, headers, type Pairs } from "../support/frames.ts";
import { framed, valueOf } from "../support/peer_end.ts";
import { ended } from "../support/peer_waiting.ts";
import { GET, PUT } from "../support/proxy_rig.ts";
import { withSockets } from "../support/socket_rig.ts";

const TYPES = [
  "application/grpc",
  "application/grpc+proto",
  "application/grpc+json",
  "application/grpc+custom",
  "application/grpc;charset=utf-8",
  "application/grpc+proto; charset=utf-8",
  "Application/GRPC",
];

const OTHERS = [
  "text/plain",
  undefined,
  "",
  "application/grpc-web",
  "application/grpc-web+proto",
  "application/grpc-web-text",
  "application/grpc-web-text+proto",
  "application/grpcx",
  "application/json",
];

const STORED = { variables: { COLLAPSER_CACHE_DURATION: "1m" } };

Deno.test("Scenario 26: every content-type of gRPC's goes both ways unchanged, and no two of them share a flight", async () => {
  await withSockets(STORED, async (rig) => {
    const [one, other] = [await rig.caller(), await rig.caller()];
    const calls = [one, other].flatMap((caller) =>
      TYPES.map((type) => caller.call(GET, "1", { head: headWith(type) }))
    );
    await rig.waits(calls.length);
    await rig.request(TYPES.length - 1);
    rig.expectsRequests(TYPES.length);
    for (const { id, fields, backend } of rig.backend.requests) {
      const type = valueOf(fields, "content-type")!;
      backend.sends(
        headers(id, [[":status", "200"], ["content-type", type]]),
        data(id, framed(type)),
        headers(id, [["grpc-status", "0"]], { endStream: true }),
      );
    }
    await ended(...calls);
    const hits = TYPES.map((type) => other.call(GET, "1", { head: headWith(type) }));
    await ended(...hits);
    for (const [i, call] of [...calls, ...hits].entries()) {
      const type = TYPES[i % TYPES.length]!;
      call.expects(0, type);
      assertEquals(call.reply.blocks[0], [[":status", "200"], ["content-type", type]]);
    }
    rig.expectsRequests(TYPES.length);
  });
});

Deno.test("Scenario 26: a call that passes keeps its content-type too, and the reply its own other one", async () => {
  await withSockets(async (rig) => {
    rig.backend.onRequest = (request) => request.echoes(); // as application/grpc
    const caller = await rig.caller();
    for (const type of TYPES) {
      const calls = [GET, PUT].map((path) =>
        caller.call(path, "1", { head: headWith(type, path) })
      );
      await ended(...calls);
      for (const call of calls) {
        call.expects(0, "re:1");
        assertEquals(valueOf(call.reply.blocks[0], "content-type"), "application/grpc");
      }
      for (const { fields } of rig.backend.requests.slice(-2)) {
        assertEquals(valueOf(fields, "content-type"), type);
      }
    }
  });
});

Deno.test("Scenario 26: gRPC-Web, other types and none are answered HTTP 415, and the backend sees nothing of them", async () => {
  await withSockets(async (rig) => {
    rig.backend.onRequest = (request) => request.echoes();
    const caller = await rig.caller();
    for (const type of OTHERS) {
      const calls = [
        caller.call(GET, "1", { head: headWith(type) }),
        caller.call(PUT, "1", { head: headWith(type, PUT) }),
        caller.call(GET, undefined, { head: headWith(type) }),
        caller.call(PUT, undefined, { head: headWith(type, PUT), ends: false }),
      ];
      const good = caller.call(GET, `beside ${type}`);
      calls[3]!.sends("and goes on", { ends: true });
      await ended(...calls, good);
      for (const call of calls) turnedAway(call);
      good.expects(0, `re:beside ${type}`);
    }
    rig.expectsRequests(OTHERS.length);
    assertEquals(caller.seen("GOAWAY"), []);
    assertEquals(rig.local.outcomes, {
      hit: 0,
      joined: 0,
      led: OTHERS.length,
      passed: 0,
      stale: 0,
      rejected: 0,
    });
  });
});

Deno.test("Scenario 26: a content-type said twice reaches the backend as it came, and shares with nobody who said one of them", async () => {
  await withSockets(STORED, async (rig) => {
    rig.backend.onRequest = (request) => request.echoes();
    const caller = await rig.caller();
    const twice = caller.call(GET, "1", { metadata: [["content-type", "application/grpc+json"]] });
    const calls = [
      twice,
      ...TYPES.slice(0, 3).map((t) => caller.call(GET, "1", { head: headWith(t) })),
    ];
    await ended(...calls);
    for (const call of calls) call.expects(0, "re:1");
    rig.expectsRequests(4);
  });
});

Deno.test("Scenario 26: what the operator takes for the key does not bring differently typed, coded or accepting callers together", async () => {
  const variables = { ...STORED.variables, COLLAPSER_KEY_HEADERS: "authorization" };
  await withSockets({ variables }, async (rig) => {
    rig.backend.onRequest = (request) => request.echoes();
    const caller = await rig.caller();
    const metadata: Pairs[] = [
      [],
      [["grpc-encoding", "gzip"]],
      [["grpc-accept-encoding", "gzip"]],
      [["authorization", "T1"]],
    ];
    const calls = [
      ...TYPES.slice(1).map((type) => caller.call(GET, "1", { head: headWith(type) })),
      ...metadata.map((fields) => caller.call(GET, "1", { metadata: fields })),
    ];
    const same = caller.call(GET, "1", { metadata: [["x-other", "1"]] });
    await ended(...calls, same);
    for (const call of [...calls, same]) call.expects(0, "re:1");
    rig.expectsRequests(calls.length);
  });
});

Deno.test("Scenario 26: a backend that answers in another type than gRPC's is 2 for all who share its answer", async () => {
  await withSockets(STORED, async (rig) => {
    const [one, other] = [await rig.caller(), await rig.caller()];
    const replies: Pairs[] = ["text/html", "application/grpc-web+proto", undefined].map((type) => [
      [":status", "200"],
      ...type === undefined ? [] : [["content-type", type] as const],
    ]);
    for (const [i, head] of replies.entries()) {
      const calls = [one.call(GET, `${i}`), other.call(GET, `${i}`)];
      await rig.waits(2);
      const { id, backend } = await rig.request(i);
      backend.sends(headers(id, head), data(id, framed("x"), { endStream: true }));
      await ended(...calls);
      for (const call of calls) {
        call.expectsFailure(2, "the backend answered HTTP 200, not gRPC");
        assertEquals(call.reply.text, "");
      }
    }
    const again = one.call(GET, "0"); // and none of it is kept
    (await rig.request(replies.length)).replies(["good"]);
    await ended(again);
    again.expects(0, "good");
  });
});

function headWith(type: string | undefined, path: string = GET): Pairs {
  const rest = requestHead(path).filter(([name]) => name !== "content-type");
  return type === undefined ? rest : [...rest, ["content-type", type]];
}

function turnedAway({ reply }: CallerCall): void {
  assertEquals(reply.blocks, [[[":status", "415"]]]);
  assertEquals([reply.text, reply.endedBy], ["", "HEADERS"]);
}
