import { assert, assertEquals } from "@std/assert";
import { ERROR_CODE, FLAG, FRAME, SETTING } from "../../lib/wire/mod.ts";
import type { BackendRequest } from "../support/backend_end.ts";
import { data, goAway, headers, type Pairs, raw, RESPONSE } from "../support/frames.ts";
import { framed, type SettingPairs, valueOf } from "../support/peer_end.ts";
import { GET, PUT, withRig } from "../support/proxy_rig.ts";

const LIST = "/test.Service/ListItems";

/** What a reset by the backend means (grpc/grpc doc/PROTOCOL-HTTP2.md, "Errors"). */
const RESETS: readonly (readonly [code: number, name: string, status: number])[] = [
  [ERROR_CODE.noError, "NO_ERROR", 13],
  [ERROR_CODE.protocolError, "PROTOCOL_ERROR", 13],
  [ERROR_CODE.internalError, "INTERNAL_ERROR", 13],
  [ERROR_CODE.flowControlError, "FLOW_CONTROL_ERROR", 13],
  [ERROR_CODE.settingsTimeout, "SETTINGS_TIMEOUT", 13],
  [ERROR_CODE.frameSizeError, "FRAME_SIZE_ERROR", 13],
  [ERROR_CODE.cancel, "CANCEL", 1],
  [ERROR_CODE.compressionError, "COMPRESSION_ERROR", 13],
  [ERROR_CODE.connectError, "CONNECT_ERROR", 13],
  [ERROR_CODE.enhanceYourCalm, "ENHANCE_YOUR_CALM", 8],
  [ERROR_CODE.inadequateSecurity, "INADEQUATE_SECURITY", 7],
  [99, "UNKNOWN_99", 2],
];

Deno.test("UpstreamSession makes a status of each reset, for all who share the call (scenario 6)", async () => {
  for (const [code, name, status] of RESETS) {
    await withRig(async (rig) => {
      const caller = await rig.caller();
      const early = [caller.call(GET, "1"), caller.call(GET, "1"), caller.call(PUT, "1")];
      const late = [caller.call(LIST, "1"), caller.call(LIST, "1")];
      await rig.settle();
      rig.request(2).begins(["a", "b"]);
      for (const request of rig.requests) request.resets(code);
      await rig.settle();
      for (const call of early) {
        call.expectsFailure(status, `the backend reset the stream with ${name}`);
        assertEquals(call.messages, []);
      }
      for (const call of late) {
        call.expects(status, "a", "b");
        assertEquals(call.grpcMessage, `collapser: the backend reset the stream with ${name}`);
        assertEquals(valueOf(call.trailers, ":status"), undefined);
      }
      assertEquals(rig.backends.length, 1);
    });
  }
});

Deno.test("UpstreamSession that is lost ends its calls with 14, and the next call gets a new one (scenario 6)", async () => {
  await withRig(async (rig) => {
    rig.timers.refresh();
    const caller = await rig.caller();
    const early = [caller.call(GET, "1"), caller.call(PUT, "1")];
    const late = [caller.call(LIST, "1"), caller.call(LIST, "1")];
    await rig.settle();
    rig.request(2).begins(["a", "b"]);
    await rig.settle();
    rig.backend.socket.ends(new Deno.errors.ConnectionReset("Connection reset by peer"));
    await rig.settle();
    const text = "the connection to the backend was lost: Connection reset by peer";
    for (const call of early) call.expectsFailure(14, text);
    for (const call of late) {
      call.expects(14, "a", "b");
      assertEquals(call.grpcMessage, `collapser: ${text}`);
    }
    const next = caller.call(GET, "1");
    await rig.settle();
    assertEquals(rig.backends.length, 2);
    rig.request(-1).replies(["fine"]);
    await rig.settle();
    next.expects(0, "fine");
  });
});

Deno.test("UpstreamSession relays a status that comes alone (scenario 1)", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const call = caller.call(PUT, "1");
    await rig.settle();
    const trailers: Pairs = [["grpc-message", "gone"], ["grpc-status-details-bin", "CAU"]];
    rig.request(0).fails(5, trailers);
    await rig.settle();
    assertEquals(call.reply.blocks, [[...RESPONSE, ["grpc-status", "5"], ...trailers]]);
    assertEquals(call.reply.endedBy, "HEADERS");
  });
});

