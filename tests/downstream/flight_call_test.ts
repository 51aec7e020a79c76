import { assertEquals } from "@std/assert";
import { ERROR_CODE } from "../../lib/wire/mod.ts";
import { data, type Pairs } from "../support/frames.ts";
import type { CallerCall, CallerEnd } from "../support/caller_end.ts";
import { framed } from "../support/peer_end.ts";
import { GET, type ProxyRig, PUT, withRig } from "../support/proxy_rig.ts";

const LIST = "/test.Service/ListItems";

Deno.test("FlightCall goes on without its leader, whose cancel is its own affair (scenario 32)", async () => {
  const ways: ((leader: CallerCall, caller: CallerEnd) => void)[] = [
    (leader) => leader.cancels(),
    (_, caller) => caller.leaves(),
    (_, caller) => caller.leaves(new Deno.errors.ConnectionReset("Connection reset by peer")),
  ];
  for (const leave of ways) {
    await withRig(async (rig) => {
      const [first, second] = [await rig.caller(), await rig.caller()];
      const leader = first.call(GET, "1");
      await rig.settle();
      const followers = Array.from({ length: 3 }, () => second.call(GET, "1"));
      await rig.advance(100);
      leave(leader, first);
      await rig.advance(400);
      rig.request(0).replies(["one"]);
      await rig.settle();
      for (const call of followers) call.expects(0, "one");
      leader.expectsNothing();
      rig.expectsRequests(1);
      assertEquals(rig.request(0).seen.reset, undefined);
      assertEquals(rig.outcomes, { led: 1, joined: 3 });
    });
  }
});

Deno.test("FlightCall gives all of a stream to who stays when its leader leaves (scenario 32)", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const leader = caller.call(LIST, "1");
    const follower = caller.call(LIST, "1");
    await rig.settle();
    rig.request(0).begins();
    const all = Array.from({ length: 10 }, (_, i) => `m${i}`);
    for (const [i, message] of all.entries()) {
      if (i === 3) leader.cancels();
      rig.request(0).sends(message);
      await rig.advance(100);
    }
    rig.request(0).ends();
    await rig.settle();
    follower.expects(0, ...all);
    assertEquals(leader.messages, all.slice(0, 3));
    assertEquals(leader.status, undefined);
    rig.expectsRequests(1);
  });
});

Deno.test("FlightCall is cancelled when the last caller leaves, and the next one leads", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const calls = Array.from({ length: 3 }, () => caller.call(GET, "1"));
    await rig.settle();
    calls[1]!.cancels();
    calls[0]!.cancels();
    await rig.settle();
    assertEquals(rig.request(0).seen.reset, undefined);
    calls[2]!.cancels();
    await rig.settle();
    assertEquals(rig.request(0).seen.reset, "CANCEL");
    assertEquals(rig.gauges.flights, 0);
    const next = caller.call(GET, "1");
    await rig.settle();
    rig.expectsRequests(2);
    rig.request(1).replies(["new"]);
    await rig.settle();
    next.expects(0, "new");
  });
});

Deno.test("FlightCall is forgotten before it is cancelled: who comes in the same moment leads anew", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const call = caller.call(GET, "1");
    await rig.settle();
    call.cancels();
    const next = caller.call(GET, "1"); // in one read with the cancel
    await rig.settle();
    rig.expectsRequests(2);
    assertEquals(rig.request(0).seen.reset, "CANCEL");
    assertEquals(rig.request(1).seen.reset, undefined);
    rig.request(1).replies(["new"]);
    await rig.settle();
    next.expects(0, "new");
  });
});

Deno.test("FlightCall that nobody waits for any more is taken out of the backend's queue", async () => {
  await withRig({ backendMaxConcurrent: 1 }, async (rig) => {
    const caller = await rig.caller();
    const first = caller.call(GET, "1");
    const queued = caller.call(GET, "2");
    await rig.settle();
    assertEquals(rig.gauges.pending, 1);
    queued.cancels();
    await rig.settle();
    assertEquals(rig.gauges.pending, 0);
    rig.request(0).replies(["one"]);
    await rig.settle();
    first.expects(0, "one");
    rig.expectsRequests(1);
  });
});

