/** RFC 9113 §8: what a request and a response may look like. A bad one fails alone (§8.1.1). */

import { assertEquals } from "@std/assert";
import { ERROR_CODE } from "../../lib/wire/mod.ts";
import {
  block,
  concat,
  data,
  headers,
  type Pairs,
  ping,
  REQUEST,
  RESPONSE,
  rstStream,
  TRAILERS,
} from "../support/frames.ts";
import { hex } from "../support/hex.ts";
import { ScriptedPeer } from "../support/scripted_peer.ts";

const { protocolError, noError } = ERROR_CODE;

/** Fields that no message may have, wherever they stand (§8.2). */
const ILLEGAL_FIELDS: [what: string, field: [string, string]][] = [
  ["an upper-case name", ["X-Upper", "1"]],
  ["an empty name", ["", "1"]],
  ["a blank in a name", ["x y", "1"]],
  ["a colon within a name", ["x:y", "1"]],
  ["a name beyond ASCII", ["x\xe9", "1"]],
  ["connection", ["connection", "close"]],
  ["keep-alive", ["keep-alive", "timeout=5"]],
  ["proxy-connection", ["proxy-connection", "close"]],
  ["transfer-encoding", ["transfer-encoding", "chunked"]],
  ["upgrade", ["upgrade", "h2c"]],
  ["te of gzip", ["te", "gzip"]],
  ["NUL in a value", ["x", "a\0b"]],
  ["LF in a value", ["x", "a\nb"]],
  ["CR in a value", ["x", "a\rb"]],
  ["a control byte in a value", ["x", "a\x07b"]],
  ["an unknown pseudo-header", [":unknown", "1"]],
  ["a pseudo-header after a regular field", [":path", "/"]],
  ["an illegal per-call field", ["x-per-call", "a\0b"]],
];

const BAD_REQUESTS: [what: string, fields: Pairs][] = [
  ...ILLEGAL_FIELDS.map(([what, field]): [string, Pairs] => [what, [...REQUEST, field]]),
  ["no fields at all", []],
  ["no :method", without(REQUEST, ":method")],
  ["no :scheme", without(REQUEST, ":scheme")],
  ["no :path", without(REQUEST, ":path")],
  ["an empty :path", [...without(REQUEST, ":path").slice(0, 2), [":path", ""]]],
  ["its :path after a regular field", [...without(REQUEST, ":path"), [":path", "/"]]],
  ["two :method", [[":method", "POST"], ...REQUEST]],
  ["two :path", [[":path", "/"], ...REQUEST]],
  ["two :scheme", [[":scheme", "http"], ...REQUEST]],
  ["two :authority", [[":authority", "a"], ...REQUEST]],
  [":status", [[":status", "200"], ...REQUEST]],
  ["a pseudo-header that is upper-case", [[":Path", "/"], ...REQUEST]],
  ["a per-call field before a pseudo-header", [["x-per-call", "1"], ...REQUEST]],
  ["a content-length that is no number", [...REQUEST, ["content-length", "five"]]],
  ["an empty content-length", [...REQUEST, ["content-length", ""]]],
  ["a negative content-length", [...REQUEST, ["content-length", "-1"]]],
  ["a content-length with a sign", [...REQUEST, ["content-length", "+1"]]],
  ["a content-length beyond all measure", [...REQUEST, ["content-length", "9".repeat(20)]]],
  [
    "two content-lengths that differ",
    [...REQUEST, ["content-length", "1"], ["content-length", "2"]],
  ],
];

for (const [what, fields] of BAD_REQUESTS) {
  Deno.test(`Connection resets a request with ${what} and nothing else (§8)`, () => {
    const peer = new ScriptedPeer("server", { perCall: ["x-per-call"] });
    peer.sends(headers(1, REQUEST));
    peer.sink.take();
    // Twice, since a list is judged once; then a healthy one, and the one from before goes on.
    for (const id of [3, 5]) {
      peer.sends(headers(id, fields));
      peer.expectsStreamFailure(id, protocolError);
    }
    peer.sends(
      headers(7, REQUEST, { endStream: true }),
      data(1, "x", { endStream: true }),
      ping(1),
    );
    peer.expects(ping(1, { ack: true }));
    peer.told(
      { event: "headers", streamId: 7, fields: REQUEST, endStream: true },
      { event: "data", streamId: 1, text: "x", endStream: true },
    );
  });
}

const BAD_RESPONSES: [what: string, fields: Pairs][] = [
  ...ILLEGAL_FIELDS.map(([what, field]): [string, Pairs] => [what, [...RESPONSE, field]]),
  ["no fields at all", []],
  ["no :status", without(RESPONSE, ":status")],
  ["its :status after a regular field", [...RESPONSE.slice(1), [":status", "200"]]],
  ["two :status", [[":status", "200"], ...RESPONSE]],
  ["a :status of two digits", [[":status", "20"]]],
  ["a :status of four digits", [[":status", "2000"]]],
  ["a :status that is no number", [[":status", "2xx"]]],
  ["an empty :status", [[":status", ""]]],
  [":path", [...RESPONSE.slice(0, 1), [":path", "/"]]],
  ["a per-call field before a pseudo-header", [["x-per-call", "1"], ...RESPONSE]],
  ["two content-lengths", [...RESPONSE, ["content-length", "1"], ["content-length", "2"]]],
];

