/** RFC 9113 §6: what is wrong with a frame by itself, and PING, PUSH_PROMISE. */

import { assertEquals } from "@std/assert";
import { ERROR_CODE, FLAG, FRAME } from "../../lib/wire/mod.ts";
import {
  data,
  goAway,
  headers,
  pattern,
  ping,
  pushPromise,
  raw,
  REQUEST,
  RESPONSE,
  settings,
  settingsAck,
  windowUpdate,
} from "../support/frames.ts";
import { hex } from "../support/hex.ts";
import { ScriptedPeer } from "../support/scripted_peer.ts";

const ROLES = ["client", "server"] as const;
const { protocolError, frameSizeError, flowControlError } = ERROR_CODE;
const PADDED = { streamId: 1, flags: FLAG.padded | FLAG.endHeaders };
const WITH_PRIORITY = { streamId: 1, flags: FLAG.priority | FLAG.endHeaders };

/** Frames that end the connection, each with its code and section. */
const FATAL: [what: string, section: string, code: number, frame: Uint8Array][] = [
  ["DATA on stream 0", "§6.1", protocolError, data(0, "x")],
  [
    "DATA with as much padding as it is long",
    "§6.1",
    protocolError,
    raw(FRAME.data, { streamId: 1, flags: FLAG.padded }, hex("03 00 00")),
  ],
  [
    "DATA with more padding than it is long",
    "§6.1",
    protocolError,
    raw(FRAME.data, { streamId: 1, flags: FLAG.padded }, hex("ff 00")),
  ],
  [
    "DATA with a padding flag and no length of it",
    "§6.1",
    frameSizeError,
    raw(FRAME.data, { streamId: 1, flags: FLAG.padded }),
  ],
  ["HEADERS on stream 0", "§6.2", protocolError, headers(0, REQUEST)],
  [
    "HEADERS with more padding than is left",
    "§6.2",
    protocolError,
    raw(FRAME.headers, PADDED, hex("03 82 00")),
  ],
  [
    "HEADERS with a padding flag and no length of it",
    "§6.2",
    frameSizeError,
    raw(FRAME.headers, PADDED),
  ],
  [
    "HEADERS too short for their priority",
    "§6.2",
    frameSizeError,
    raw(FRAME.headers, WITH_PRIORITY, hex("00 00 00 03")),
  ],
  ["SETTINGS on a stream", "§6.5", protocolError, raw(FRAME.settings, { streamId: 1 })],
  ["SETTINGS of five bytes", "§6.5", frameSizeError, raw(FRAME.settings, {}, new Uint8Array(5))],
  ["SETTINGS of seven bytes", "§6.5", frameSizeError, raw(FRAME.settings, {}, new Uint8Array(7))],
  [
    "an acknowledgement of SETTINGS with a payload",
    "§6.5",
    frameSizeError,
    raw(FRAME.settings, { flags: FLAG.ack }, new Uint8Array(6)),
  ],
  ["PING on a stream", "§6.7", protocolError, raw(FRAME.ping, { streamId: 1 }, new Uint8Array(8))],
  ["PING of seven bytes", "§6.7", frameSizeError, raw(FRAME.ping, {}, new Uint8Array(7))],
  ["PING of nine bytes", "§6.7", frameSizeError, raw(FRAME.ping, {}, new Uint8Array(9))],
  [
    "an answer to PING of a wrong size",
    "§6.7",
    frameSizeError,
    raw(FRAME.ping, { flags: FLAG.ack }, new Uint8Array(0)),
  ],
  [
    "GOAWAY on a stream",
    "§6.8",
    protocolError,
    raw(FRAME.goAway, { streamId: 1 }, new Uint8Array(8)),
  ],
  ["GOAWAY of seven bytes", "§6.8", frameSizeError, raw(FRAME.goAway, {}, new Uint8Array(7))],
  [
    "WINDOW_UPDATE of three bytes",
    "§6.9",
    frameSizeError,
    raw(FRAME.windowUpdate, {}, new Uint8Array(3)),
  ],
  [
    "WINDOW_UPDATE of five bytes on a stream",
    "§6.9",
    frameSizeError,
    raw(FRAME.windowUpdate, { streamId: 1 }, new Uint8Array(5)),
  ],
  ["WINDOW_UPDATE of 0 on the connection", "§6.9", protocolError, windowUpdate(0, 0)],
  [
    "WINDOW_UPDATE of 0 but for the reserved bit",
    "§6.9",
    protocolError,
    raw(FRAME.windowUpdate, {}, hex("80 00 00 00")),
  ],
  [
    "a connection window beyond 2^31-1",
    "§6.9.1",
    flowControlError,
    windowUpdate(0, 2 ** 31 - 65_535),
  ],
  ["PUSH_PROMISE", "§8.4", protocolError, pushPromise(1, 2, REQUEST)],
];

