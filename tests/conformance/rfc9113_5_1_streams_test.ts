/** RFC 9113 §5.1: which frame may come in which state, and what a wrong one destroys. */

import { assert, assertEquals } from "@std/assert";
import { ERROR_CODE } from "../../lib/wire/mod.ts";
import {
  block,
  concat,
  data,
  goAway,
  headers,
  ping,
  priority,
  raw,
  REQUEST,
  RESPONSE,
  rstStream,
  TRAILERS,
  windowUpdate,
} from "../support/frames.ts";
import { logOf, ScriptedPeer } from "../support/scripted_peer.ts";

const { protocolError, streamClosed, refusedStream, cancel, noError, frameSizeError } = ERROR_CODE;

// ---- idle

for (
  const [what, frame] of [
    ["DATA", data(5, "x")],
    ["RST_STREAM", rstStream(5, cancel)],
    ["WINDOW_UPDATE", windowUpdate(5, 1)],
    ["WINDOW_UPDATE of 0", windowUpdate(5, 0)],
  ] as const
) {
  for (const role of ["client", "server"] as const) {
    Deno.test(`Connection as a ${role} fails with PROTOCOL_ERROR for ${what} on an idle stream`, () => {
      const peer = new ScriptedPeer(role);
      if (role === "client") peer.opens();
      else peer.sends(headers(3, REQUEST));
      peer.sends(frame);
      peer.expectsFailure(protocolError);
    });
  }
}

for (const streamId of [2, 4]) {
  Deno.test(`Connection as a server fails for HEADERS on stream ${streamId}, which is even`, () => {
    const peer = new ScriptedPeer("server");
    peer.sends(headers(streamId, REQUEST, { endStream: true }));
    peer.expectsFailure(protocolError);
  });
}

Deno.test("Connection as a client fails for HEADERS on a stream that it did not open", () => {
  for (const streamId of [2, 3, 99]) {
    const peer = new ScriptedPeer("client");
    peer.opens();
    peer.sends(headers(streamId, RESPONSE));
    peer.expectsFailure(protocolError);
  }
});

Deno.test("Connection takes PRIORITY in any state and does nothing about it", () => {
  const peer = new ScriptedPeer("server");
  peer.sends(priority(1), priority(2, 1), priority(99));
  peer.sends(headers(1, REQUEST, { endStream: true, dependsOn: 3 }));
  peer.sends(priority(1));
  peer.connection.reset(peer.stream(1), cancel);
  peer.sends(priority(1));
  peer.expects(rstStream(1, cancel));
  assertEquals(peer.sink.take().length, 1);
});

Deno.test("Connection answers a PRIORITY of a wrong size with a stream error (§6.3)", () => {
  const peer = new ScriptedPeer("server");
  peer.sends(headers(1, REQUEST), raw(0x2, { streamId: 1 }, new Uint8Array(4)));
  peer.expectsStreamFailure(1, frameSizeError);
});

Deno.test("Connection fails for a malformed PRIORITY on an idle stream, which may not be reset (§6.4)", () => {
  for (const role of ["server", "client"] as const) {
    for (const id of [2, 5]) {
      const short = new ScriptedPeer(role);
      short.sends(raw(0x2, { streamId: id }, new Uint8Array(4)));
      short.expects(goAway(0, frameSizeError, "a malformed PRIORITY on an idle stream"));
      const onItself = new ScriptedPeer(role);
      onItself.sends(priority(id, id));
      onItself.expects(goAway(0, protocolError, "a malformed PRIORITY on an idle stream"));
    }
  }
});

Deno.test("Connection fails for PRIORITY on stream 0 (§6.3)", () => {
  const peer = new ScriptedPeer("server");
  peer.sends(priority(0));
  peer.expectsFailure(protocolError);
});

