import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { STATUS } from "../../../lib/grpc/mod.ts";
import { openClient, requestBody } from "../../../lib/measure/client/client.ts";
import { ERROR_CODE, SETTING } from "../../../lib/wire/mod.ts";
import { data, goAway, headers, RESPONSE, settings, TRAILERS } from "../../support/frames.ts";
import { framed } from "../../support/peer_end.ts";
import { ClientRig, PATH, withClient } from "../client_rig.ts";

Deno.test("Client sends what gRPC asks of a call, and its metadata", async () => {
  await withClient({}, async (rig) => {
    rig.call("hello", { metadata: [["x-who", "me"]], deadlineMs: 1_500 });
    await rig.settle();
    const { fields, messages, ended } = rig.request(0);
    assertEquals(fields, [
      [":method", "POST"],
      [":scheme", "http"],
      [":path", PATH],
      [":authority", "server.test:80"],
      ["te", "trailers"],
      ["content-type", "application/grpc"],
      ["user-agent", "collapser-measure"],
      ["x-who", "me"],
      ["grpc-timeout", "1500m"],
    ]);
    assertEquals([messages, ended], [["hello"], true]);
  });
});

Deno.test("Client ends a call with the reply's status, outcome and latency", async () => {
  await withClient({}, async (rig) => {
    const call = rig.call();
    await rig.advance(30);
    rig.request(0).replies(["there"], { trailers: [["x-collapser", "joined"]] });
    await rig.settle();
    assertEquals(rig.endings, [[STATUS.ok, ""]]);
    assertEquals([call.outcome, call.latencyMs, call.bodyBytes], ["joined", 30, 10]);
  });
});

Deno.test("Client ends a call with a status that comes alone", async () => {
  await withClient({}, async (rig) => {
    rig.call();
    await rig.settle();
    rig.request(0).fails(STATUS.notFound, [["grpc-message", "no such%20thing"]]);
    await rig.settle();
    assertEquals(rig.endings, [[STATUS.notFound, "no such%20thing"]]);
  });
});

Deno.test("Client.callOnce gives the whole message, however it was cut, and decodes texts", async () => {
  await withClient({}, async (rig) => {
    const asked = rig.client.callOnce({ path: PATH, message: new Uint8Array(3) });
    await rig.settle();
    const bytes = framed("a reply in pieces");
    rig.request(0).begins();
    rig.servers[0]!.sends(data(1, bytes.subarray(0, 3)), data(1, bytes.subarray(3)));
    rig.request(0).ends();
    const reply = await asked;
    assertEquals(new TextDecoder().decode(reply.body), "a reply in pieces");
    assertEquals([reply.status, reply.httpStatus], [STATUS.ok, 200]);

    const failed = rig.client.callOnce({ path: PATH, message: new Uint8Array(3) });
    await rig.settle();
    rig.request(1).fails(STATUS.aborted, [["grpc-message", "50%25 done"]]);
    const { status, message, body } = await failed;
    assertEquals([status, message, body.length], [STATUS.aborted, "50% done", 0]);
  });
});

Deno.test("Client takes no reply for whole that is not", async () => {
  const cases: [string, Uint8Array[], status: number, message: string][] = [
    ["no message", [headers(1, RESPONSE), headers(1, TRAILERS, { endStream: true })], 13, "whole"],
    [
      "half a message",
      [
        headers(1, RESPONSE),
        data(1, framed("abcdef").subarray(0, 8)),
        headers(1, TRAILERS, { endStream: true }),
      ],
      13,
      "whole",
    ],
    [
      "two messages",
      [
        headers(1, RESPONSE),
        data(1, framed("a")),
        data(1, framed("b")),
        headers(1, TRAILERS, { endStream: true }),
      ],
      13,
      "whole",
    ],
    ["no trailers", [headers(1, RESPONSE), data(1, framed("a"), { endStream: true })], 13, "trail"],
    [
      "no status",
      [
        headers(1, RESPONSE),
        data(1, framed("a")),
        headers(1, [["x-other", "1"]], { endStream: true }),
      ],
      13,
      "grpc-status",
    ],
    ["HTTP 503", [headers(1, [[":status", "503"]], { endStream: true })], 14, "HTTP status 503"],
    ["a page", [headers(1, [[":status", "404"], ["content-type", "text/html"]])], 12, "404"],
    ["a broken head", [headers(1, [["x-no", "status"]])], 13, "without a status"],
  ];
  for (const [name, frames, status, message] of cases) {
    await withClient({}, async (rig) => {
      rig.call();
      await rig.settle();
      rig.servers[0]!.sends(...frames);
      await rig.settle();
      assertEquals(rig.endings.map(([code]) => code), [status], name);
      assertStringIncludes(rig.endings[0]![1], message, name);
    });
  }
});

Deno.test("Client waits past interim responses", async () => {
  await withClient({}, async (rig) => {
    rig.call();
    await rig.settle();
    rig.servers[0]!.sends(headers(1, [[":status", "103"]]));
    await rig.settle();
    assertEquals(rig.endings, []);
    rig.request(0).replies(["x"]);
    await rig.settle();
    assertEquals(rig.endings, [[STATUS.ok, ""]]);
  });
});