Deno.test("FlightCall gives every caller the same metadata, messages and trailers (scenarios 1, 5, 25, 34, 37)", async () => {
  const headers: Pairs = [
    ["x-tag", "a"],
    ["x-tag", "b"],
    ["k-bin", "AP8"],
    ["k-bin", "AP8="],
    ["grpc-encoding", "identity"],
    ["k-bin", "AP8,/wA="],
  ];
  const trailers: Pairs = [
    ["grpc-message", "%E7%BC%BA%0A100%25 bad %zz"],
    ["grpc-status-details-bin", "CAUSAmhp"],
    ["x-tag", "a"],
    ["x-tag", "b"],
    ["empty", ""],
  ];
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const calls = Array.from({ length: 10 }, () => caller.call(GET, "1"));
    await rig.settle();
    rig.request(0).replies(["one"], { status: 9, headers, trailers });
    await rig.settle();
    for (const { reply } of calls) {
      assertEquals(reply.blocks, [
        [[":status", "200"], ["content-type", "application/grpc"], ...headers],
        [["grpc-status", "9"], ...trailers],
      ]);
      assertEquals(reply.messages, ["one"]);
      assertEquals(reply.endedBy, "HEADERS");
    }
    rig.expectsRequests(1);
  });
});

Deno.test("FlightCall shares a status that comes alone, as it came, and does not keep it (scenario 1)", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const calls = Array.from({ length: 3 }, () => caller.call(GET, "1"));
    await rig.settle();
    rig.request(0).fails(5, [["grpc-message", "no"], ["x-err", "7"]]);
    await rig.settle();
    for (const { reply } of calls) {
      assertEquals(reply.blocks, [[
        [":status", "200"],
        ["content-type", "application/grpc"],
        ["grpc-status", "5"],
        ["grpc-message", "no"],
        ["x-err", "7"],
      ]]);
      assertEquals([reply.text, reply.endedBy], ["", "HEADERS"]);
    }
    caller.call(GET, "1");
    await rig.settle();
    rig.expectsRequests(2);
  });
});

Deno.test("FlightCall keeps errors of the backend's when told to, and never ours (cacheErrors)", async () => {
  await withRig({ cacheErrors: true, backendTimeoutMs: 1_000 }, async (rig) => {
    const caller = await rig.caller();
    const failing = caller.call(GET, "1");
    const reset = caller.call(GET, "2");
    const late = caller.call(GET, "3");
    await rig.settle();
    rig.request(0).fails(5);
    rig.request(1).resets(ERROR_CODE.internalError);
    await rig.settle();
    failing.expects(5);
    assertEquals(reset.status, 13);
    const repeats = ["1", "2"].map((message) => caller.call(GET, message));
    await rig.settle();
    repeats[0]!.expects(5);
    rig.expectsRequests(4);
    repeats[1]!.cancels();
    await rig.advance(1_004);
    assertEquals(late.status, 4);
    const again = caller.call(GET, "3");
    await rig.settle();
    rig.expectsRequests(5);
    again.cancels();
    await rig.settle();
    assertEquals(rig.outcomes, { led: 5, hit: 1 });
  });
});

Deno.test("FlightCall gives a late joiner the stream from its beginning (scenario 39)", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const leader = caller.call(LIST, "1");
    await rig.settle();
    const all = ["1", "2", "3", "4", "5"];
    rig.request(0).begins();
    let follower: CallerCall | undefined;
    for (const message of all) {
      rig.request(0).sends(message);
      await rig.advance(100);
      if (message === "2") {
        follower = caller.call(LIST, "1");
        await rig.settle();
        assertEquals(follower.messages, ["1", "2"]);
      }
    }
    rig.request(0).ends();
    await rig.advance(20);
    const afterwards = caller.call(LIST, "1");
    await rig.settle();
    for (const call of [leader, follower!, afterwards]) call.expects(0, ...all);
    rig.expectsRequests(1);
    assertEquals(rig.outcomes, { led: 1, joined: 1, hit: 1 });
  });
});

