/**
 * Scenario 32: the caller that began a flight leaves, and the flight goes on. In memory, with what is sent for a leader
 * that has left while it waited, and with second calls where a backend kept the leader's deadline:
 * tests/proxy/shared_call_test.ts, tests/proxy/call_deadline_test.ts.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { decodeGreetingReply, encodeGreetingRequest, HELLO_PATHS } from "../../lib/hello/mod.ts";
import { ERROR_CODE, SETTING } from "../../lib/wire/mod.ts";
import { GrpcJs } from "../interop/grpc_js.ts";
import { allWays } from "../support/all_ways.ts";
import { besideHello } from "../support/beside.ts";
import { type CallerCall, type CallerEnd, requestHead } from "../support/caller_end.ts";
import { CertificateFolder } from "../support/certificate_folder.ts";
import {
  block,
  concat,
  goAway,
  headers,
  type Pairs,
  PREFACE,
  settings,
} from "../support/frames.ts";
import { toHex } from "../support/hex.ts";
import { message } from "../support/peer_end.ts";
import { ended } from "../support/peer_waiting.ts";
import { Process } from "../support/process.ts";
import { GET, withRig } from "../support/proxy_rig.ts";
import { LIST, type SocketRig, withSockets } from "../support/socket_rig.ts";
import { until } from "../support/waiting.ts";

/** Flag and length before a message. */
const PREFIX_BYTES = 5;

/** Long enough that three followers have joined by then, on a busy machine too. */
const LEADERS_MS = 500;

/** How a leader may go, beside its deadline. */
const WAYS: readonly ((leader: CallerCall, caller: CallerEnd) => void)[] = [
  (leader) => leader.cancels(),
  (leader) => leader.cancels(ERROR_CODE.noError),
  (leader) => leader.cancels(ERROR_CODE.internalError),
  (_, caller) => caller.leaves(),
  (_, caller) => {
    caller.sends(goAway(0, 0));
    caller.leaves();
  },
];

Deno.test("Scenario 32(a): followers get their answer from the one backend call, however their leader left, over TCP, TLS and unix sockets", async () => {
  using folder = new CertificateFolder();
  for (const [name, options] of await allWays(folder)) {
    await withSockets(options, async (rig) => {
      for (const [i, leave] of WAYS.entries()) {
        const [first, second] = [await rig.caller(), await rig.caller()];
        const leader = first.call(GET, `${i}`);
        const request = await rig.request(i);
        const followers = Array.from({ length: 3 }, () => second.call(GET, `${i}`));
        await rig.waits(4);
        leave(leader, first);
        await rig.waits(3);
        request.replies([`one ${i}`]);
        await ended(...followers);
        for (const call of followers) call.expects(0, `one ${i}`);
        leader.expectsNothing();
        assertEquals(request.seen.reset, undefined, name);
      }
      rig.expectsRequests(WAYS.length);
      assertEquals(rig.backend.ends.length, 1);
    });
  }
});

Deno.test("Scenario 32(a): a leader whose deadline comes first gets 4, its followers OK, from one call that nobody cancels", async () => {
  await withSockets(async (rig) => {
    const [first, second] = [await rig.caller(), await rig.caller()];
    const metadata: Pairs = [["grpc-timeout", `${LEADERS_MS}m`]];
    const leader = first.call(GET, "1", { metadata });
    const request = await rig.request(0);
    const followers = Array.from({ length: 3 }, () => second.call(GET, "1"));
    await ended(leader);
    await rig.waits(3);
    leader.expectsFailure(4, "the call's deadline has passed");
    request.replies(["one"]);
    await ended(...followers);
    for (const call of followers) call.expects(0, "one");
    rig.expectsRequests(1);
    assertEquals(request.seen.reset, undefined);
  });
});