Deno.test("UpstreamSession makes a status of HTTP statuses that are no gRPC reply (scenario 4)", async () => {
  const cases: readonly (readonly [http: number, grpc: number])[] = [
    [400, 13],
    [401, 16],
    [403, 7],
    [404, 12],
    [429, 14],
    [431, 13],
    [500, 2],
    [502, 14],
    [503, 14],
    [504, 14],
    [200, 2],
    [302, 2],
  ];
  for (const [http, grpc] of cases) {
    for (const alone of [true, false]) {
      await withRig(async (rig) => {
        const caller = await rig.caller();
        const calls = [caller.call(GET, "1"), caller.call(GET, "1")];
        await rig.settle();
        const { id } = rig.request(0);
        const head = headers(id, [[":status", `${http}`], ["content-type", "text/html"]], {
          endStream: alone,
        });
        rig.backend.sends(head, ...alone ? [] : [data(id, "<html>", { endStream: true })]);
        await rig.settle();
        for (const call of calls) {
          call.expectsFailure(grpc, `the backend answered HTTP ${http}, not gRPC`);
          assertEquals(call.reply.text, "");
        }
        await rig.advance(50);
        const repeat = caller.call(GET, "1");
        await rig.settle();
        rig.expectsRequests(2);
        rig.request(1).replies(["fine"]);
        await rig.settle();
        repeat.expects(0, "fine");
      });
    }
  }
});

Deno.test("UpstreamSession takes a grpc-status over the HTTP status that it came with (scenario 4)", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const call = caller.call(GET, "1");
    await rig.settle();
    const fields: Pairs = [[":status", "503"], ["content-type", "application/grpc"], [
      "grpc-status",
      "8",
    ]];
    rig.backend.sends(headers(1, fields, { endStream: true }));
    await rig.settle();
    assertEquals(call.reply.blocks, [fields]);
  });
});

Deno.test("UpstreamSession makes 13 of a reply without a status, or with none that can be read (scenario 4)", async () => {
  const ends: ((request: BackendRequest) => void)[] = [
    ({ backend, id }) => backend.sends(data(id, framed("a"), { endStream: true })),
    ({ backend, id }) => backend.sends(data(id, framed("a")), data(id, "", { endStream: true })),
    ({ backend, id }) =>
      backend.sends(data(id, framed("a")), headers(id, [["x", "1"]], { endStream: true })),
    ({ backend, id }) =>
      backend.sends(
        data(id, framed("a")),
        headers(id, [["grpc-status", "ok"]], { endStream: true }),
      ),
  ];
  for (const end of ends) {
    await withRig(async (rig) => {
      const caller = await rig.caller();
      const calls = [caller.call(GET, "1"), caller.call(GET, "1"), caller.call(PUT, "1")];
      await rig.settle();
      for (const request of rig.requests) {
        request.begins();
        end(request);
      }
      await rig.settle();
      for (const call of calls) {
        assertEquals(call.status, 13);
        assertEquals(
          call.grpcMessage,
          "collapser: the backend ended the stream without a grpc-status",
        );
        assertEquals(call.messages, ["a"]);
      }
      caller.call(GET, "1");
      await rig.settle();
      rig.expectsRequests(3);
    });
  }
});

