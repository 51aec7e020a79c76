import { assertEquals } from "@std/assert";
import { requestHead } from "../support/caller_end.ts";
import { concat, data, headers } from "../support/frames.ts";
import { framed, valueOf } from "../support/peer_end.ts";
import { GET, PUT, withRig } from "../support/proxy_rig.ts";

Deno.test("Call leads when nobody asks the same, and is given the backend's reply", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const call = caller.call(GET, "1");
    await rig.settle();
    assertEquals(rig.request(0).path, GET);
    assertEquals(rig.request(0).messages, ["1"]);
    assertEquals(rig.request(0).ended, true);
    call.expectsNothing();
    rig.request(0).replies(["one"]);
    await rig.settle();
    call.expects(0, "one");
    assertEquals(rig.outcomes, { led: 1 });
  });
});

Deno.test("Call joins a flight under way, and is answered with its leader, whatever the connection", async () => {
  await withRig(async (rig) => {
    const callers = [await rig.caller(), await rig.caller(), await rig.caller()];
    const calls = callers.flatMap((caller) => [caller.call(GET, "1"), caller.call(GET, "1")]);
    await rig.settle();
    assertEquals(rig.gauges, {
      flights: 1,
      waiters: 6,
      connections: 3,
      inflight: 1,
      pending: 0,
    });
    rig.expectsRequests(1);
    rig.request(0).replies(["one"]);
    await rig.settle();
    for (const call of calls) call.expects(0, "one");
    assertEquals(rig.outcomes, { led: 1, joined: 5 });
  });
});

Deno.test("Call is answered from a stored result for 100 ms after the reply, and leads after that", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    caller.call(GET, "1");
    await rig.settle();
    await rig.advance(500); // the time of the reply counts, not that of the question
    rig.request(0).replies(["one"]);
    await rig.settle();
    await rig.advance(99);
    const repeat = caller.call(GET, "1");
    await rig.settle();
    repeat.expects(0, "one");
    rig.expectsRequests(1);
    await rig.advance(1);
    const late = caller.call(GET, "1");
    await rig.settle();
    rig.expectsRequests(2);
    rig.request(1).replies(["two"]);
    await rig.settle();
    late.expects(0, "two");
    assertEquals(rig.outcomes, { led: 2, hit: 1 });
  });
});

Deno.test("Call leads each time when results are not kept (cacheDurationMs 0)", async () => {
  await withRig({ cacheDurationMs: 0 }, async (rig) => {
    rig.onRequest = (request) => request.echoes();
    const caller = await rig.caller();
    for (let i = 0; i < 3; i++) {
      const call = caller.call(GET, "1");
      await rig.settle();
      call.expects(0, "re:1");
    }
    rig.expectsRequests(3);
  });
});

Deno.test("Call shares nothing with one that differs in message, path, authority, encoding or metadata (scenario 37)", async () => {
  await withRig(async (rig) => {
    rig.onRequest = (request) => request.echoes();
    const caller = await rig.caller();
    const long = "x".repeat(64);
    const shorter = [...requestHead(GET)].filter(([name]) => name !== ":authority");
    const calls = [
      caller.call(GET, long + "a"),
      caller.call(GET, long + "b"),
      caller.call(GET, ""),
      caller.call(GET),
      caller.call("/other.Service/GetItem", ""),
      caller.call(GET, "", { metadata: [["a", "bc"]] }),
      caller.call(GET, "", { metadata: [["ab", "c"]] }),
      caller.call(GET, "", { metadata: [["a", "b"], ["a", "c"]] }),
      caller.call(GET, "", { metadata: [["a", "c"], ["a", "b"]] }),
      caller.call(GET, "", { metadata: [["grpc-encoding", "gzip"]] }),
      caller.call(GET, "", { head: [...shorter, [":authority", "other.test"]].sort() as never }),
    ];
    await rig.settle();
    rig.expectsRequests(calls.length);
    calls[0]!.expects(0, `re:${long}a`);
    calls[1]!.expects(0, `re:${long}b`);
    assertEquals(calls.map(({ status }) => status), calls.map(() => 0));
    assertEquals(rig.outcomes, { led: 10, passed: 1 });
  });
});

Deno.test("Call shares with one that differs in user-agent, trace and order of metadata alone (scenario 24)", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const calls = [
      caller.call(GET, "1", { metadata: [["user-agent", "a/1"], ["x", "1"], ["y", "2"]] }),
      caller.call(GET, "1", { metadata: [["user-agent", "b/2"], ["y", "2"], ["x", "1"]] }),
      caller.call(GET, "1", { metadata: [["traceparent", "00-1"], ["x", "1"], ["y", "2"]] }),
      caller.call(GET, "1", { metadata: [["x-request-id", "7"], ["x", "1"], ["y", "2"]] }),
    ];
    await rig.settle();
    rig.expectsRequests(1);
    assertEquals(valueOf(rig.request(0).fields, "user-agent"), "a/1");
    rig.request(0).replies(["one"]);
    await rig.settle();
    for (const call of calls) call.expects(0, "one");
  });
});