Deno.test("FlightCall takes no more joiners past its replay bound, feeds those it has, and is not kept (scenarios 23, 39)", async () => {
  await withRig({ maxMessageBytes: 10_000 }, async (rig) => {
    const caller = await rig.caller();
    const calls = [caller.call(LIST, "1"), caller.call(LIST, "1")];
    await rig.settle();
    const message = "x".repeat(900);
    rig.request(0).begins(Array.from({ length: 12 }, () => message));
    await rig.settle();
    const late = caller.call(LIST, "1");
    await rig.settle();
    rig.expectsRequests(2);
    rig.request(0).ends();
    await rig.settle();
    for (const call of calls) call.expects(0, ...Array.from({ length: 12 }, () => message));
    rig.request(1).replies(["own"]);
    await rig.settle();
    late.expects(0, "own");
    const repeat = caller.call(LIST, "1");
    await rig.settle();
    repeat.expects(0, "own");
    rig.expectsRequests(2);
  });
});

Deno.test("FlightCall does not keep a reply that outgrew the bound at its very end", async () => {
  await withRig({ maxMessageBytes: 10_000 }, async (rig) => {
    const caller = await rig.caller();
    const call = caller.call(LIST, "1");
    await rig.settle();
    rig.request(0).replies(["x".repeat(10_001)]);
    await rig.settle();
    call.expects(0, "x".repeat(10_001));
    caller.call(LIST, "1");
    await rig.settle();
    rig.expectsRequests(2);
    assertEquals(rig.proxy.map.stored.entries, 0);
  });
});

Deno.test("FlightCall lets go of a caller that falls too far behind, alone and with 8 (scenario 18)", async () => {
  await withRig({ maxMessageBytes: 10_000 }, async (rig) => {
    const [quick, slow] = [await rig.caller(), await rig.caller([[4, 5_000]])];
    const fast = quick.call(LIST, "1");
    const stuck = slow.call(LIST, "1");
    const other = slow.call(PUT, "1");
    await rig.settle();
    const messages = await stream(rig, 0, { count: 60 });
    assertEquals(stuck.status, 8);
    assertEquals(stuck.grpcMessage, "collapser: the caller reads too slowly to share this stream");
    assertEquals(stuck.messages, messages.slice(0, 4)); // and a part of the fifth: 5,000 bytes
    assertEquals(stuck.reply.text.length, 5_000);
    rig.request(0).ends();
    await rig.settle();
    fast.expects(0, ...messages);
    rig.request(1).replies(["fine"]);
    await rig.settle();
    other.expects(0, "fine");
    assertEquals(rig.request(0).seen.reset, undefined);
  });
});

Deno.test("FlightCall gives a slow caller everything in order while it keeps up well enough", async () => {
  await withRig({ maxMessageBytes: 10_000 }, async (rig) => {
    const [quick, slow] = [await rig.caller(), await rig.caller([[4, 5_000]])];
    const fast = quick.call(LIST, "1");
    const lagging = slow.call(LIST, "1", { metadata: [["x-collapser-debug", "1"]] });
    await rig.settle();
    const messages = await stream(rig, 0, {
      count: 200,
      each: (i) => i > 25 && lagging.grants(1_005 + i % 7),
    });
    rig.request(0).ends();
    await rig.settle();
    fast.expects(0, ...messages);
    assertEquals(lagging.status, undefined);
    lagging.grants(1_000_000);
    await rig.settle();
    lagging.expects(0, ...messages);
    assertEquals(lagging.outcome, "joined");
  });
});