Deno.test("Scenario 32(a): a leader whose process is killed takes nobody with it", async () => {
  await withSockets(async (rig) => {
    const bytes = concat(
      PREFACE,
      settings(),
      headers(1, block(requestHead(GET))),
      message(1, "1", { endStream: true }),
    );
    const script = `
      const conn = await Deno.connect({ hostname: "127.0.0.1", port: ${rig.local.port} });
      const hex = "${toHex(bytes)}";
      await conn.write(Uint8Array.from(hex.split(" "), (byte) => parseInt(byte, 16)));
      setInterval(() => {}, 1_000);`; // it reads nothing, so its end is a reset
    await using leader = new Process(["eval", script]);
    const request = await rig.request(0);
    const second = await rig.caller();
    const followers = Array.from({ length: 3 }, () => second.call(GET, "1"));
    await rig.waits(4);
    leader.signal("SIGKILL");
    await rig.waits(3);
    request.replies(["one"]);
    await ended(...followers);
    for (const call of followers) call.expects(0, "one");
    rig.expectsRequests(1);
    assertEquals(request.seen.reset, undefined);
  });
});

Deno.test("Scenario 32(a): a stock client that cancels as leader sees 1, and its followers their answer", async () => {
  await withSockets(async (rig) => {
    await using one = new GrpcJs(rig.local.port);
    await using other = new GrpcJs(rig.local.port);
    const plan = { name: "read", kind: "unary", path: GET, messages: [Uint8Array.of(1)] } as const;
    const cancelling = Promise.withResolvers<void>();
    const leader = one.see(plan, cancelling.promise);
    const request = await rig.request(0);
    const followers = [other.see(plan), other.see(plan), one.see(plan)];
    await rig.waits(4);
    cancelling.resolve();
    assertEquals((await leader).code, 1);
    await rig.waits(3);
    request.replies(["one"]);
    for (const { code, messages } of await Promise.all(followers)) {
      assertEquals([code, messages], [0, [btoa("one")]]);
    }
    rig.expectsRequests(1);
    assertEquals(request.seen.reset, undefined);
  });
});

Deno.test("Scenario 32(a): a stock backend that ends the call when the time is up that it was told of is asked once more, for all who have more", async () => {
  await using pair = await besideHello({ BACKEND_TIMEOUT: `${LEADERS_MS}ms` });
  await using client = new GrpcJs(pair.local.port);
  const messages = [encodeGreetingRequest({ name: "Ada", delayMs: LEADERS_MS + 100 })];
  const plan = { name: "read", kind: "unary", path: HELLO_PATHS.getGreeting, messages } as const;
  const leader = client.see({ ...plan, deadlineMs: LEADERS_MS });
  await until(() => pair.hello.total === 1, "the leader's call at the backend");
  const followers = [0, 1, 2].map(() => client.see({ ...plan, deadlineMs: 60_000 }));
  assertEquals((await leader).code, 4);
  const seen = await Promise.all(followers);
  assertEquals(seen.map(({ code }) => code), [0, 0, 0]);
  const froms = seen.map(({ messages: [reply] }) =>
    decodeGreetingReply(Uint8Array.from(atob(reply!), (c) => c.charCodeAt(0))).from
  );
  assertEquals([new Set(froms).size, pair.hello.total <= 2], [1, true]);
});

Deno.test("Scenario 32(a): leaders and followers that leave one by one leave the last one its answer, which is then stored", async () => {
  await withSockets({ variables: { COLLAPSER_CACHE_DURATION: "1m" } }, async (rig) => {
    const callers = [await rig.caller(), await rig.caller()];
    const calls = Array.from({ length: 6 }, (_, i) => callers[i % 2]!.call(GET, "1"));
    await rig.waits(6);
    const request = await rig.request(0);
    for (const [i, call] of calls.slice(0, 5).entries()) {
      call.cancels();
      await rig.waits(5 - i);
    }
    const late = callers[0]!.call(GET, "1");
    await rig.waits(2);
    request.replies(["one"]);
    await ended(calls[5]!, late);
    const hit = callers[0]!.call(GET, "1");
    await ended(hit);
    for (const call of [calls[5]!, late, hit]) call.expects(0, "one");
    for (const call of calls.slice(0, 5)) call.expectsNothing();
    rig.expectsRequests(1);
    assertEquals(request.seen.reset, undefined);
  });
});

Deno.test("Scenario 32(a): a leader that leaves while its backend has taken half of the question leaves the other half behind", async () => {
  await withRig({ backendSettings: [[SETTING.initialWindowSize, 1_000]] }, async (rig) => {
    const [first, second] = [await rig.caller(), await rig.caller()];
    const question = "0123456789".repeat(300);
    first.call(GET, question);
    await rig.settle();
    const follower = second.call(GET, question);
    await rig.settle();
    assertEquals(rig.request(0).seen.text.length, 1_000);
    first.leaves();
    await rig.settle();
    rig.request(0).grants(5_000);
    await rig.settle();
    assertEquals([rig.request(0).messages, rig.request(0).ended], [[question], true]);
    rig.request(0).replies(["one"]);
    await rig.settle();
    follower.expects(0, "one");
    rig.expectsRequests(1);
  });
});