for (const [what, fields] of BAD_RESPONSES) {
  Deno.test(`Connection resets a response with ${what} and nothing else (§8)`, () => {
    const peer = new ScriptedPeer("client", { perCall: ["x-per-call"] });
    peer.opens();
    peer.sends(headers(1, RESPONSE));
    for (let i = 0; i < 2; i++) {
      const { id } = peer.opens();
      peer.sends(headers(id, fields));
      peer.expectsStreamFailure(id, protocolError);
    }
    peer.sends(data(1, "x"), headers(1, TRAILERS, { endStream: true }));
    peer.told(
      { event: "data", streamId: 1, text: "x", endStream: false },
      { event: "headers", streamId: 1, fields: TRAILERS, endStream: true },
    );
  });
}

for (
  const [what, fields] of [
    ...ILLEGAL_FIELDS.filter(([what]) => what !== "a pseudo-header after a regular field"),
    ["a pseudo-header", [":status", "200"]],
  ].map(([what, field]) => [what, [...TRAILERS, field]] as [string, Pairs])
) {
  Deno.test(`Connection resets a stream whose trailers have ${what} (§8.1)`, () => {
    const request = new ScriptedPeer("server", { perCall: ["x-per-call"] });
    request.sends(headers(1, REQUEST), data(1, "x"), headers(1, fields, { endStream: true }));
    request.expectsStreamFailure(1, protocolError);
    const response = new ScriptedPeer("client", { perCall: ["x-per-call"] });
    response.opens();
    response.sends(headers(1, RESPONSE), headers(1, fields, { endStream: true }));
    response.expectsStreamFailure(1, protocolError);
  });
}

Deno.test("Connection takes requests that look odd and are legal", () => {
  const odd: Pairs[] = [
    [[":path", "/"], [":scheme", "https"], [":method", "GET"]], // any order, no authority
    [[":method", "CONNECT"], [":authority", "a:1"]], // §8.5
    [[":method", "OPTIONS"], [":scheme", "http"], [":path", "*"]],
    [...REQUEST, ["cookie", "a"], ["cookie", "b"]],
    [...REQUEST, ["te", "trailers"]],
    [...REQUEST, ["x-empty", ""], ["x-high", "\xff\x80"]],
  ];
  const peer = new ScriptedPeer("server");
  odd.forEach((fields, i) => {
    peer.sends(headers(2 * i + 1, fields));
    peer.told({ event: "headers", streamId: 2 * i + 1, fields, endStream: false });
  });
  peer.expects();
});

Deno.test("Connection takes the same per-call fields that it keeps apart", () => {
  const peer = new ScriptedPeer("server", { perCall: ["x-per-call"] });
  peer.sends(headers(1, [...REQUEST, ["x-per-call", "1"], ["x", "2"], ["content-length", "0"]]));
  peer.told({
    event: "headers",
    streamId: 1,
    fields: [...REQUEST, ["x", "2"]],
    perCall: [["x-per-call", "1"], ["content-length", "0"]],
    endStream: false,
  });
});

Deno.test("Connection resets trailers that do not end the stream (§8.1)", () => {
  const request = new ScriptedPeer("server");
  request.sends(headers(1, REQUEST), headers(1, TRAILERS));
  request.expectsStreamFailure(1, protocolError);
  const response = new ScriptedPeer("client");
  response.opens();
  response.sends(headers(1, RESPONSE), headers(1, TRAILERS));
  response.expectsStreamFailure(1, protocolError);
});

Deno.test("Connection takes trailers without DATA, and a response that is trailers alone", () => {
  const peer = new ScriptedPeer("client");
  peer.opens({ endStream: true });
  peer.opens({ endStream: true });
  peer.sends(headers(1, RESPONSE), headers(1, TRAILERS, { endStream: true }));
  peer.sends(headers(3, [...RESPONSE, ...TRAILERS], { endStream: true }));
  assertEquals(peer.sink.take().length, 3);
  assertEquals(peer.connection.openStreams, 0);
  peer.expects();
});

// ---- interim responses

Deno.test("Connection tells of interim responses, as many as come, and waits for the final one", () => {
  const peer = new ScriptedPeer("client");
  peer.opens({ endStream: true });
  const early: Pairs = [[":status", "103"], ["link", "</a>"]];
  peer.sends(headers(1, [[":status", "100"]]), headers(1, early), headers(1, early));
  peer.told(
    { event: "headers", streamId: 1, fields: [[":status", "100"]], endStream: false },
    { event: "headers", streamId: 1, fields: early, endStream: false },
    { event: "headers", streamId: 1, fields: early, endStream: false },
  );
  assertEquals(peer.stream(1).headersReceived, false);
  peer.sends(headers(1, RESPONSE), data(1, "x", { endStream: true }));
  assertEquals(peer.sink.take().length, 2);
  peer.expects();
});

