/** RFC 9113 §6.5: SETTINGS, and RFC 7541 §4.2 for what a changed table size does to the next block. */

import { assert, assertEquals } from "@std/assert";
import { ERROR_CODE, FRAME, SETTING } from "../../lib/wire/mod.ts";
import { FrameParser, splitFrames } from "../support/frame_parser.ts";
import {
  blockOf,
  concat,
  headers,
  type Pairs,
  REQUEST,
  RESPONSE,
  settings,
  settingsAck,
  TRAILERS,
} from "../support/frames.ts";
import { toHex } from "../support/hex.ts";
import { logOf, ScriptedPeer } from "../support/scripted_peer.ts";

const ROLES = ["client", "server"] as const;
const { protocolError, flowControlError } = ERROR_CODE;

for (const role of ROLES) {
  for (
    const [what, id, value, code] of [
      ["ENABLE_PUSH of 2", SETTING.enablePush, 2, protocolError],
      ["ENABLE_PUSH of 2^32-1", SETTING.enablePush, 2 ** 32 - 1, protocolError],
      ["INITIAL_WINDOW_SIZE of 2^31", SETTING.initialWindowSize, 2 ** 31, flowControlError],
      ["MAX_FRAME_SIZE of 16,383", SETTING.maxFrameSize, 16_383, protocolError],
      ["MAX_FRAME_SIZE of 2^24", SETTING.maxFrameSize, 2 ** 24, protocolError],
    ] as const
  ) {
    Deno.test(`Connection as a ${role} fails for ${what} (§6.5.2)`, () => {
      const peer = new ScriptedPeer(role);
      peer.sends(settings([id, value]));
      peer.expectsFailure(code);
    });
  }

  Deno.test(`Connection as a ${role} takes every setting at its limits (§6.5.2)`, () => {
    const peer = new ScriptedPeer(role);
    for (
      const pair of [
        [SETTING.headerTableSize, 0],
        [SETTING.headerTableSize, 2 ** 32 - 1],
        [SETTING.enablePush, 0],
        [SETTING.maxConcurrentStreams, 0],
        [SETTING.maxConcurrentStreams, 2 ** 32 - 1],
        [SETTING.initialWindowSize, 0],
        [SETTING.initialWindowSize, 2 ** 31 - 1],
        [SETTING.maxFrameSize, 16_384],
        [SETTING.maxFrameSize, 2 ** 24 - 1],
        [SETTING.maxHeaderListSize, 0],
        [SETTING.maxHeaderListSize, 2 ** 32 - 1],
        [0x0, 1], // unknown
        [0x8, 1],
        [0xffff, 2 ** 32 - 1],
      ] as const
    ) {
      peer.sends(settings(pair));
      peer.expects(settingsAck());
      peer.told({ event: "settings" });
    }
    assertEquals(peer.connection.peer, {
      headerTableBytes: 2 ** 32 - 1,
      maxConcurrentStreams: 2 ** 32 - 1,
      initialWindowBytes: 2 ** 31 - 1,
      maxFrameBytes: 2 ** 24 - 1,
      maxHeaderListBytes: 2 ** 32 - 1,
      instance: 0,
    });
  });

  Deno.test(`Connection as a ${role} takes settings in their order, the last of one kind (§6.5.3)`, () => {
    const peer = new ScriptedPeer(role);
    peer.sends(settings([SETTING.maxFrameSize, 20_000], [SETTING.maxFrameSize, 30_000]));
    assertEquals(peer.connection.peer.maxFrameBytes, 30_000);
    peer.expects(settingsAck());
  });

  Deno.test(`Connection as a ${role} acknowledges each SETTINGS once and no acknowledgement`, () => {
    const peer = new ScriptedPeer(role);
    peer.sends(settings(), settings(), settingsAck(), settings());
    peer.expects(settingsAck(), settingsAck(), settingsAck());
  });
}