Deno.test("Client maps a reset to the status gRPC gives it", async () => {
  await withClient({}, async (rig) => {
    for (const code of [ERROR_CODE.refusedStream, ERROR_CODE.enhanceYourCalm]) {
      rig.call();
      await rig.settle();
      rig.request(-1).resets(code);
      await rig.settle();
    }
    assertEquals(rig.endings, [
      [STATUS.unavailable, "the stream was reset: REFUSED_STREAM"],
      [STATUS.resourceExhausted, "the stream was reset: ENHANCE_YOUR_CALM"],
    ]);
  });
});

Deno.test("Client opens no more streams than the peer allows, and the rest in order", async () => {
  await withClient({ settings: [[SETTING.maxConcurrentStreams, 2]] }, async (rig) => {
    for (let i = 0; i < 5; i++) rig.call(`${i}`);
    await rig.settle();
    const open = () => rig.servers[0]!.open.map(({ messages }) => messages[0]);
    assertEquals(open(), ["0", "1"]);
    rig.request(1).replies(["x"]);
    await rig.settle();
    assertEquals(open(), ["0", "2"]);
    rig.request(0).replies(["x"]);
    rig.request(2).replies(["x"]);
    await rig.settle();
    assertEquals(open(), ["3", "4"]);
    // The peer changes its mind.
    rig.servers[0]!.sends(settings([SETTING.maxConcurrentStreams, 0]));
    rig.call("5");
    rig.request(3).replies(["x"]);
    await rig.settle();
    assertEquals(open(), ["4"]);
  });
});

Deno.test("Client lets no call pass one that waits", async () => {
  await withClient({ settings: [[SETTING.maxConcurrentStreams, 1]] }, async (rig) => {
    const method = rig.client.method({ path: PATH });
    const body = (text: string) => requestBody(new TextEncoder().encode(text));
    // As a caller in a loop does: the next call from within the end of the last.
    rig.client.call(method, body("first"), () => void rig.call("third"));
    rig.call("second");
    await rig.settle();
    for (let i = 0; i < 3; i++) {
      rig.request(i).replies(["x"]);
      await rig.settle();
    }
    const asked = rig.requests.map(({ messages }) => messages[0]);
    assertEquals(asked, ["first", "second", "third"]);
  });
});

Deno.test("Client gives credit for what it was sent, so that large replies come whole", async () => {
  await withClient({}, async (rig) => {
    const call = rig.call();
    await rig.settle();
    const [request, server] = [rig.request(0), rig.servers[0]!];
    const bytes = framed(new Uint8Array(600_000));
    request.begins();
    let sent = 0;
    while (sent < bytes.length) {
      const to = Math.min(sent + 16_384, bytes.length);
      server.sends(data(1, bytes.subarray(sent, to)));
      sent = to;
      await rig.settle();
    }
    assert(request.seen.granted > 250_000, `${request.seen.granted} bytes of credit`);
    request.ends();
    await rig.settle();
    assertEquals([rig.endings, call.bodyBytes], [[[STATUS.ok, ""]], 600_005]);
  });
});

Deno.test("Client spreads calls over its connections", async () => {
  await withClient({ connections: 3 }, async (rig) => {
    for (let i = 0; i < 7; i++) rig.call();
    await rig.settle();
    assertEquals(rig.servers.map(({ requests }) => requests.length), [3, 2, 2]);
  });
});

Deno.test("Client fails what is above the last stream of a GOAWAY, and calls on elsewhere", async () => {
  await withClient({}, async (rig) => {
    rig.call("kept");
    rig.call("lost");
    await rig.settle();
    rig.servers[0]!.sends(goAway(1, ERROR_CODE.noError));
    await rig.settle();
    assertEquals(rig.endings, [[STATUS.unavailable, "the other side goes away: NO_ERROR"]]);

    rig.call("new");
    await rig.advance(1);
    assertEquals(rig.servers.length, 1, "not again so soon");
    await rig.advance(200);
    assertEquals(rig.servers[1]!.requests.map(({ messages }) => messages[0]), ["new"]);
    assert(!rig.servers[0]!.socket.isClosed, "a call is still under way on the first");
    rig.request(0).replies(["x"]);
    await rig.settle();
    assertEquals(rig.endings[1], [STATUS.ok, ""]);
    assert(rig.servers[0]!.socket.isClosed);
  });
});

Deno.test("Client fails the calls of a lost connection, and makes another when it is needed", async () => {
  await withClient({}, async (rig) => {
    rig.call();
    await rig.advance(1_000);
    rig.servers[0]!.socket.ends(new Error("Connection reset by peer"));
    await rig.settle();
    assertEquals(rig.endings, [[STATUS.unavailable, "Connection reset by peer"]]);
    await rig.advance(1_000);
    assertEquals(rig.servers.length, 1, "nobody calls");
    rig.call();
    await rig.settle();
    rig.request(1).replies(["x"]);
    await rig.settle();
    assertEquals(rig.endings[1], [STATUS.ok, ""]);
  });
});