Deno.test("Connection answers a stream that depends on itself with a stream error", () => {
  const opening = new ScriptedPeer("server");
  opening.sends(headers(1, REQUEST, { dependsOn: 1 }));
  opening.expectsStreamFailure(1, protocolError);
  const later = new ScriptedPeer("server");
  later.sends(headers(1, REQUEST), priority(1, 1));
  later.expectsStreamFailure(1, protocolError);
});

// ---- half-closed (remote)

for (
  const [what, frame] of [
    ["DATA", data(1, "x")],
    ["HEADERS", headers(1, TRAILERS, { endStream: true })],
  ] as const
) {
  Deno.test(`Connection answers ${what} after the end of the stream with STREAM_CLOSED`, () => {
    const peer = new ScriptedPeer("server");
    peer.sends(headers(1, REQUEST, { endStream: true }), frame);
    peer.expectsStreamFailure(1, streamClosed);
  });
}

Deno.test("Connection takes WINDOW_UPDATE and RST_STREAM after the end of the peer's side", () => {
  const peer = new ScriptedPeer("server");
  peer.sends(headers(1, REQUEST, { endStream: true }));
  peer.sink.take();
  peer.sends(windowUpdate(1, 5));
  peer.told();
  peer.sends(rstStream(1, cancel));
  peer.told({ event: "reset", streamId: 1, code: "CANCEL", byFault: false });
  peer.expects();
});

// ---- closed

Deno.test("Connection ignores what was under way for a stream that it has reset", () => {
  const peer = new ScriptedPeer("server");
  peer.sends(headers(1, REQUEST));
  peer.connection.reset(peer.stream(1), cancel);
  peer.expects(rstStream(1, cancel));
  peer.sink.take();
  peer.sends(
    data(1, "x"),
    windowUpdate(1, 1),
    windowUpdate(1, 0),
    headers(1, TRAILERS, { endStream: true }),
    rstStream(1, cancel),
  );
  peer.expects();
  peer.told();
});

Deno.test("Connection as a client ignores a reply under way for a stream that it has reset", () => {
  const peer = new ScriptedPeer("client");
  peer.connection.reset(peer.opens(), cancel);
  peer.expects(rstStream(1, cancel));
  peer.sends(
    headers(1, RESPONSE),
    data(1, "x"),
    headers(1, TRAILERS, { endStream: true }),
    rstStream(1, noError),
  );
  peer.expects();
  peer.told();
});

Deno.test("Connection as a client survives replies to more streams than it remembers to have reset", () => {
  const peer = new ScriptedPeer("client");
  const streams = Array.from({ length: 3_000 }, () => peer.opens());
  for (const stream of streams) peer.connection.reset(stream, cancel);
  peer.output();
  for (const { id } of streams) {
    peer.sends(
      headers(id, RESPONSE),
      data(id, "x"),
      headers(id, TRAILERS, { endStream: true }),
    );
  }
  assertEquals(peer.connection.failed, undefined);
  peer.told();
  peer.sends(ping(1));
  assertEquals(peer.output().at(-1)?.type, "PING ack");
});

Deno.test("Connection answers DATA on a stream that ended with STREAM_CLOSED, once", () => {
  const peer = new ScriptedPeer("server");
  peer.sends(headers(1, REQUEST, { endStream: true }));
  peer.connection.relay(peer.stream(1), logOf([{ headers: TRAILERS }]));
  peer.expects(headers(1, TRAILERS, { endStream: true }));
  assertEquals(peer.connection.openStreams, 0);
  peer.sink.take();
  peer.sends(data(1, "x"), data(1, "y"));
  peer.expects(rstStream(1, streamClosed));
  peer.told();
});

Deno.test("Connection answers DATA on a stream that the peer reset with STREAM_CLOSED", () => {
  const peer = new ScriptedPeer("server");
  peer.sends(headers(1, REQUEST), rstStream(1, cancel), data(1, "x"));
  peer.expects(rstStream(1, streamClosed));
});

