/** RFC 9113 §6.8: the graceful end. */

import { assert, assertEquals, assertFalse } from "@std/assert";
import { ERROR_CODE } from "../../lib/wire/mod.ts";
import { type SeenFrame } from "../support/frame_parser.ts";
import {
  data,
  goAway,
  headers,
  ping,
  PREFACE,
  raw,
  REQUEST,
  RESPONSE,
  rstStream,
  settings,
  settingsAck,
  TRAILERS,
} from "../support/frames.ts";
import { hex } from "../support/hex.ts";
import { logOf, ScriptedPeer } from "../support/scripted_peer.ts";

const NO_LAST_STREAM = 2 ** 31 - 1;
const { noError, refusedStream, cancel } = ERROR_CODE;

Deno.test("Connection.drain announces the end, serves what crossed it, then names the last stream", () => {
  const peer = new ScriptedPeer("server");
  peer.sends(headers(1, REQUEST, { endStream: true }));
  peer.connection.drain();
  assert(peer.connection.draining);
  const mark = drainMark(peer.output());

  // Opened before the peer heard of it, and so is served.
  peer.sends(headers(3, REQUEST, { endStream: true }));
  assertEquals(peer.sink.take().map(({ event }) => event), ["headers", "headers"]);

  assertFalse(peer.connection.drainFinished);
  peer.sends(ping(mark, { ack: true }));
  peer.expects(goAway(3, noError));
  peer.told();
  assert(peer.connection.drainFinished);

  // Opened after, and so is not.
  peer.sends(headers(5, REQUEST), data(5, "x"), headers(5, TRAILERS, { endStream: true }));
  peer.expects(rstStream(5, refusedStream));
  peer.told();

  for (const id of [1, 3]) {
    peer.connection.relay(peer.stream(id), logOf([{ headers: TRAILERS }]));
    peer.expects(headers(id, TRAILERS, { endStream: true }));
  }
  assertEquals(peer.connection.openStreams, 0);
});

Deno.test("Connection.drain is said once, and its answer counts once", () => {
  const peer = new ScriptedPeer("server");
  peer.connection.drain();
  const mark = drainMark(peer.output());
  peer.connection.drain();
  peer.expects();
  peer.sends(ping(mark, { ack: true }), ping(mark, { ack: true }));
  peer.expects(goAway(0, noError));
  peer.connection.finishDrain();
  peer.connection.drain();
  peer.expects();
});

Deno.test("Connection.drain tells its own mark from other answers to PING", () => {
  const peer = new ScriptedPeer("server");
  peer.connection.drain();
  const mark = drainMark(peer.output());
  for (let at = 0; at < 8; at++) {
    const other = mark.slice();
    other[at]! ^= 1;
    peer.sends(ping(other, { ack: true }));
    peer.told({ event: "pong" });
  }
  peer.sends(ping(mark)); // the peer's own, which happens to be the same
  peer.expects(ping(mark, { ack: true }));
  peer.sends(ping(mark, { ack: true }));
  peer.expects(goAway(0, noError));
});

Deno.test("Connection takes the mark for any other pong when it does not drain", () => {
  const peer = new ScriptedPeer("server");
  peer.sends(ping(hex("64 72 61 69 6e 00 00 00"), { ack: true }));
  peer.told({ event: "pong" });
  peer.expects();
});

Deno.test("Connection.finishDrain does not wait for the answer", () => {
  const peer = new ScriptedPeer("server");
  peer.sends(headers(1, REQUEST, { endStream: true }));
  peer.connection.finishDrain();
  peer.expects(goAway(1, noError));
  assert(peer.connection.draining);
  peer.sends(headers(3, REQUEST));
  peer.expects(rstStream(3, refusedStream));
});

Deno.test("Connection.drain before the peer's preface leaves a connection that works", () => {
  const peer = new ScriptedPeer("server", { settings: "none" });
  peer.connection.drain();
  const mark = drainMark(peer.output().slice(2));
  peer.sends(PREFACE, settings(), headers(1, REQUEST, { endStream: true }));
  peer.sends(ping(mark, { ack: true }));
  peer.expects(settingsAck(), goAway(1, noError));
  assertEquals(peer.sink.take().map(({ event }) => event), ["settings", "headers"]);
});

Deno.test("Connection goes on reading and writing after the final GOAWAY", () => {
  const peer = new ScriptedPeer("server");
  peer.sends(headers(1, REQUEST));
  peer.connection.finishDrain();
  peer.output();
  peer.sink.take();
  peer.sends(data(1, "x", { endStream: true }), ping(1), settings());
  peer.expects(ping(1, { ack: true }), settingsAck());
  peer.told(
    { event: "data", streamId: 1, text: "x", endStream: true },
    { event: "settings" },
  );
});

Deno.test("Connection as a client opens nothing while it drains, and hears its replies out", () => {
  const peer = new ScriptedPeer("client");
  peer.opens({ endStream: true });
  peer.connection.drain();
  assert(!peer.connection.canOpen);
  drainMark(peer.output());
  peer.sends(headers(1, RESPONSE), headers(1, TRAILERS, { endStream: true }));
  assertEquals(peer.sink.take().length, 2);
  assertEquals(peer.connection.openStreams, 0);
});

Deno.test("Connection.fail names the last stream that the peer opened", () => {
  const peer = new ScriptedPeer("server");
  peer.sends(headers(1, REQUEST), headers(7, REQUEST), rstStream(7, cancel));
  peer.output();
  peer.sends(raw(0x6, {}, new Uint8Array(3)));
  peer.expects(goAway(7, ERROR_CODE.frameSizeError));
});

Deno.test("Connection.fail names no stream above the one that an earlier GOAWAY named", () => {
  const peer = new ScriptedPeer("server");
  peer.sends(headers(1, REQUEST, { endStream: true }));
  peer.connection.finishDrain();
  peer.sends(headers(7, REQUEST, { endStream: true })); // refused, and used up all the same
  peer.output();
  peer.sends(raw(0x6, {}, new Uint8Array(3)));
  peer.expects(goAway(1, ERROR_CODE.frameSizeError));
});

Deno.test("Connection.fail puts only printable characters on the wire and keeps the rest for the log", () => {
  const peer = new ScriptedPeer("server");
  peer.connection.fail(ERROR_CODE.internalError, "a \u00e9\n\u2028z");
  const bytes = peer.outputBytes();
  assertEquals(new TextDecoder().decode(bytes.subarray(17)), "a ???z");
  assertEquals(peer.connection.failed?.why, "a \u00e9\n\u2028z");
  peer.connection.fail(ERROR_CODE.cancel, "again");
  peer.expects();
  assertEquals(peer.sink.take().length, 1, "the sink hears it once");
});

/** The opaque bytes by which the peer's answer is known; checks that GOAWAY and PING are all there is. */
function drainMark(output: SeenFrame[]): Uint8Array {
  const [first, second, ...rest] = output;
  assertEquals(first, { type: "GOAWAY", lastStreamId: NO_LAST_STREAM, code: "NO_ERROR" });
  assertEquals(rest, []);
  if (second?.type !== "PING") throw new Error(`Cannot take ${second?.type} for PING`);
  return hex(second.opaque);
}