Deno.test("FlightCall credits its backend by the fastest caller, and not before one reads (scenario 18)", async () => {
  await withRig(async (rig) => {
    const [quick, slow] = [await rig.caller([[4, 0]]), await rig.caller([[4, 0]])];
    const fast = quick.call(LIST, "1");
    const stuck = slow.call(LIST, "1");
    await rig.settle();
    const window = 131_072; // what we give a stream
    const message = "x".repeat(window / 16 - 5);
    rig.request(0).begins(Array.from({ length: 16 }, () => message));
    await rig.settle();
    assertEquals(rig.request(0).seen.granted, 0);
    fast.grants(window / 2 - 2_000);
    await rig.settle();
    assertEquals(rig.request(0).seen.granted, 0);
    fast.grants(4_000);
    await rig.settle();
    const granted = rig.request(0).seen.granted;
    assertEquals(granted >= window / 2 && granted <= window / 2 + 2_000, true, `${granted}`);
    for (let i = 0; i < 8; i++) rig.request(0).sends(message);
    await rig.settle();
    assertEquals(rig.request(0).seen.granted, granted);
    stuck.grants(2 * window); // now this one is the fastest
    await rig.settle();
    assertEquals(rig.request(0).seen.granted, window * 3 / 2);
    rig.request(0).ends();
    fast.grants(2 * window);
    await rig.settle();
    for (const call of [fast, stuck]) call.expects(0, ...Array.from({ length: 24 }, () => message));
  });
});

Deno.test("FlightCall gives everyone 14 with one call when the backend's connection is lost (scenario 34)", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const calls = Array.from({ length: 20 }, () => caller.call(GET, "1"));
    await rig.settle();
    rig.backend.socket.ends();
    await rig.settle();
    for (const call of calls) {
      call.expectsFailure(
        14,
        "the connection to the backend was lost: the backend closed it",
      );
    }
    rig.expectsRequests(1);
    const next = caller.call(GET, "1");
    await rig.settle();
    rig.request(1).replies(["fine"]);
    await rig.settle();
    next.expects(0, "fine");
  });
});

Deno.test("FlightCall keeps its question whole, however large, until nobody may have to ask it again", async () => {
  await withRig({ backendTimeoutMs: 100 }, async (rig) => {
    const caller = await rig.caller();
    const question = "0123456789".repeat(10_000);
    caller.call(GET, question, { metadata: [["grpc-timeout", "100m"]] });
    const follower = caller.call(GET, question, { metadata: [["grpc-timeout", "5S"]] });
    await rig.advance(90);
    rig.request(0).fails(4);
    await rig.settle();
    assertEquals(rig.request(1).messages[0] === question, true);
    const late = caller.call(GET, question);
    await rig.settle();
    rig.request(1).replies(["leader's own"], { headers: [["cache-control", "private"]] });
    await rig.settle();
    follower.expects(0, "leader's own");
    assertEquals(rig.request(2).messages[0] === question, true);
    rig.request(2).replies(["late"]);
    await rig.settle();
    late.expects(0, "late");
  });
});

Deno.test("FlightCall gives its storage back once nobody reads it, and not before", async () => {
  await withRig({ maxCacheEntries: 1 }, async (rig) => {
    rig.onRequest = (request) => request.echoes();
    const replies: { heldBytes: number }[] = [];
    const { map } = rig.proxy;
    const keep = map.keep.bind(map);
    map.keep = (flight, nowMs, ttlMs) => {
      replies.push(flight.reply);
      keep(flight, nowMs, ttlMs);
    };
    const [caller, slow] = [await rig.caller(), await rig.caller([[4, 3]])];
    const joined = [caller.call(GET, "1"), slow.call(GET, "1")];
    await rig.settle();
    const hit = slow.call(GET, "1");
    const quick = caller.call(GET, "1");
    await rig.settle();
    quick.expects(0, "re:1");
    caller.call(GET, "2"); // takes the place of the first
    await rig.settle();
    assertEquals(replies.map(({ heldBytes }) => heldBytes > 0), [true, true]);
    joined[1]!.grants(100);
    await rig.settle();
    joined[1]!.expects(0, "re:1");
    assertEquals(replies[0]!.heldBytes > 0, true);
    hit.grants(100);
    await rig.settle();
    hit.expects(0, "re:1");
    assertEquals(replies.map(({ heldBytes }) => heldBytes > 0), [false, true]);
    await rig.advance(1_200);
    assertEquals(replies.map(({ heldBytes }) => heldBytes), [0, 0]);
  });
});