Deno.test("Connection fails with STREAM_CLOSED for HEADERS on a stream that ended", () => {
  const ended = new ScriptedPeer("server");
  ended.sends(headers(1, REQUEST, { endStream: true }));
  ended.connection.relay(ended.stream(1), logOf([{ headers: TRAILERS }]));
  ended.sends(headers(1, TRAILERS, { endStream: true }));
  ended.expectsFailure(streamClosed);
  const reset = new ScriptedPeer("server");
  reset.sends(headers(1, REQUEST), rstStream(1, cancel), headers(1, TRAILERS, { endStream: true }));
  reset.expectsFailure(streamClosed);
});

Deno.test("Connection takes WINDOW_UPDATE and RST_STREAM on a stream that ended", () => {
  const peer = new ScriptedPeer("server");
  peer.sends(headers(1, REQUEST, { endStream: true }));
  peer.connection.relay(peer.stream(1), logOf([{ headers: TRAILERS }]));
  peer.output();
  peer.sink.take();
  peer.sends(windowUpdate(1, 1), rstStream(1, cancel));
  peer.expects();
  peer.told();
});

Deno.test("Connection fails with STREAM_CLOSED for a stream id that was passed over (§5.1.1)", () => {
  const peer = new ScriptedPeer("server");
  peer.sends(headers(5, REQUEST), headers(3, REQUEST));
  peer.expectsFailure(streamClosed);
});

Deno.test("Connection hears of a reset by the peer in every state, with any code", () => {
  for (const code of [noError, protocolError, cancel, 0xff, 2 ** 32 - 1]) {
    const names = ["NO_ERROR", "PROTOCOL_ERROR"];
    const name = names[code] ?? (code === cancel ? "CANCEL" : `UNKNOWN_${code}`);
    const peer = new ScriptedPeer("client");
    for (const endStream of [false, true]) {
      const { id } = peer.opens({ endStream });
      peer.sends(headers(id, RESPONSE));
      peer.sink.take();
      peer.sends(rstStream(id, code));
      peer.told({ event: "reset", streamId: id, code: name, byFault: false });
      peer.expects();
    }
    assertEquals(peer.connection.openStreams, 0);
  }
});

Deno.test("Connection fails for RST_STREAM on stream 0 or of a wrong size (§6.4)", () => {
  const zero = new ScriptedPeer("server");
  zero.sends(rstStream(0, cancel));
  zero.expectsFailure(protocolError);
  for (const size of [0, 3, 5]) {
    const peer = new ScriptedPeer("server");
    peer.sends(headers(1, REQUEST), raw(0x3, { streamId: 1 }, new Uint8Array(size)));
    peer.expectsFailure(frameSizeError);
  }
});

// ---- §5.1.2

Deno.test("Connection refuses streams above its limit with REFUSED_STREAM, and takes others after", () => {
  const peer = new ScriptedPeer("server");
  const limit = 4_096;
  const head = block(REQUEST);
  const opening = Array.from({ length: limit }, (_, i) => headers(2 * i + 1, head));
  peer.sends(concat(...opening));
  assertEquals(peer.connection.openStreams, limit);
  assertEquals(peer.sink.take().length, limit);
  const first = 2 * limit + 1;
  peer.sends(headers(first, REQUEST), data(first, "under way"), rstStream(first, cancel));
  peer.expects(rstStream(first, refusedStream));
  peer.told();
  peer.sends(rstStream(1, cancel), headers(first + 2, REQUEST));
  peer.expects();
  assertEquals(peer.sink.take().map(({ event }) => event), ["reset", "headers"]);
});

Deno.test("Connection as a client opens no more streams than the peer allows", () => {
  const peer = new ScriptedPeer("client", { settings: [[0x3, 2]] });
  const stream = peer.opens();
  peer.opens();
  assert(!peer.connection.canOpen);
  peer.connection.reset(stream, cancel);
  assert(peer.connection.canOpen);
});