Deno.test("Call never shares across credentials, and does not wait for others' either (scenario 36)", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const tokens = ["T1", "T2", "T1", "T2"];
    const calls = tokens.map((token) =>
      caller.call(GET, "1", { metadata: [["authorization", token]] })
    );
    const cookie = caller.call(GET, "1", { metadata: [["cookie", "T1"]] });
    const none = caller.call(GET, "1");
    await rig.settle();
    rig.expectsRequests(4);
    for (const request of rig.requests) {
      request.replies([valueOf(request.fields, "authorization") ?? "nobody"]);
    }
    await rig.settle();
    calls.forEach((call, i) => call.expects(0, tokens[i]!));
    cookie.expects(0, "nobody");
    none.expects(0, "nobody");
    await rig.advance(50);
    const repeat = caller.call(GET, "1", { metadata: [["authorization", "T2"]] });
    await rig.settle();
    repeat.expects(0, "T2");
    rig.expectsRequests(4);
  });
});

Deno.test("Call shares across metadata that keyHeaders does not name, and does not across what it names", async () => {
  await withRig({ keyHeaders: ["tenant"] }, async (rig) => {
    const caller = await rig.caller();
    caller.call(GET, "1", { metadata: [["tenant", "a"], ["authorization", "T1"]] });
    caller.call(GET, "1", { metadata: [["tenant", "a"], ["authorization", "T2"]] });
    caller.call(GET, "1", { metadata: [["tenant", "b"], ["authorization", "T1"]] });
    await rig.settle();
    rig.expectsRequests(2);
    assertEquals(rig.requests.map(({ fields }) => valueOf(fields, "authorization")), ["T1", "T1"]);
    for (const request of rig.requests) request.replies(["x"]);
    await rig.settle();
    assertEquals(rig.outcomes, { led: 2, joined: 1 });
  });
});

Deno.test("Call of a method that is not eligible passes, each on its own and all at once (scenario 36)", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const calls = Array.from({ length: 10 }, () => caller.call(PUT, "1"));
    await rig.settle();
    rig.expectsRequests(10);
    rig.requests.forEach((request, i) => request.replies([`${i}`]));
    await rig.settle();
    calls.forEach((call, i) => call.expects(0, `${i}`));
    assertEquals(rig.outcomes, { passed: 10 });
    assertEquals(rig.passed, { method: 10 });
  });
});

Deno.test("Call passes when its request is larger than what is collapsed, whole or still on its way (scenario 23)", async () => {
  await withRig({ maxMessageBytes: 1_000 }, async (rig) => {
    const caller = await rig.caller();
    const large = "x".repeat(1_001);
    const whole = [caller.call(GET, large), caller.call(GET, large)];
    const [head, body] = [large.slice(0, 10), large.slice(10)];
    const cut = caller.call(GET, undefined, { ends: false });
    caller.sends(data(cut.id, framed(large).subarray(0, 15)));
    await rig.settle();
    rig.expectsRequests(3); // its prefix says how long it will be: there is nothing to wait for
    caller.sends(data(cut.id, body, { endStream: true }));
    await rig.settle();
    assertEquals(rig.request(2).messages, [head + body]);
    assertEquals(rig.request(2).ended, true);
    for (const request of rig.requests) request.echoes("");
    await rig.settle();
    for (const call of [...whole, cut]) call.expects(0, large);
    assertEquals(rig.passed, { size: 3 });
  });
});

Deno.test("Call collapses up to the very size that may be", async () => {
  await withRig({ maxMessageBytes: 1_000 }, async (rig) => {
    const caller = await rig.caller();
    const calls = [caller.call(GET, "x".repeat(1_000)), caller.call(GET, "x".repeat(1_000))];
    await rig.settle();
    rig.expectsRequests(1);
    rig.request(0).replies(["one"]);
    await rig.settle();
    for (const call of calls) call.expects(0, "one");
  });
});

Deno.test("Call passes when the flight has as many followers as it may", async () => {
  await withRig({ maxFollowers: 2 }, async (rig) => {
    const caller = await rig.caller();
    const calls = Array.from({ length: 5 }, () => caller.call(GET, "1"));
    await rig.settle();
    rig.expectsRequests(3);
    for (const request of rig.requests) request.replies(["one"]);
    await rig.settle();
    for (const call of calls) call.expects(0, "one");
    assertEquals(rig.outcomes, { led: 1, joined: 2, passed: 2 });
    assertEquals(rig.passed, { followers: 2 });
  });
});

Deno.test("Call passes always in mode off", async () => {
  await withRig({ mode: "off" }, async (rig) => {
    const caller = await rig.caller();
    const calls = [caller.call(GET, "1"), caller.call(GET, "1"), caller.call(GET)];
    await rig.settle();
    rig.expectsRequests(3);
    for (const request of rig.requests) request.replies(["one"]);
    await rig.settle();
    for (const call of calls) call.expects(0, "one");
    assertEquals(rig.passed, { mode: 3 });
  });
});

