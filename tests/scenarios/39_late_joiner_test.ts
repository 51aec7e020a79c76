/**
 * Scenario 39: who joins a stream that others read already is given all of it, from its first message, or a call of
 * its own; never a stream that starts in the middle.
 *
 * The row's own times, and what lies past the replay bound, stand in `tests/proxy/shared_call_test.ts`. Here: stock
 * clients and real sockets, and joining at every other point of a stream's life.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { SETTING } from "../../lib/wire/mod.ts";
import { STORED_LONG } from "../support/beside.ts";
import type { CallerCall, CallOptions } from "../support/caller_end.ts";
import { data } from "../support/frames.ts";
import { JsCaller } from "../support/js_caller.ts";
import { framed } from "../support/peer_end.ts";
import { ended } from "../support/peer_waiting.ts";
import { type ProxyRig, PUT, withRig } from "../support/proxy_rig.ts";
import { LIST, withSockets } from "../support/socket_rig.ts";
import { until } from "../support/waiting.ts";

const ALL = ["1", "2", "3", "4", "5"];

Deno.test("Scenario 39(a): a grpc-js client that comes in the middle sees all five, with one call of the backend's", async () => {
  await withSockets({ variables: STORED_LONG }, async (rig) => {
    using client = new JsCaller(rig.local.port);
    const messages: string[] = [];
    const leader = client.call(LIST, "1", { messages });
    const request = await rig.request(0);
    request.begins(ALL.slice(0, 2));
    await until(() => messages.length === 2, "two messages at the leader");
    const late = [client.call(LIST, "1"), client.call(LIST, "1")];
    await rig.waits(3);
    for (const said of ALL.slice(2)) request.sends(said);
    request.ends();
    const seen = await Promise.all([leader, ...late]);
    seen.push(await client.call(LIST, "1")); // from what is stored
    for (const { messages, status } of seen) assertEquals([messages, status.code], [ALL, 0]);
    rig.expectsRequests(1);
  });
});

Deno.test("Scenario 39(a): whoever comes before, between and within the frames of a stream reads it from the first", async () => {
  await withSockets({ variables: STORED_LONG }, async (rig) => {
    const { backend } = rig;
    const first = await rig.caller();
    const second = await rig.caller();
    const calls: CallerCall[] = [];
    const come = async () => {
      const waiting = calls.length;
      calls.push(first.call(LIST, "1"), second.call(LIST, "1"));
      await rig.waits(waiting + 2);
    };
    const { proxy } = rig;
    await come();
    await backend.has(1);
    const request = backend.requests[0]!;
    request.begins();
    await until(() => calls[0]!.reply.blocks.length === 1, "the head");
    await come();
    for (const said of ALL) {
      const bytes = framed(said);
      for (const piece of [bytes.subarray(0, 2), bytes.subarray(2)]) {
        request.backend.sends(data(request.id, piece));
        const sent = calls[0]!.reply.text.length + piece.length;
        await until(() => calls[0]!.reply.text.length === sent, "the piece at the leader");
        await come();
        await until(
          () => calls.every(({ reply }) => reply.text.length === sent),
          "all of it at all",
        );
      }
    }
    request.ends();
    await ended(...calls);
    const afterwards = second.call(LIST, "1");
    await ended(afterwards);
    for (const call of [...calls, afterwards]) call.expects(0, ...ALL);
    assertEquals([calls.length, backend.requests.length, proxy.map.flying], [24, 1, 0]);
  });
});

Deno.test("Scenario 39(a): a late joiner whose window is small reads on after the stream has ended", async () => {
  await withRig(async (rig) => {
    const [quick, slow] = [await rig.caller(), await rig.caller([[SETTING.initialWindowSize, 8]])];
    const leader = quick.call(LIST, "1");
    await rig.settle();
    rig.request(0).begins(["1", "2", "3"]);
    await rig.settle();
    const late = slow.call(LIST, "1");
    await rig.settle();
    rig.request(0).sends("4");
    rig.request(0).sends("5");
    rig.request(0).ends();
    await rig.settle();
    leader.expects(0, ...ALL);
    const stored = slow.call(LIST, "1"); // 8 bytes of it too
    await rig.advance(500); // nobody finds the result any more
    assertEquals([late.messages, stored.messages], [["1"], ["1"]]);
    for (let i = 0; i < 22; i++) {
      for (const call of [late, stored]) call.grants(1);
      await rig.settle();
    }
    for (const call of [late, stored]) call.expects(0, ...ALL);
    rig.expectsRequests(1);
  });
});

Deno.test("Scenario 39(a): whoever joins after the leader left, and after the first follower did, reads it all", async () => {
  await withRig(async (rig) => {
    const callers = [await rig.caller(), await rig.caller(), await rig.caller()];
    const [leader, follower] = [callers[0]!.call(LIST, "1"), callers[1]!.call(LIST, "1")];
    await rig.settle();
    rig.request(0).begins(["1", "2"]);
    await rig.settle();
    callers[0]!.leaves();
    await rig.settle();
    const late = callers[2]!.call(LIST, "1");
    rig.request(0).sends("3");
    await rig.settle();
    follower.cancels();
    await rig.settle();
    const last = callers[2]!.call(LIST, "1");
    rig.request(0).sends("4");
    rig.request(0).sends("5");
    rig.request(0).ends();
    await rig.settle();
    for (const call of [late, last]) call.expects(0, ...ALL);
    assertEquals([leader.messages, follower.messages], [["1", "2"], ["1", "2", "3"]]);
    rig.expectsRequests(1);
  });
});

Deno.test("Scenario 39(a): a late joiner's deadline ends its own reading alone", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const leader = caller.call(LIST, "1");
    await rig.settle();
    rig.request(0).begins(["1", "2"]);
    await rig.advance(250);
    const late = caller.call(LIST, "1", { metadata: [["grpc-timeout", "100m"]] });
    await rig.advance(50);
    rig.request(0).sends("3");
    await rig.advance(60);
    late.expects(4, "1", "2", "3");
    rig.request(0).sends("4");
    rig.request(0).sends("5");
    rig.request(0).ends();
    await rig.settle();
    leader.expects(0, ...ALL);
  });
});

Deno.test("Scenario 39(a): a stream that breaks is broken for late joiners too, after the same messages, and not kept", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const leader = caller.call(LIST, "1");
    await rig.settle();
    rig.request(0).begins(["1", "2", "3"]);
    await rig.settle();
    const late = caller.call(LIST, "1");
    await rig.settle();
    rig.request(0).ends({ status: 10, trailers: [["grpc-message", "aborted"]] });
    await rig.settle();
    for (const call of [leader, late]) call.expects(10, "1", "2", "3");
    await rig.advance(20);
    await ownCall(rig, caller.call(LIST, "1"));
  });
});

/** What makes a caller lead anew instead of joining a stream under way, which has said 1 to 3. */
const APART: Readonly<Record<string, (rig: ProxyRig) => Promise<CallOptions | void>>> = {
  "a write was answered since": async (rig) => {
    const write = rig.callers[0]!.call(PUT, "w");
    await rig.settle();
    rig.request(-1).replies(["done"]);
    await rig.settle();
    write.expects(0, "done");
  },
  "it wants no stored answer": () => Promise.resolve({ metadata: [["cache-control", "no-cache"]] }),
  "it wants an answer of its own": () =>
    Promise.resolve({ metadata: [["cache-control", "no-store"]] }),
  "the stream is older than COLLAPSER_JOIN_MAX_AGE": (rig) => rig.advance(1_001),
  "the stream is past the replay limit": async (rig) => {
    rig.request(0).sends("x".repeat(2_000));
    await rig.settle();
  },
};