Deno.test("UpstreamSession makes 13 of one malformed reply and goes on with the others (scenario 22)", async () => {
  const illegal: readonly (readonly [fields: Pairs, why: string])[] = [
    [[...RESPONSE, ["X-Upper", "1"]], "a field name with an illegal character"],
    [[...RESPONSE, ["x", "a\x01b"]], "an illegal character in the value of x"],
    [[...RESPONSE, ["connection", "close"]], "the connection-specific field connection"],
    [[["content-type", "application/grpc"]], "a response without a status of three digits"],
    [[...RESPONSE, [":path", "/"]], "a pseudo-header after a regular field"],
    [[[":status", "200"], [":status", "200"]], "the pseudo-header :status twice"],
  ];
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const healthy = caller.call(LIST, "long");
    await rig.settle();
    rig.request(0).begins(["a"]);
    for (const [i, [fields, why]] of illegal.entries()) {
      const call = caller.call(GET, `${i}`);
      await rig.settle();
      rig.backend.sends(headers(rig.request(-1).id, fields));
      await rig.settle();
      call.expectsFailure(13, `the backend's reply is malformed: ${why}`);
      assertEquals(rig.request(-1).seen.reset, "PROTOCOL_ERROR");
    }
    const late = caller.call(GET, "trailers");
    await rig.settle();
    rig.request(-1).begins(["x"]);
    rig.backend.sends(
      headers(rig.request(-1).id, [["grpc-status", "0"], ["Bad", "1"]], { endStream: true }),
    );
    rig.request(0).sends("b");
    rig.request(0).ends();
    await rig.settle();
    late.expects(13, "x");
    healthy.expects(0, "a", "b");
    assertEquals(rig.backends.length, 1);
    assertEquals(rig.backend.seen("GOAWAY"), []);
  });
});

Deno.test("UpstreamSession loses nothing but a connection to a peer that breaks the protocol", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const calls = [caller.call(GET, "1"), caller.call(PUT, "1")];
    await rig.settle();
    rig.backend.sends(
      raw(FRAME.headers, { flags: FLAG.endHeaders, streamId: 1 }, Uint8Array.of(0x80)),
    );
    await rig.settle();
    for (const call of calls) assertEquals(call.status, 14);
    assert(rig.backends[0]!.socket.isClosed);
    assertEquals(rig.backends[0]!.seen("GOAWAY")[0]?.code, "COMPRESSION_ERROR");
    assertEquals(rig.heard.filter((what) => what.startsWith("backend failed")).length, 1);
    assertEquals([...rig.proxy.counters.connectionErrors.backend], [[9, 1]]);
    assertEquals(rig.backends.length, 2);
  });
});

Deno.test("UpstreamSession waits through interim responses for the reply", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const calls = [caller.call(GET, "1"), caller.call(PUT, "1")];
    await rig.settle();
    for (const { id } of rig.requests) {
      rig.backend.sends(headers(id, [[":status", "103"], ["link", "x"]]));
      rig.backend.sends(headers(id, [[":status", "100"]]));
    }
    await rig.settle();
    for (const call of calls) call.expectsNothing();
    for (const request of rig.requests) request.replies(["one"]);
    await rig.settle();
    for (const call of calls) {
      call.expects(0, "one");
      assertEquals(call.reply.blocks.length, 2);
    }
  });
});

Deno.test("UpstreamSession relays metadata of any size that is allowed, and makes 8 of more (scenario 3)", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const healthy = caller.call(LIST, "long");
    await rig.settle();
    rig.request(0).begins(["a"]);
    for (const kilobytes of [4, 8, 12, 16, 20, 60, 200]) {
      for (const place of ["headers", "trailers"] as const) {
        const filler: Pairs = [["x-filler", "v".repeat(kilobytes * 1_000)]];
        const calls = [caller.call(GET, `${kilobytes}${place}`), caller.call(PUT, "1")];
        await rig.settle();
        const status = place === "headers" ? 0 : 9;
        for (const request of rig.requests.slice(-2)) {
          request.replies(["x"], { [place]: filler, status });
        }
        await rig.settle();
        for (const call of calls) {
          const where = `${kilobytes} KB of ${place}`;
          if (kilobytes < 65) {
            assertEquals(call.status, status, where);
            const blocks = call.reply.blocks.flat().filter(([name]) => name === "x-filler");
            assertEquals(blocks, [...filler], where);
          } else {
            assertEquals(call.status, 8, where);
            assertEquals(call.grpcMessage, "collapser: the reply's metadata is too large");
          }
        }
      }
    }
    rig.request(0).sends("b");
    rig.request(0).ends();
    await rig.settle();
    healthy.expects(0, "a", "b");
    assertEquals(rig.backends.length, 1);
  });
});