Deno.test("Connection as a server takes ENABLE_PUSH of 1 from a client", () => {
  const peer = new ScriptedPeer("server");
  peer.sends(settings([SETTING.enablePush, 1]));
  peer.expects(settingsAck());
});

Deno.test("Connection as a client fails when a server sends ENABLE_PUSH of 1", () => {
  const peer = new ScriptedPeer("client");
  peer.sends(settings([SETTING.enablePush, 1]));
  peer.expectsFailure(protocolError);
});

Deno.test("Connection sends no frame of more than 16,384 bytes, whatever the peer would take", () => {
  const peer = new ScriptedPeer("client", { settings: [[SETTING.maxFrameSize, 2 ** 24 - 1]] });
  const long: Pairs = [...REQUEST, ["x-long", "v".repeat(40_000)]];
  const stream = peer.connection.openStream(peer.list(long), { extra: [], endStream: false });
  peer.connection.relay(stream, logOf([{ data: new Uint8Array(40_000) }]));
  // The parser throws for longer frames.
  const [head, ...rest] = peer.output();
  assertEquals(head, { type: "HEADERS", streamId: 1, fields: long, endStream: false });
  assertEquals(rest.map(({ type }) => type), ["DATA", "DATA", "DATA"]);
});

// ---- SETTINGS_HEADER_TABLE_SIZE

/** Long enough to be worth indexing, short enough for a table of 1,024. */
const METADATA: Pairs = [["x-repeated", "a-value-that-comes-again-and-again"]];

for (const size of [0, 1, 33, 1_024, 4_096, 65_536, 2 ** 32 - 1]) {
  Deno.test(`Connection as a client keeps to a header table of ${size} bytes`, () => {
    const peer = new ScriptedPeer("client", { settings: [[SETTING.headerTableSize, size]] });
    for (let call = 0; call < 5; call++) {
      const { fields, block } = openWith(peer, [...REQUEST, ...METADATA]);
      assertEquals<Pairs>(fields, [...REQUEST, ...METADATA], `call ${call}`);
      const updates = sizeUpdates(block);
      assertEquals(updates, call === 0 && size < 4_096 ? [size] : [], `call ${call}`);
      if (size < 1_024) assert(inserts(block) === 0, "nothing fits");
    }
  });
}

Deno.test("Connection says each change of the header table first in its next block", () => {
  const peer = new ScriptedPeer("client");
  const updates: number[][] = [];
  for (const sizes of [[], [0], [4_096], [1_024], [], [65_536], [0, 4_096], [0, 100, 50]]) {
    for (const size of sizes) peer.sends(settings([SETTING.headerTableSize, size]));
    for (let call = 0; call < 3; call++) {
      const { fields, block } = openWith(peer, [...REQUEST, ...METADATA]);
      assertEquals<Pairs>(fields, [...REQUEST, ...METADATA]);
      if (call === 0) updates.push(sizeUpdates(block));
      else assertEquals(sizeUpdates(block), []);
    }
  }
  assertEquals(updates, [[], [0], [4_096], [1_024], [], [4_096], [0, 4_096], [0, 50]]);
});

Deno.test("Connection says the least of several table sizes in one SETTINGS (RFC 7541 §4.2)", () => {
  const peer = new ScriptedPeer("client");
  for (let call = 0; call < 3; call++) openWith(peer, [...REQUEST, ...METADATA]);
  peer.sends(settings([SETTING.headerTableSize, 0], [SETTING.headerTableSize, 4_096]));
  const { block } = openWith(peer, [...REQUEST, ...METADATA]);
  assertEquals(sizeUpdates(block), [0, 4_096], toHex(block));
});

