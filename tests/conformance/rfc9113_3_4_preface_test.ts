/** RFC 9113 §3.4: how a connection begins. */

import { assertEquals } from "@std/assert";
import { ERROR_CODE, FRAME, SETTING } from "../../lib/wire/mod.ts";
import { everyCut } from "../support/cuts.ts";
import { FrameParser } from "../support/frame_parser.ts";
import {
  concat,
  data,
  headers,
  ping,
  PREFACE,
  raw,
  REQUEST,
  settings,
  settingsAck,
  windowUpdate,
} from "../support/frames.ts";
import { ScriptedPeer } from "../support/scripted_peer.ts";

const ROLES = ["client", "server"] as const;

Deno.test("Connection as a client opens with the preface and SETTINGS that switch push off", () => {
  const peer = new ScriptedPeer("client", { settings: "none" });
  // The peer checks the preface itself.
  const [first, second, ...rest] = peer.output();
  if (first?.type !== "SETTINGS") throw new Error(`Cannot take ${first?.type} for SETTINGS`);
  assertEquals(new Map(first.settings).get(SETTING.enablePush), 0);
  assertEquals(second, { type: "WINDOW_UPDATE", streamId: 0, increment: 2 ** 20 - 65_535 });
  assertEquals(rest, []);
});

Deno.test("Connection as a server opens with SETTINGS before it has read anything", () => {
  const peer = new ScriptedPeer("server", { settings: "none" });
  const [first] = peer.output();
  if (first?.type !== "SETTINGS") throw new Error(`Cannot take ${first?.type} for SETTINGS`);
  const announced = new Map(first.settings);
  assertEquals(announced.get(SETTING.enablePush), undefined, "a server may not send it but as 0");
  assertEquals(announced.get(SETTING.maxHeaderListSize), 65_536);
});

Deno.test("Connection as a server takes the preface cut at any byte", () => {
  for (const pieces of everyCut(concat(PREFACE, settings(), ping(1)))) {
    const peer = new ScriptedPeer("server", { settings: "none" });
    peer.output();
    for (const piece of pieces) peer.sends(piece);
    peer.expects(settingsAck(), ping(1, { ack: true }));
    peer.told({ event: "settings" });
  }
});

Deno.test("Connection as a server fails with PROTOCOL_ERROR at the first wrong byte of the preface", () => {
  for (let at = 0; at < PREFACE.length; at++) {
    const wrong = PREFACE.slice(0, at + 1);
    wrong[at]! ^= 0x20;
    const peer = new ScriptedPeer("server", { settings: "none" });
    peer.sends(wrong);
    peer.expectsFailure(ERROR_CODE.protocolError);
  }
});

Deno.test("Connection as a server says nothing more after a wrong preface", () => {
  const peer = new ScriptedPeer("server", { settings: "none" });
  peer.sends(new TextEncoder().encode("EHLO a.test\r\n"));
  peer.expectsFailure(ERROR_CODE.protocolError);
  peer.sends(PREFACE, settings(), headers(1, REQUEST, { endStream: true }));
  peer.expects();
  peer.told();
});

for (const role of ROLES) {
  const preface = role === "server" ? PREFACE : new Uint8Array(0);

  for (
    const [what, first] of [
      ["PING", ping(1)],
      ["WINDOW_UPDATE", windowUpdate(0, 1)],
      ["HEADERS", headers(1, REQUEST)],
      ["DATA", data(1, "x")],
      ["an acknowledgement of SETTINGS", settingsAck()],
      ["a frame of unknown type", raw(0x42, {})],
    ] as const
  ) {
    Deno.test(`Connection as a ${role} refuses a peer that begins with ${what}`, () => {
      const peer = new ScriptedPeer(role, { settings: "none" });
      peer.sends(concat(preface, first));
      peer.expectsFailure(ERROR_CODE.protocolError);
    });
  }

  Deno.test(`Connection as a ${role} acknowledges SETTINGS and is ready only then`, () => {
    const peer = new ScriptedPeer(role, { settings: "none" });
    peer.output();
    peer.sends(preface);
    assertEquals(peer.connection.ready, false);
    peer.sends(settings([SETTING.maxFrameSize, 20_000]));
    assertEquals(peer.connection.ready, true);
    peer.expects(settingsAck());
    peer.told({ event: "settings" });
  });

  Deno.test(`Connection as a ${role} writes a handshake that its own reader takes`, () => {
    const out = new ScriptedPeer(role, { settings: "none" }).outputBytes();
    assertEquals(new FrameParser().read(out).map(({ type }) => type), [
      "SETTINGS",
      "WINDOW_UPDATE",
    ]);
    assertEquals(out[3], FRAME.settings);
  });
}