Deno.test("UpstreamSession sends what was refused once more, and once only (scenario 8)", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const calls = Array.from({ length: 4 }, () => caller.call(GET, "1"));
    const passed = caller.call(PUT, "2", { metadata: [["grpc-timeout", "1S"]] });
    await rig.advance(100);
    for (const request of rig.requests) request.resets(ERROR_CODE.refusedStream);
    await rig.settle();
    rig.expectsRequests(4);
    assertEquals(rig.request(2).messages, ["1"]);
    assertEquals(rig.request(3).messages, ["2"]);
    assertEquals(valueOf(rig.request(3).fields, "grpc-timeout"), "900m");
    rig.request(2).replies(["one"]);
    rig.request(3).replies(["two"]);
    await rig.settle();
    for (const call of calls) call.expects(0, "one");
    passed.expects(0, "two");
    const unlucky = [caller.call(LIST, "1"), caller.call(LIST, "1")];
    await rig.settle();
    rig.request(4).resets(ERROR_CODE.refusedStream);
    await rig.settle();
    rig.request(5).resets(ERROR_CODE.refusedStream);
    await rig.settle();
    for (const call of unlucky) {
      call.expectsFailure(14, "the backend reset the stream with REFUSED_STREAM");
    }
    rig.expectsRequests(6);
  });
});

Deno.test("UpstreamSession does not send again what is late already", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const call = caller.call(PUT, "1", { metadata: [["grpc-timeout", "100m"]] });
    await rig.settle();
    rig.request(0).resets(ERROR_CODE.refusedStream);
    await rig.stall(101); // the reset is read before the deadline's alarm is woken
    rig.expectsRequests(1);
    call.expectsFailure(4, "the call's deadline has passed");
  });
});

Deno.test("UpstreamSession sends a refused stream of messages once more while its beginning is held", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const call = caller.call(PUT, "1", { ends: false });
    call.sends("2");
    await rig.settle();
    rig.request(0).resets(ERROR_CODE.refusedStream);
    await rig.settle();
    assertEquals(rig.request(1).messages, ["1", "2"]);
    call.sends("3", { ends: true });
    await rig.settle();
    assertEquals(rig.request(1).messages, ["1", "2", "3"]);
    assertEquals(rig.request(1).ended, true);
    rig.request(1).replies(["ok"]);
    await rig.settle();
    call.expects(0, "ok");
    const large = caller.call(PUT, "x".repeat(16_000), { ends: false });
    for (let i = 0; i < 5; i++) large.sends("x".repeat(16_000));
    await rig.settle();
    rig.request(2).resets(ERROR_CODE.refusedStream);
    await rig.settle();
    large.expectsFailure(14, "the backend reset the stream with REFUSED_STREAM"); // not held any more
    rig.expectsRequests(3);
  });
});

Deno.test("UpstreamSession that is told to go finishes its calls while new ones get another (scenario 8)", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const old = [caller.call(GET, "1"), caller.call(LIST, "1")];
    await rig.settle();
    rig.request(1).begins(["a"]);
    rig.backend.sends(goAway(2 ** 31 - 1, ERROR_CODE.noError));
    await rig.settle();
    assertEquals(rig.backends.length, 2); // before anybody needs it
    const next = caller.call(PUT, "2");
    const joined = caller.call(GET, "1");
    await rig.settle();
    assertEquals(rig.backends.map(({ requests }) => requests.length), [2, 1]);
    const [first] = rig.backends;
    first!.sends(goAway(rig.request(1).id, ERROR_CODE.noError));
    rig.request(0).replies(["one"]);
    rig.request(2).replies(["two"]);
    await rig.settle();
    for (const call of [old[0]!, joined]) call.expects(0, "one");
    next.expects(0, "two");
    assertEquals(first!.socket.isClosed, false);
    rig.request(1).sends("b");
    rig.request(1).ends();
    await rig.settle();
    old[1]!.expects(0, "a", "b");
    assertEquals(first!.socket.isClosed, true);
    assertEquals(rig.proxy.readiness.ready, true);
  });
});