Deno.test("Scenario 32(b): a stream whose leader leaves after the third message goes on to the end for who stays", async () => {
  for (const [i, leave] of WAYS.entries()) {
    await withSockets(async (rig) => {
      const [first, second] = [await rig.caller(), await rig.caller()];
      const leader = first.call(LIST, "1");
      const request = await rig.request(0);
      const follower = second.call(LIST, "1");
      await rig.waits(2);
      request.begins();
      const all = Array.from({ length: 10 }, (_, n) => `message ${n}`);
      for (const [n, said] of all.entries()) {
        request.sends(said);
        await until(() => follower.messages.length === n + 1, `message ${n} at the follower`);
        if (n !== 2) continue;
        await until(() => leader.messages.length === 3, "three messages at the leader");
        leave(leader, first);
        await rig.waits(1);
      }
      const late = second.call(LIST, "1");
      request.ends();
      await ended(follower, late);
      follower.expects(0, ...all);
      late.expects(0, ...all);
      assertEquals([leader.messages, leader.status], [all.slice(0, 3), undefined], `way ${i}`);
      rig.expectsRequests(1);
      assertEquals(request.seen.reset, undefined);
    });
  }
});

Deno.test("Scenario 32(b): a leader that leaves does not leave the backend without credit: all of a large stream reaches who reads slowly", async () => {
  for (const whose of ["leader", "follower"]) {
    await withSockets(async (rig) => {
      const narrow = [[SETTING.initialWindowSize, 0]] as const;
      const [first, second] = whose === "leader"
        ? [await rig.caller(narrow), await rig.caller()]
        : [await rig.caller(), await rig.caller(narrow)];
      const leader = first.call(LIST, "1");
      const request = await rig.request(0);
      const follower = second.call(LIST, "1");
      await rig.waits(2);
      const all = Array.from({ length: 48 }, (_, n) => `${n}`.padEnd(30_000, "."));
      await sendAll(rig, all, async (n) => {
        if (n !== 4) return;
        leader.cancels();
        await rig.waits(1);
        if (whose === "follower") follower.grants(2 ** 24);
      });
      await ended(follower);
      assertEquals(follower.messages.length, all.length);
      follower.expects(0, ...all);
      assertEquals(request.seen.reset, undefined);
    });
  }
});

Deno.test("Scenario 32(b): a stream that all have left is cancelled at the backend, and the next caller gets one of its own from the beginning", async () => {
  await withSockets(async (rig) => {
    const [first, second] = [await rig.caller(), await rig.caller()];
    const calls = [first.call(LIST, "1"), second.call(LIST, "1")];
    await rig.waits(2);
    const request = await rig.request(0);
    request.begins(["old"]);
    await until(() => calls.every((call) => call.messages.length === 1), "the first message");
    calls[0]!.cancels();
    await rig.waits(1);
    assertEquals(request.seen.reset, undefined);
    second.leaves();
    await until(() => request.seen.reset !== undefined, "a backend call that is cancelled");
    assertEquals(request.seen.reset, "CANCEL");
    const next = first.call(LIST, "1");
    (await rig.request(1)).replies(["new"]);
    await ended(next);
    next.expects(0, "new");
  });
});

/** The only request's reply, message by message, as far as its backend is given credit. */
async function sendAll(
  rig: SocketRig,
  all: readonly string[],
  each: (n: number) => Promise<void>,
): Promise<void> {
  const [request] = rig.backend.requests;
  const [announced] = rig.backend.ends[0]!.seen("SETTINGS");
  const windowBytes = announced!.settings.find(([id]) => id === SETTING.initialWindowSize)![1];
  request!.begins();
  let sent = 0;
  for (const [n, said] of all.entries()) {
    sent += PREFIX_BYTES + said.length;
    await each(n);
    await until(() => sent <= windowBytes + request!.seen.granted, `credit for message ${n}`);
    request!.sends(said);
  }
  request!.ends();
}