for (const [why, comesToPass] of Object.entries(APART)) {
  Deno.test(`Scenario 39(b): a caller has a whole stream of its own when ${why}`, async () => {
    await withRig({ joinMaxAgeMs: 1_000, maxMessageBytes: 1_000 }, async (rig) => {
      const caller = await rig.caller();
      const leader = caller.call(LIST, "1");
      await rig.settle();
      rig.request(0).begins(["1", "2", "3"]);
      await rig.settle();
      const options = await comesToPass(rig) ?? {};
      const before = rig.requests.length;
      const late = caller.call(LIST, "1", options);
      await rig.settle();
      assertEquals(rig.requests.length, before + 1);
      late.expectsNothing(); // above all not "4"
      rig.request(0).sends("4");
      await rig.settle();
      late.expectsNothing();
      rig.request(-1).replies(ALL);
      rig.request(0).ends();
      await rig.settle();
      late.expects(0, ...ALL);
      assertEquals(leader.status, 0);
      assertEquals([leader.messages.slice(0, 3), leader.messages.at(-1)], [["1", "2", "3"], "4"]);
    });
  });
}

Deno.test("Scenario 39(b): those who come past the replay limit share a second stream, from its first message", async () => {
  const variables = { ...STORED_LONG, COLLAPSER_MAX_MESSAGE_BYTES: "10000" };
  await withSockets({ variables }, async (rig) => {
    const { backend } = rig;
    const caller = await rig.caller();
    const large = (name: string) => ALL.map((number) => `${name}${number}`.padEnd(4_000, "."));
    const [one, two] = [large("one"), large("two")];
    const leader = caller.call(LIST, "1");
    await backend.has(1);
    backend.requests[0]!.begins(one.slice(0, 4));
    await until(() => leader.messages.length === 4, "more than may be replayed");
    const late = [caller.call(LIST, "1"), caller.call(LIST, "1")];
    await rig.waits(3);
    await backend.has(2);
    backend.requests[1]!.begins(two.slice(0, 2));
    await until(() => late.every(({ messages }) => messages.length === 2), "its beginning at both");
    late.push(caller.call(LIST, "1")); // still within the limit of the second one
    await until(() => late[2]!.messages.length === 2, "the beginning of the second stream");
    for (const message of two.slice(2)) backend.requests[1]!.sends(message);
    backend.requests[0]!.sends(one[4]!);
    for (const request of backend.requests) request.ends();
    await ended(leader, ...late);
    leader.expects(0, ...one);
    for (const call of late) call.expects(0, ...two);
    const afterwards = caller.call(LIST, "1"); // neither was kept
    await backend.has(3);
    backend.requests[2]!.replies(ALL);
    await ended(afterwards);
    afterwards.expects(0, ...ALL);
    assertEquals(backend.requests.length, 3);
  });
});