Deno.test("UpstreamSession without calls that is told to go is replaced at once (scenario 8)", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    await rig.advance(1_000);
    rig.backend.sends(goAway(0, ERROR_CODE.noError));
    await rig.advance(20);
    assertEquals(rig.backends.length, 2);
    assertEquals(rig.backends[0]!.socket.isClosed, true);
    const call = caller.call(GET, "1");
    await rig.settle();
    assertEquals(rig.backends.map(({ requests }) => requests.length), [0, 1]);
    rig.request(0).replies(["one"]);
    await rig.settle();
    call.expects(0, "one");
  });
});

Deno.test("UpstreamSession that goes is closed also when its last call is given up", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const call = caller.call(PUT, "1");
    await rig.settle();
    rig.backend.sends(goAway(1, ERROR_CODE.noError));
    await rig.settle();
    assertEquals(rig.backends[0]!.socket.isClosed, false);
    call.cancels();
    await rig.settle();
    assertEquals(rig.backends[0]!.socket.isClosed, true);
  });
});

Deno.test("UpstreamSession sends calls that a GOAWAY says were not taken once more, and once only", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    const taken = caller.call(GET, "1");
    await rig.settle();
    const others = [caller.call(GET, "2"), caller.call(GET, "2"), caller.call(PUT, "3")];
    await rig.settle();
    rig.backend.sends(goAway(1, ERROR_CODE.noError));
    await rig.settle();
    assertEquals(rig.backends.map(({ requests }) => requests.length), [3, 2]);
    rig.request(0).replies(["one"]);
    rig.request(3).replies(["two"]);
    rig.backend.sends(goAway(1, ERROR_CODE.noError)); // and now this one, too
    await rig.settle();
    taken.expects(0, "one");
    others[0]!.expects(0, "two");
    others[1]!.expects(0, "two");
    others[2]!.expectsFailure(
      14,
      "the connection to the backend was lost: the backend is going away",
    );
    rig.expectsRequests(5);
  });
});

Deno.test("UpstreamSession keeps to the windows of its backend, also when they shrink (scenario 21)", async () => {
  await withRig({ backendSettings: [[SETTING.initialWindowSize, 10]] }, async (rig) => {
    const caller = await rig.caller();
    const call = caller.call(GET, "0123456789");
    await rig.settle();
    const request = rig.request(0);
    assertEquals(request.seen.text.length, 10);
    assertEquals(request.ended, false);
    request.grants(4);
    await rig.settle();
    assertEquals(request.seen.text.length, 14);
    request.grants(1);
    await rig.settle();
    assertEquals([request.messages, request.ended], [["0123456789"], true]);
    request.echoes();
    await rig.settle();
    call.expects(0, "re:0123456789");
  });
});

Deno.test("UpstreamSession answers each PING of its backend", async () => {
  await withRig(async (rig) => {
    const caller = await rig.caller();
    caller.call(PUT, "1");
    rig.backend.sends(raw(FRAME.ping, {}, Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8)));
    await rig.settle();
    assertEquals(rig.backend.seen("PING ack").map(({ opaque }) => opaque), [
      "01 02 03 04 05 06 07 08",
    ]);
  });
});

Deno.test("UpstreamSession fails a call here whose head the backend does not accept", async () => {
  const small: SettingPairs = [[SETTING.maxHeaderListSize, 1_000]];
  await withRig({ backendSettings: small }, async (rig) => {
    rig.onRequest = (request) => request.echoes();
    const caller = await rig.caller();
    const large = caller.call(GET, "1", { metadata: [["x-large", "v".repeat(1_000)]] });
    const put = caller.call(PUT, "2", { metadata: [["authorization", "v".repeat(1_000)]] });
    const good = caller.call(GET, "3");
    await rig.settle();
    for (const call of [large, put]) call.expectsFailure(8, "the request's metadata is too large");
    good.expects(0, "re:3");
    rig.expectsRequests(1);
    assertEquals(rig.backend.socket.isClosed, false);
  });
});
