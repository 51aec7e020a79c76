/** RFC 9113 §4: frame format, frame size, field blocks; §5.5: extensions. */

import { assertEquals } from "@std/assert";
import { ERROR_CODE, FLAG, FRAME } from "../../lib/wire/mod.ts";
import {
  block,
  blockOf,
  concat,
  continuation,
  data,
  headers,
  pattern,
  ping,
  priority,
  pushPromise,
  raw,
  REQUEST,
  RESPONSE,
  rstStream,
  settings,
  splitBlock,
  windowUpdate,
} from "../support/frames.ts";
import { hex } from "../support/hex.ts";
import { ScriptedPeer } from "../support/scripted_peer.ts";

const ROLES = ["client", "server"] as const;

for (const role of ROLES) {
  Deno.test(`Connection as a ${role} ignores frames of unknown types, wherever they come (§5.5)`, () => {
    const peer = new ScriptedPeer(role);
    for (const type of [0x0a, 0x0c, 0x42, 0xff]) {
      peer.sends(raw(type, { flags: 0xff, streamId: 0 }, pattern(20)));
      peer.sends(raw(type, { flags: 0xff, streamId: 99 }));
      peer.sends(raw(type, { streamId: 2 ** 31 - 1 }, pattern(16_384)));
    }
    peer.expects();
    peer.told();
  });

  Deno.test(`Connection as a ${role} ignores flags that a frame does not have (§4.1)`, () => {
    const peer = new ScriptedPeer(role);
    peer.sends(raw(FRAME.ping, { flags: 0xfe }, pattern(8)));
    peer.expects(ping(pattern(8), { ack: true }));
  });

  Deno.test(`Connection as a ${role} ignores the reserved bit of a stream id (§4.1)`, () => {
    const peer = new ScriptedPeer(role);
    peer.sends(raw(FRAME.ping, { streamId: 2 ** 31 }, pattern(8)));
    peer.expects(ping(pattern(8), { ack: true }));
  });

  for (
    const [what, frame] of [
      ["SETTINGS", raw(FRAME.settings, {}, pattern(16_386))],
      ["an unknown type", raw(0x42, {}, pattern(16_385))],
      ["HEADERS", raw(FRAME.headers, { streamId: 1, flags: FLAG.endHeaders }, pattern(16_385))],
      ["DATA", raw(FRAME.data, { streamId: 1 }, pattern(16_385))],
    ] as const
  ) {
    Deno.test(`Connection as a ${role} refuses ${what} of more than 16,384 bytes (§4.2)`, () => {
      const peer = new ScriptedPeer(role);
      peer.sends(frame.subarray(0, 9));
      peer.expectsFailure(ERROR_CODE.frameSizeError);
    });
  }

  Deno.test(`Connection as a ${role} fails with COMPRESSION_ERROR for a broken block (§4.3)`, () => {
    for (const wire of ["80", "be", "00 01", "3f e2 1f", "ff ff ff ff ff ff"]) {
      const peer = new ScriptedPeer(role);
      if (role === "client") peer.opens();
      peer.sends(headers(1, hex(wire)));
      peer.expectsFailure(ERROR_CODE.compressionError);
    }
  });

  const head = role === "server" ? REQUEST : RESPONSE;
  for (
    const [what, frame] of [
      ["DATA", data(1, "x")],
      ["DATA of another stream", data(3, "x")],
      ["HEADERS", headers(1, head)],
      ["HEADERS of another stream", headers(3, head)],
      ["PRIORITY", priority(1)],
      ["RST_STREAM", rstStream(1, ERROR_CODE.cancel)],
      ["SETTINGS", settings()],
      ["PUSH_PROMISE", pushPromise(1, 2, head)],
      ["PING", ping(1)],
      ["WINDOW_UPDATE", windowUpdate(0, 1)],
      ["a frame of unknown type", raw(0x42, { streamId: 1 })],
      ["CONTINUATION of another stream", continuation(3, block([]))],
      ["CONTINUATION on stream 0", continuation(0, block([]))],
    ] as const
  ) {
    Deno.test(`Connection as a ${role} refuses ${what} within a header block (§4.3)`, () => {
      const peer = new ScriptedPeer(role);
      if (role === "client") peer.opens();
      peer.sends(headers(1, block(head), { endHeaders: false }));
      peer.expects();
      peer.sends(frame);
      peer.expectsFailure(ERROR_CODE.protocolError);
      assertEquals(peer.sink.streams.get(1)?.headersReceived ?? false, false);
    });
  }

  Deno.test(`Connection as a ${role} refuses CONTINUATION without HEADERS (§6.10)`, () => {
    for (const streamId of [0, 1, 2]) {
      const peer = new ScriptedPeer(role);
      if (role === "client") peer.opens();
      peer.sends(continuation(streamId, block(head)));
      peer.expectsFailure(ERROR_CODE.protocolError);
    }
    const peer = new ScriptedPeer(role);
    if (role === "client") peer.opens();
    peer.sends(headers(1, head), continuation(1, block(head)));
    peer.expectsFailure(ERROR_CODE.protocolError);
  });

  Deno.test(`Connection as a ${role} joins a block from CONTINUATION frames of any size`, () => {
    const fields = [...head, ["x-long", "v".repeat(500)]] as const;
    for (const size of [1, 2, 17, 100, 300, 16_384]) {
      const bytes = block(fields);
      if (bytes.length / size > 33) continue;
      const peer = new ScriptedPeer(role);
      if (role === "client") peer.opens();
      peer.sends(splitBlock(1, bytes, { size }));
      assertEquals(peer.sink.take(), [
        { event: "headers", streamId: 1, fields, endStream: false },
      ]);
    }
  });

  Deno.test(`Connection as a ${role} joins a block from frames of which some are empty`, () => {
    const peer = new ScriptedPeer(role);
    if (role === "client") peer.opens();
    const bytes = block(head);
    peer.sends(
      headers(1, bytes.subarray(0, 0), { endHeaders: false, padding: 7 }),
      continuation(1, bytes.subarray(0, 5), { endHeaders: false }),
      continuation(1, bytes.subarray(5), { endHeaders: false }),
      continuation(1, bytes.subarray(0, 0)),
    );
    peer.expects();
    assertEquals(peer.sink.take().length, 1);
  });

  Deno.test(`Connection as a ${role} ends a flood of CONTINUATION with ENHANCE_YOUR_CALM`, () => {
    const peer = new ScriptedPeer(role);
    if (role === "client") peer.opens();
    peer.sends(headers(1, block([]), { endHeaders: false }));
    let frames = 0;
    while (peer.connection.failed === undefined && frames < 1_000) {
      peer.sends(continuation(1, block([]), { endHeaders: false }));
      frames++;
    }
    assertEquals(frames, 33);
    peer.expectsFailure(ERROR_CODE.enhanceYourCalm);
  });

  Deno.test(`Connection as a ${role} ends a block without end by bytes too`, () => {
    const peer = new ScriptedPeer(role);
    if (role === "client") peer.opens();
    peer.sends(headers(1, new Uint8Array(16_384), { endHeaders: false }));
    let frames = 1;
    while (peer.connection.failed === undefined && frames < 1_000) {
      peer.sends(continuation(1, new Uint8Array(16_384), { endHeaders: false }));
      frames++;
    }
    assertEquals(frames, 33, "512 KiB are 32 whole frames");
    peer.expectsFailure(ERROR_CODE.enhanceYourCalm);
  });

  Deno.test(`Connection as a ${role} flags a list beyond 64 KiB and goes on`, () => {
    const peer = new ScriptedPeer(role);
    if (role === "client") peer.opens();
    peer.sends(splitBlock(1, blockOf(200_000, head)));
    peer.expects();
    const [event] = peer.sink.take();
    assertEquals(event?.event === "headers" && event.tooLarge, true);
    peer.sends(data(1, "more"), ping(3));
    peer.expects(ping(3, { ack: true }));
    assertEquals(peer.connection.failed, undefined);
  });
}

Deno.test("Connection keeps its compression right for a block that it refuses (§4.3)", () => {
  const peer = new ScriptedPeer("server");
  const inserts = concat(block(REQUEST), hex("40 01 78 01 31")); // x: 1 goes into the table
  peer.sends(headers(1, concat(inserts, block([["BAD", ""]]))));
  peer.expectsStreamFailure(1, ERROR_CODE.protocolError);
  peer.sends(headers(3, concat(block(REQUEST), hex("be"))));
  const [event] = peer.sink.take();
  assertEquals(event?.event === "headers" && event.fields.at(-1), ["x", "1"]);
});

Deno.test("Connection keeps its compression right for a block of a stream it has reset (§5.1)", () => {
  const peer = new ScriptedPeer("client");
  const stream = peer.opens();
  peer.connection.reset(stream, ERROR_CODE.cancel);
  peer.expects(rstStream(1, ERROR_CODE.cancel));
  peer.opens();
  peer.sends(headers(1, concat(block(RESPONSE), hex("40 01 78 01 31"))));
  peer.told();
  peer.sends(headers(3, concat(block(RESPONSE), hex("be"))));
  const [event] = peer.sink.take();
  assertEquals(event?.event === "headers" && event.fields.at(-1), ["x", "1"]);
});