for (const role of ROLES) {
  for (const [what, section, code, frame] of FATAL) {
    Deno.test(`Connection as a ${role} fails for ${what} (${section})`, () => {
      const peer = new ScriptedPeer(role);
      if (role === "client") {
        peer.opens();
        if (frame[3] !== FRAME.headers) peer.sends(headers(1, RESPONSE));
      } else if (frame[3] !== FRAME.headers) {
        peer.sends(headers(1, REQUEST));
      }
      peer.sends(frame);
      peer.expectsFailure(code);
      peer.sends(ping(1), settings(), headers(7, REQUEST));
      peer.expects();
      peer.told();
    });
  }

  Deno.test(`Connection as a ${role} answers PING with its bytes, each once and in order (§6.7)`, () => {
    const peer = new ScriptedPeer(role);
    peer.sends(ping(pattern(8)), ping(2), ping(3));
    peer.expects(
      ping(pattern(8), { ack: true }),
      ping(2, { ack: true }),
      ping(3, { ack: true }),
    );
    peer.told();
  });

  Deno.test(`Connection as a ${role} tells of the answer to its own PING and answers it not`, () => {
    const peer = new ScriptedPeer(role);
    peer.connection.ping(pattern(8));
    peer.expects(ping(pattern(8)));
    peer.sends(ping(pattern(8), { ack: true }));
    peer.expects();
    peer.told({ event: "pong" });
  });

  Deno.test(`Connection as a ${role} answers a WINDOW_UPDATE of 0 on a stream with a stream error`, () => {
    const peer = new ScriptedPeer(role);
    if (role === "client") peer.opens();
    else peer.sends(headers(1, REQUEST));
    peer.sends(windowUpdate(1, 0));
    peer.expectsStreamFailure(1, protocolError);
  });

  Deno.test(`Connection as a ${role} answers a stream window beyond 2^31-1 with a stream error`, () => {
    const peer = new ScriptedPeer(role);
    if (role === "client") peer.opens();
    else peer.sends(headers(1, REQUEST));
    peer.sends(windowUpdate(1, 2 ** 31 - 1 - 65_535)); // the largest there is
    peer.expects();
    peer.sends(windowUpdate(1, 1));
    peer.expectsStreamFailure(1, flowControlError);
  });

  Deno.test(`Connection as a ${role} takes the largest connection window there is`, () => {
    const peer = new ScriptedPeer(role);
    peer.sends(windowUpdate(0, 2 ** 31 - 1 - 65_535));
    peer.expects();
    peer.sends(windowUpdate(0, 1));
    peer.expectsFailure(flowControlError);
  });

  Deno.test(`Connection as a ${role} tells of GOAWAY with all it says, and goes on (§6.8)`, () => {
    const peer = new ScriptedPeer(role);
    peer.sends(
      goAway(2 ** 31 - 1, 0, "soon"),
      goAway(0, ERROR_CODE.enhanceYourCalm, "too_many_pings"),
    );
    peer.expects();
    peer.told(
      { event: "goAway", lastStreamId: 2 ** 31 - 1, code: "NO_ERROR", debug: "soon" },
      { event: "goAway", lastStreamId: 0, code: "ENHANCE_YOUR_CALM", debug: "too_many_pings" },
    );
    assertEquals(peer.connection.peerLastStreamId, 0);
    peer.sends(ping(1), settings());
    peer.expects(ping(1, { ack: true }), settingsAck());
  });
}

Deno.test("Connection as a client opens no stream after GOAWAY, and finishes those it has", () => {
  const peer = new ScriptedPeer("client");
  peer.opens({ endStream: true });
  peer.sends(goAway(1, 0));
  assertEquals(peer.connection.canOpen, false);
  peer.sink.take();
  peer.sends(headers(1, RESPONSE), data(1, "x", { endStream: true }));
  assertEquals(peer.sink.take().map(({ event }) => event), ["headers", "data"]);
  assertEquals(peer.connection.openStreams, 0);
});

Deno.test("Connection takes HEADERS with padding and priority as without (§6.2)", () => {
  for (const padding of [undefined, 0, 1, 255]) {
    for (const dependsOn of [undefined, 0, 3]) {
      const peer = new ScriptedPeer("server");
      peer.sends(
        headers(1, REQUEST, {
          endStream: true,
          ...(padding !== undefined && { padding }),
          ...(dependsOn !== undefined && { dependsOn }),
        }),
      );
      peer.told({ event: "headers", streamId: 1, fields: REQUEST, endStream: true });
      peer.expects();
    }
  }
});

Deno.test("Connection takes DATA with padding as without (§6.1)", () => {
  for (const padding of [0, 1, 255]) {
    for (const text of ["", "x", "many"]) {
      const peer = new ScriptedPeer("server");
      peer.sends(headers(1, REQUEST));
      peer.sink.take();
      peer.sends(data(1, text, { padding }), data(1, "", { padding, endStream: true }));
      peer.told(
        { event: "data", streamId: 1, text, endStream: false },
        { event: "data", streamId: 1, text: "", endStream: true },
      );
    }
  }
});