Deno.test("Connection resets an interim response that ends the stream, or DATA after one alone", () => {
  const ending = new ScriptedPeer("client");
  ending.opens();
  ending.sends(headers(1, [[":status", "100"]], { endStream: true }));
  ending.expectsStreamFailure(1, protocolError);
  const early = new ScriptedPeer("client");
  early.opens();
  early.sends(headers(1, [[":status", "100"]]), data(1, "x"));
  early.expectsStreamFailure(1, protocolError);
});

Deno.test("Connection resets a response that begins with DATA", () => {
  const peer = new ScriptedPeer("client");
  peer.opens();
  peer.sends(data(1, "x"));
  peer.expectsStreamFailure(1, protocolError);
});

// ---- content-length (§8.1.1)

for (
  const [declared, pieces, legal] of [
    ["0", [""], true],
    ["5", ["12345"], true],
    ["5", ["12", "", "345"], true],
    ["5", ["12345", ""], true],
    ["005", ["12345"], true],
    ["5", ["1234"], false],
    ["5", ["123456"], false],
    ["5", ["123", "456", "7"], false],
    ["5", [""], false],
    ["0", ["1"], false],
  ] as const
) {
  const verdict = legal ? "takes" : "resets";
  Deno.test(`Connection ${verdict} DATA of ${JSON.stringify(pieces)} for a length of ${declared}`, () => {
    for (const role of ["client", "server"] as const) {
      for (const byTrailers of [false, true]) {
        const peer = new ScriptedPeer(role);
        if (role === "client") peer.opens({ endStream: true });
        const head = role === "client" ? RESPONSE : REQUEST;
        peer.sends(headers(1, [...head, ["content-length", declared]]));
        pieces.forEach((text, i) =>
          peer.sends(data(1, text, { endStream: !byTrailers && i === pieces.length - 1 }))
        );
        if (byTrailers) peer.sends(headers(1, TRAILERS, { endStream: true }));
        const output = peer.output();
        const reset = { type: "RST_STREAM", streamId: 1, code: "PROTOCOL_ERROR" } as const;
        assertEquals(output.slice(0, 1), legal ? [] : [reset], peer.why);
        assertEquals(peer.connection.failed, undefined);
        assertEquals(peer.stream(1).remoteEnded, true);
      }
    }
  });
}

Deno.test("Connection resets DATA beyond content-length at once, before the stream ends", () => {
  const peer = new ScriptedPeer("server");
  peer.sends(headers(1, [...REQUEST, ["content-length", "3"]]), data(1, "123"));
  peer.expects();
  peer.sends(data(1, "4"));
  peer.expectsStreamFailure(1, protocolError);
});

Deno.test("Connection does not count padding in content-length", () => {
  const peer = new ScriptedPeer("server");
  peer.sends(headers(1, [...REQUEST, ["content-length", "3"]]));
  peer.sends(data(1, "123", { padding: 100, endStream: true }));
  peer.expects();
  assertEquals(peer.stream(1).remoteEnded, true);
});

Deno.test("Connection resets a head that ends the stream short of its content-length", () => {
  const peer = new ScriptedPeer("server");
  peer.sends(headers(1, [...REQUEST, ["content-length", "3"]], { endStream: true }));
  peer.expectsStreamFailure(1, protocolError);
  peer.sends(headers(3, [...REQUEST, ["content-length", "0"]], { endStream: true }));
  assertEquals(peer.sink.take().length, 1);
});

Deno.test("Connection takes one content-length said twice, indexed or never indexed", () => {
  const peer = new ScriptedPeer("server");
  const length = hex("0f 0d 01 33  1f 0d 01 33"); // by name index 28, then the same never indexed
  peer.sends(headers(1, concat(block(REQUEST), length)), data(1, "123", { endStream: true }));
  assertEquals(peer.sink.take().length, 2);
  peer.expects();
});

// ---- replies before the request ends (§8.1)

Deno.test("Connection as a server resets with NO_ERROR a request that it has answered early", () => {
  const peer = new ScriptedPeer("server");
  peer.sends(headers(1, REQUEST), data(1, "half"));
  peer.sink.take();
  peer.connection.sendFinalHeaders(peer.stream(1), peer.list([...RESPONSE, ...TRAILERS]).fields);
  peer.expects(
    headers(1, [...RESPONSE, ...TRAILERS], { endStream: true }),
    rstStream(1, noError),
  );
  assertEquals(peer.connection.openStreams, 0);
  peer.sends(data(1, "other half", { endStream: true }), rstStream(1, ERROR_CODE.cancel));
  peer.expects();
  peer.told();
});

Deno.test("Connection as a client resets with NO_ERROR a request that was answered early", () => {
  const peer = new ScriptedPeer("client");
  peer.opens();
  peer.sends(headers(1, [...RESPONSE, ...TRAILERS], { endStream: true }), rstStream(1, noError));
  peer.expects(rstStream(1, noError));
  peer.told({
    event: "headers",
    streamId: 1,
    fields: [...RESPONSE, ...TRAILERS],
    endStream: true,
  });
  assertEquals(peer.connection.openStreams, 0);
});

function without(fields: Pairs, name: string): Pairs {
  return fields.filter((field) => field[0] !== name);
}