Deno.test("FlightCall whose reply is not kept gives its storage back with the last who reads it", async () => {
  await withRig(async (rig) => {
    const replies: { heldBytes: number }[] = [];
    const { map } = rig.proxy;
    const keep = map.keep.bind(map);
    map.keep = (flight, nowMs, ttlMs) => {
      replies.push(flight.reply);
      keep(flight, nowMs, ttlMs);
    };
    const [quick, slow] = [await rig.caller(), await rig.caller([[4, 3]])];
    const calls = [quick.call(GET, "1"), slow.call(GET, "1")];
    await rig.settle();
    rig.request(0).replies(["wrong"], { status: 5 });
    await rig.settle();
    calls[0]!.expects(5, "wrong");
    assertEquals(replies.map(({ heldBytes }) => heldBytes > 0), [true]);
    calls[1]!.grants(100);
    await rig.settle();
    calls[1]!.expects(5, "wrong");
    assertEquals(replies.map(({ heldBytes }) => heldBytes), [0]);
  });
});

Deno.test("FlightCall whose key has a newer flight leaves that one alone when it ends", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const old = caller.call(GET, "1");
    const fresh = caller.call(GET, "1", { metadata: [["cache-control", "no-cache"]] });
    await rig.settle();
    rig.expectsRequests(2);
    rig.request(0).replies(["old"]);
    await rig.settle();
    old.expects(0, "old");
    assertEquals(rig.proxy.map.stored.entries, 0);
    const joined = caller.call(GET, "1");
    await rig.settle();
    rig.expectsRequests(2); // joined the newer flight: the old reply was not kept over it
    rig.request(1).replies(["new"]);
    await rig.settle();
    for (const call of [fresh, joined]) call.expects(0, "new");
  });
});

/** Numbered messages of 1,000 bytes, one at a time. */
async function stream(
  rig: ProxyRig,
  index: number,
  { count, each }: { count: number; each?: (i: number) => void },
): Promise<string[]> {
  const messages: string[] = [];
  rig.request(index).begins();
  for (let i = 0; i < count; i++) {
    const message = `${i} `.padEnd(1_000, "x");
    messages.push(message);
    rig.request(index).sends(message);
    await rig.settle();
    each?.(i);
  }
  await rig.settle();
  return messages;
}

Deno.test("FlightCall relays a reply that is bigger than any window, exactly (scenario 23)", async () => {
  await withRig(async (rig) => {
    const callers = [await rig.caller(), await rig.caller()];
    const calls = callers.map((caller) => caller.call(GET, "1"));
    await rig.settle();
    const request = rig.request(0);
    const piece = Array.from({ length: 1_000 }, (_, i) => String.fromCharCode(i % 251)).join("");
    const whole = piece.repeat(2_000); // 2 MB
    const bytes = Uint8Array.from(whole, (c) => c.charCodeAt(0));
    request.begins();
    await sendAsCredited(rig, 0, bytes);
    request.ends();
    await rig.settle();
    for (const call of calls) {
      assertEquals(call.status, 0);
      assertEquals(call.messages.length, 1);
      assertEquals(call.messages[0] === whole, true, "the bytes are the same");
    }
  });
});

/** One large message as DATA frames, as far as the proxy's credit goes each time. */
async function sendAsCredited(rig: ProxyRig, index: number, message: Uint8Array): Promise<void> {
  const request = rig.request(index);
  const bytes = framed(message);
  for (let at = 0, window = 131_072; at < bytes.length;) {
    const before = request.seen.granted;
    const pieces: Uint8Array[] = [];
    for (; at < bytes.length && window > 0;) {
      const size = Math.min(16_384, window, bytes.length - at);
      pieces.push(data(request.id, bytes.subarray(at, at + size)));
      at += size;
      window -= size;
    }
    request.backend.sends(...pieces);
    await rig.settle();
    window += request.seen.granted - before;
    assertEquals(window > 0, true, "the proxy gives no more credit");
  }
}