Deno.test("Scenario 39(b): a reply is kept up to the very limit, whatever metadata and frames add, and not past it", async () => {
  const limit = 10_000;
  const metadata = [["x-filler", "v".repeat(limit)]] as const;
  const replies: readonly { messages: string[]; kept: boolean }[] = [
    { messages: ["x".repeat(limit)], kept: true },
    { messages: ["x".repeat(limit + 1)], kept: false },
    { messages: ["a".repeat(limit / 2), "b".repeat(limit / 2 - 5)], kept: true }, // with its prefix
    { messages: ["a".repeat(limit / 2), "b".repeat(limit / 2 + 1)], kept: false },
  ];
  for (const { messages, kept } of replies) {
    await withRig({ maxMessageBytes: limit }, async (rig) => {
      const caller = await rig.caller();
      const leader = caller.call(LIST, "1");
      await rig.settle();
      rig.request(0).begins(messages, { headers: metadata });
      await rig.settle();
      const joiner = caller.call(LIST, "1");
      await rig.settle();
      rig.expectsRequests(kept ? 1 : 2);
      rig.request(0).ends({ trailers: metadata });
      await rig.settle();
      leader.expects(0, ...messages);
      if (!kept) return await ownCall(rig, joiner);
      const late = caller.call(LIST, "1");
      await rig.settle();
      for (const call of [joiner, late]) call.expects(0, ...messages);
    });
  }
});

Deno.test("Scenario 39(b): a reply in countless tiny frames is not held for those who come later, though it is small", async () => {
  await withRig({ maxMessageBytes: 100_000 }, async (rig) => {
    const caller = await rig.caller();
    const leader = caller.call(LIST, "1");
    await rig.settle();
    const said = "x".repeat(60_000);
    const bytes = framed(said);
    const { id, backend } = rig.request(0);
    rig.request(0).begins();
    for (let at = 0; at < bytes.length; at += 100) {
      const frames = Array.from(
        bytes.subarray(at, at + 100),
        (byte) => data(id, Uint8Array.of(byte)),
      );
      backend.sends(...frames);
      await rig.settle();
    }
    await ownCall(rig, caller.call(LIST, "1"));
    rig.request(0).ends();
    await rig.settle();
    leader.expects(0, said);
  });
});

/** It is at the backend by itself, and reads what that says from the beginning. */
async function ownCall(rig: ProxyRig, call: CallerCall): Promise<void> {
  await rig.settle();
  call.expectsNothing();
  rig.request(-1).replies(ALL);
  await rig.settle();
  call.expects(0, ...ALL);
}