Deno.test("Call leads anew when the flight is older than joinMaxAgeMs", async () => {
  await withRig({ joinMaxAgeMs: 200 }, async (rig) => {
    const caller = await rig.caller();
    const first = caller.call(GET, "1");
    await rig.advance(200);
    const joined = caller.call(GET, "1");
    await rig.advance(1);
    const second = caller.call(GET, "1");
    await rig.settle();
    rig.expectsRequests(2);
    rig.request(0).replies(["old"]);
    await rig.settle();
    first.expects(0, "old");
    joined.expects(0, "old");
    const third = caller.call(GET, "1");
    rig.request(1).replies(["new"]);
    await rig.settle();
    second.expects(0, "new");
    third.expects(0, "new");
    const repeat = caller.call(GET, "1");
    await rig.settle();
    repeat.expects(0, "new"); // the older flight was not the newest one when it ended, so it is not kept
    rig.expectsRequests(2);
  });
});

Deno.test("Call without any message passes with its head's END_STREAM, apart from one with an empty message (scenario 41)", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const empty = caller.call(GET, "");
    const none = caller.call(GET);
    await rig.settle();
    rig.expectsRequests(2);
    const [first, second] = [rig.request(0), rig.request(1)];
    assertEquals(first.messages, [""]);
    assertEquals(second.messages, []);
    assertEquals(second.seen.endedBy, "HEADERS");
    first.replies(["empty"]);
    second.fails(3);
    await rig.settle();
    empty.expects(0, "empty");
    none.expects(3);
    assertEquals(rig.passed, { streaming: 1 });
  });
});

Deno.test("Call gathers its one message from any number of DATA frames, empty ones and trailers included (scenario 23)", async () => {
  const message = framed("0123456789");
  const cuts: ((id: number) => Uint8Array[])[] = [
    (id) => [data(id, message, { endStream: true })],
    (id) => [data(id, ""), data(id, message, { endStream: true })],
    (id) => [data(id, message), data(id, "", { endStream: true })],
    (id) => [
      data(id, message.subarray(0, 3)),
      data(id, message.subarray(3), { endStream: true }),
    ],
    (id) => [
      data(id, message.subarray(0, 7)),
      data(id, ""),
      data(id, message.subarray(7), { endStream: true, padding: 9 }),
    ],
    (id) => [data(id, message), headers(id, [["x-trailer", "1"]], { endStream: true })],
    (id) =>
      Array.from(
        message,
        (_, i) => data(id, message.subarray(i, i + 1), { endStream: i === message.length - 1 }),
      ),
  ];
  for (const together of [true, false]) {
    for (const [i, cut] of cuts.entries()) {
      await withRig(async (rig) => {
        const caller = await rig.caller();
        const call = caller.call(GET, undefined, { ends: false });
        for (const frame of cut(call.id)) {
          caller.sends(frame);
          if (!together) await rig.settle();
        }
        const other = caller.call(GET, "0123456789");
        await rig.settle();
        rig.expectsRequests(1);
        assertEquals(rig.request(0).messages, ["0123456789"], `cut ${i}, together ${together}`);
        assertEquals(rig.request(0).ended, true, `cut ${i}`);
        rig.request(0).echoes();
        await rig.settle();
        call.expects(0, "re:0123456789");
        other.expects(0, "re:0123456789");
      });
    }
  }
});

Deno.test("Call gives credit for what it gathers, which may be more than a window", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const message = "0123456789".repeat(60_000);
    const bytes = framed(message);
    const call = caller.call(GET, undefined, { ends: false });
    for (let at = 0, window = 131_072; at < bytes.length;) {
      const before = call.reply.granted;
      for (; at < bytes.length && window >= 16_384; at += 16_384, window -= 16_384) {
        const endStream = at + 16_384 >= bytes.length;
        caller.sends(data(call.id, bytes.subarray(at, at + 16_384), { endStream }));
      }
      await rig.settle();
      window += call.reply.granted - before;
      assertEquals(window >= 16_384, true, "there is no more credit");
    }
    const joined = caller.call(GET, message.slice(0, 10));
    await rig.settle();
    assertEquals(rig.request(0).messages[0] === message, true);
    for (const request of rig.requests) request.replies(["x"]);
    await rig.settle();
    for (const each of [call, joined]) each.expects(0, "x");
    assertEquals(rig.outcomes, { led: 2 });
  });
});

Deno.test("Call of two messages passes them both, wherever they are cut", async () => {
  const both = concat(framed("1"), framed("22"));
  for (const at of [6, 3, 8, both.length]) {
    await withRig(async (rig) => {
      const caller = await rig.caller();
      const call = caller.begins((id) => [
        headers(id, requestHead(GET)),
        data(id, both.subarray(0, at), { endStream: at === both.length }),
      ]);
      await rig.settle();
      if (at < both.length) caller.sends(data(call.id, both.subarray(at), { endStream: true }));
      await rig.settle();
      assertEquals([rig.request(0).messages, rig.request(0).ended], [["1", "22"], true]);
      rig.request(0).replies(["x"]);
      await rig.settle();
      call.expects(0, "x");
      assertEquals(rig.passed, { streaming: 1 });
    });
  }
});
