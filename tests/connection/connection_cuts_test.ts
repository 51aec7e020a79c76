import { assert, assertEquals } from "@std/assert";
import { ERROR_CODE, FrameLog, SETTING } from "../../lib/wire/mod.ts";
import { everyCut, randomCuts } from "../support/cuts.ts";
import { FrameParser } from "../support/frame_parser.ts";
import {
  block,
  concat,
  continuation,
  data,
  goAway,
  headers,
  pattern,
  ping,
  PREFACE,
  priority,
  raw,
  REQUEST,
  RESPONSE,
  rstStream,
  settings,
  settingsAck,
  splitBlock,
  TRAILERS,
  windowUpdate,
} from "../support/frames.ts";
import { hex, toHex } from "../support/hex.ts";
import type { SinkEvent } from "../support/recording_sink.ts";
import { logOf, ScriptedPeer } from "../support/scripted_peer.ts";

/** What a peer says on streams that are there already, of every kind, legal and not. */
function body(head: Uint8Array): Uint8Array[] {
  return [
    ping(1),
    splitBlock(1, concat(head, hex("40 01 78 01 31")), { size: 40 }), // CONTINUATION, and x: 1 inserted
    data(1, "first"),
    settings([SETTING.initialWindowSize, 20], [SETTING.headerTableSize, 0]),
    headers(3, concat(head, hex("be")), { padding: 3, dependsOn: 1 }), // x: 1 from the table
    data(3, "padded", { padding: 20 }),
    data(1, "second", { endStream: true }),
    windowUpdate(3, 7),
    headers(5, concat(head, block([["Bad", "1"]]))),
    raw(0x55, { flags: 0xff, streamId: 3 }, pattern(30)),
    data(5, "after the fault"),
    priority(3),
    settings([SETTING.initialWindowSize, 60]),
    headers(7, head),
    rstStream(7, ERROR_CODE.cancel),
    settingsAck(),
    headers(3, TRAILERS, { endStream: true }),
    windowUpdate(0, 1_000),
    ping(2, { ack: true }),
    goAway(0, ERROR_CODE.noError, "bye"),
  ];
}

const REPLY = logOf([{ headers: RESPONSE }, { data: pattern(50) }, { headers: TRAILERS }]);

const CONVERSATIONS: Record<string, { open: () => ScriptedPeer; wire: Uint8Array }> = {
  "a client's": { open: openServer, wire: concat(PREFACE, settings(), ...body(block(REQUEST))) },
  "a client's that ends in a fault": {
    open: openServer,
    wire: concat(
      PREFACE,
      settings(),
      headers(1, REQUEST),
      continuation(1, block(TRAILERS)),
      ping(1),
    ),
  },
  "a client's with a frame too long": {
    open: openServer,
    wire: concat(PREFACE, settings(), ping(1), raw(0, { streamId: 1 }, new Uint8Array(16_385)))
      .subarray(0, 120),
  },
  "a server's": { open: openClient, wire: concat(settings(), ...body(block(RESPONSE))) },
};

for (const [whose, { open, wire }] of Object.entries(CONVERSATIONS)) {
  Deno.test(`Connection makes the same of ${whose} conversation for every cut in two and into bytes`, () => {
    const expected = hearAll(open(), [wire]);
    for (const pieces of everyCut(wire)) {
      assertEquals(hearAll(open(), pieces), expected, `cut at ${pieces[0]?.length}`);
    }
  });

  Deno.test(`Connection makes the same of ${whose} conversation at 200 random cuts`, () => {
    const expected = hearAll(open(), [wire]);
    for (let seed = 1; seed <= 200; seed++) {
      assertEquals(hearAll(open(), randomCuts(wire, seed)), expected, `seed ${seed}`);
    }
  });
}

Deno.test("Connection hears all of the conversations that are cut", () => {
  const kinds = (events: SinkEvent[]) => new Set(events.map(({ event }) => event)).size;
  for (const whose of ["a client's", "a server's"]) {
    const { open, wire } = CONVERSATIONS[whose]!;
    const { events, output } = hearAll(open(), [wire]);
    assertEquals(kinds(events), 7, `${whose} has all kinds of events but the failure`);
    assert(events.length >= 15);
    assertEquals(events.at(-1), {
      event: "goAway",
      lastStreamId: 0,
      code: "NO_ERROR",
      debug: "bye",
    });
    assert(new FrameParser().read(hex(output)).length >= 8);
  }
});

function openServer(): ScriptedPeer {
  const peer = new ScriptedPeer("server", { settings: "none" });
  peer.output();
  peer.sink.reactions = {
    headers: (stream) => {
      if (stream.id === 3) peer.connection.relay(stream, REPLY);
    },
    writable: (stream) => peer.connection.relay(stream, REPLY),
    data: (stream, _bytes, from, to, endStream) => {
      peer.connection.consumed(stream, (to - from) * 30_000);
      if (endStream) peer.connection.relay(stream, REPLY);
    },
  };
  return peer;
}

function openClient(): ScriptedPeer {
  const peer = new ScriptedPeer("client", { settings: "none" });
  for (let i = 0; i < 4; i++) peer.connection.relay(peer.opens(), new FrameLog());
  const bodyLog = logOf([{ data: pattern(70_000) }]);
  peer.connection.relay(peer.stream(3), bodyLog);
  peer.output();
  peer.sink.reactions = {
    writable: (stream) => peer.connection.relay(stream, bodyLog),
    data: (stream, _bytes, from, to) => peer.connection.consumed(stream, (to - from) * 30_000),
  };
  return peer;
}

function hearAll(
  peer: ScriptedPeer,
  pieces: Uint8Array[],
): { events: SinkEvent[]; output: string } {
  for (const piece of pieces) peer.sends(piece);
  return { events: peer.sink.take(), output: toHex(peer.outputBytes()) };
}