Deno.test("Client fails waiting calls when no connection can be had, and tries at a measured pace", async () => {
  await withClient({}, async (rig) => {
    rig.servers[0]!.socket.ends();
    await rig.advance(1_000);
    rig.dialling = "Connection refused";
    rig.call();
    await rig.settle();
    const refused = "Cannot connect to server.test:80: Connection refused";
    assertEquals(rig.endings, [[STATUS.unavailable, refused]]);
    rig.call();
    rig.call();
    await rig.advance(50);
    assertEquals(rig.endings.length, 1, "the next attempt is not due yet");
    await rig.advance(100);
    assertEquals(rig.endings.length, 3);
    rig.dialling = "accepts";
    rig.call();
    await rig.advance(200);
    assertEquals(rig.servers[1]!.open.length, 1);
  });
});

Deno.test("Client lets calls wait on while another of its connections lives", async () => {
  const options = { connections: 2, settings: [[SETTING.maxConcurrentStreams, 1]] } as const;
  await withClient(options, async (rig) => {
    rig.servers[0]!.socket.ends();
    await rig.advance(1_000);
    rig.dialling = "Connection refused";
    rig.call("one");
    rig.call("two");
    await rig.advance(1_000);
    assertEquals(rig.endings, []);
    assertEquals(rig.servers[1]!.open.length, 1);
    rig.request(0).replies(["x"]);
    await rig.settle();
    rig.request(1).replies(["x"]);
    await rig.settle();
    assertEquals(rig.endings, [[STATUS.ok, ""], [STATUS.ok, ""]]);
  });
});

Deno.test("Client fails calls on a peer that breaks the protocol, with what was wrong", async () => {
  await withClient({}, async (rig) => {
    rig.call();
    await rig.settle();
    rig.servers[0]!.sends(data(0, "on the connection"));
    await rig.settle();
    assertEquals(rig.endings, [
      [STATUS.unavailable, "the other side broke the protocol: DATA on stream 0"],
    ]);
  });
});

Deno.test("Client ends a call some time after its deadline when the other side does not", async () => {
  await withClient({}, async (rig) => {
    const call = rig.call("slow", { deadlineMs: 100 });
    await rig.advance(300);
    assertEquals(rig.endings, [], "the other side may still say so");
    await rig.advance(100);
    assertEquals(rig.endings, [[STATUS.deadlineExceeded, "no answer by the deadline"]]);
    assert(call.latencyMs >= 350 && call.latencyMs < 400, `${call.latencyMs}`);
    assertEquals(rig.request(0).seen.reset, "CANCEL");
  });
});

Deno.test("Client gives a call that waited what is left of its deadline", async () => {
  await withClient({ settings: [[SETTING.maxConcurrentStreams, 1]] }, async (rig) => {
    rig.call();
    rig.call("second", { deadlineMs: 1_000 });
    await rig.advance(400);
    rig.request(0).replies(["x"]);
    await rig.settle();
    assertEquals(rig.request(1).fields.at(-1), ["grpc-timeout", "600m"]);
    rig.call("third", { deadlineMs: 100 });
    await rig.advance(400);
    assertEquals(rig.endings.map(([code]) => code), [0, 4], "it never had a stream");
    rig.request(1).replies(["x"]);
    await rig.settle();
    assertEquals(rig.requests.length, 2);
  });
});

Deno.test("Client.close cancels what is under way and what waits", async () => {
  const rig = new ClientRig({ settings: [[SETTING.maxConcurrentStreams, 1]] });
  const opened = rig.client.open();
  await rig.settle();
  await opened;
  rig.call();
  rig.call();
  await rig.settle();
  await rig.finish();
  const cancelled: [number, string] = [STATUS.cancelled, "the client was closed"];
  assertEquals(rig.endings, [cancelled, cancelled]);
  assertEquals(rig.servers[0]!.seen("GOAWAY"), []);
  rig.call();
  await rig.settle();
  assertEquals(rig.endings.length, 3, "a call after the end ends too");
});

Deno.test("openClient rejects when nobody listens, and when nobody speaks HTTP/2", async () => {
  const refusing = new ClientRig({});
  refusing.dialling = "Connection refused";
  await assertRejects(
    () => refusing.client.open(),
    Error,
    "Cannot connect to server.test:80: Connection refused",
  );
  await refusing.finish();

  const silent = new ClientRig({ settings: "silent" });
  const opened = silent.client.open();
  const failed = assertRejects(() => opened, Error, "no SETTINGS came in time");
  await silent.advance(5_010);
  await failed;
  await silent.finish();

  const { port, close } = closedPort();
  close();
  await assertRejects(() => openClient({ host: "127.0.0.1", port }), Error, "Cannot connect to");
});

/** A port that was just free. */
function closedPort(): { port: number; close: () => void } {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return { port: listener.addr.port, close: () => listener.close() };
}