for (
  const [what, parts] of [
    ["a reply in one frame", [{ headers: [...RESPONSE, ...TRAILERS] }]],
    ["a whole reply", [{ headers: RESPONSE }, { data: "x" }, { headers: TRAILERS }]],
    [
      "a reply with blocks of several frames",
      [{ block: blockOf(40_000, RESPONSE) }, { data: "x" }, { block: blockOf(20_000, TRAILERS) }],
    ],
  ] as const
) {
  Deno.test(`Connection puts the table size before the stateless block of ${what}`, () => {
    const peer = new ScriptedPeer("server");
    const log = logOf(parts);
    peer.sends(headers(1, REQUEST, { endStream: true }), headers(3, REQUEST, { endStream: true }));
    peer.sends(headers(5, REQUEST, { endStream: true }));
    peer.output();
    peer.connection.relay(peer.stream(1), log);
    const before = peer.outputBytes();
    assertEquals(sizeUpdates(firstBlock(before)), []);
    peer.sends(settings([SETTING.headerTableSize, 0]), settings([SETTING.headerTableSize, 100]));
    peer.expects(settingsAck(), settingsAck());
    peer.connection.relay(peer.stream(3), log);
    const changed = peer.outputBytes();
    assertEquals(sizeUpdates(firstBlock(changed)), [0, 100]);
    assertEquals(said(changed), said(before));
    peer.connection.relay(peer.stream(5), log);
    const after = peer.outputBytes();
    assertEquals(sizeUpdates(firstBlock(after)), []);
    assertEquals(said(after), said(before));
    assertEquals(peer.connection.openStreams, 0);
  });
}

Deno.test("Connection puts the table size before the block of sendFinalHeaders", () => {
  const peer = new ScriptedPeer("server");
  peer.sends(headers(1, REQUEST, { endStream: true }), headers(3, REQUEST, { endStream: true }));
  peer.sends(settings([SETTING.headerTableSize, 0]));
  peer.output();
  const { fields } = peer.list([...RESPONSE, ...TRAILERS]);
  peer.connection.sendFinalHeaders(peer.stream(1), fields);
  assertEquals(sizeUpdates(firstBlock(peer.outputBytes())), [0]);
  peer.connection.sendFinalHeaders(peer.stream(3), fields);
  assertEquals(sizeUpdates(firstBlock(peer.outputBytes())), []);
});

/** Opens a stream with these fields; what the peer decodes of it, and its block. */
function openWith(peer: ScriptedPeer, fields: Pairs): { fields: Pairs; block: Uint8Array } {
  peer.output();
  const list = peer.list(fields);
  const stream = peer.connection.openStream(list, { extra: [], endStream: true });
  const bytes = peer.outputBytes();
  const [frame] = peer.reads(bytes);
  if (frame?.type !== "HEADERS") throw new Error(`Cannot find the head in ${frame?.type}`);
  peer.connection.reset(stream, ERROR_CODE.cancel);
  return { fields: frame.fields, block: firstBlock(bytes) };
}

/** The first header block among these frames. */
function firstBlock(bytes: Uint8Array): Uint8Array {
  const frames = splitFrames(bytes);
  const first = frames.findIndex(({ type }) => type === FRAME.headers);
  const rest = frames.slice(first + 1);
  const end = rest.findIndex(({ type }) => type !== FRAME.continuation);
  const continued = end < 0 ? rest : rest.slice(0, end);
  return concat(...[frames[first]!, ...continued].map(({ payload }) => payload));
}

/** What the frames say, whatever the stream and the size updates. */
function said(bytes: Uint8Array): string {
  return JSON.stringify(new FrameParser().read(bytes).map((frame) => ({ ...frame, streamId: 0 })));
}

/** The table sizes that a block begins with (RFC 7541 §6.3). */
function sizeUpdates(block: Uint8Array): number[] {
  const sizes: number[] = [];
  for (let at = 0; at < block.length && block[at]! >> 5 === 1;) {
    let size = block[at]! & 31;
    if (size === 31) {
      for (let scale = 1;; scale *= 128) {
        const byte = block[++at]!;
        size += (byte & 127) * scale;
        if (byte < 128) break;
      }
    }
    at++;
    sizes.push(size);
  }
  return sizes;
}

/** Whether fields with the name of METADATA go into the table: their first byte would be 0x40. */
function inserts(block: Uint8Array): number {
  return toHex(block).split(" ").filter((byte) => byte === "40").length;
}
