/** RFC 9113 §5.2 and §6.9: windows, both ways. */

import { assert, assertEquals } from "@std/assert";
import { ERROR_CODE, SETTING } from "../../lib/wire/mod.ts";
import { rng } from "../support/cuts.ts";
import type { SeenFrame } from "../support/frame_parser.ts";
import {
  ascii,
  data,
  headers,
  pattern,
  REQUEST,
  RESPONSE,
  rstStream,
  settings,
  settingsAck,
  TRAILERS,
  windowUpdate,
} from "../support/frames.ts";
import { logOf, ScriptedPeer } from "../support/scripted_peer.ts";

const { flowControlError } = ERROR_CODE;

/** What the connection lets a peer have under way, in all and on one stream; it says so in its handshake. */
const CONNECTION_WINDOW = 2 ** 20;
const STREAM_WINDOW = 131_072;

const FRAME_BYTES = 16_384;
const FULL_FRAME = new Uint8Array(FRAME_BYTES);

// ---- receiving

Deno.test("Connection takes DATA up to the stream's window and not a byte more", () => {
  const peer = new ScriptedPeer("server");
  peer.sends(headers(1, REQUEST));
  for (let sent = 0; sent < STREAM_WINDOW; sent += FRAME_BYTES) peer.sends(data(1, FULL_FRAME));
  assertEquals(peer.connection.openStreams, 1);
  peer.sends(data(1, "x"));
  peer.expectsStreamFailure(1, flowControlError);
});

Deno.test("Connection gives back the connection's window on receipt, though no sink has consumed", () => {
  const peer = new ScriptedPeer("server");
  let sent = 0;
  for (let id = 1; sent < 4 * CONNECTION_WINDOW; id += 2) {
    const frames = [headers(id, REQUEST)];
    for (let i = 0; i < STREAM_WINDOW / FRAME_BYTES; i++) frames.push(data(id, FULL_FRAME));
    peer.sends(...frames);
    sent += STREAM_WINDOW;
  }
  assertEquals(peer.connection.failed, undefined);
  assertEquals(credit(peer.output(), 0), sent);
});

Deno.test("Connection gives back the connection's window for all DATA, whatever became of it", () => {
  const peer = new ScriptedPeer("server");
  const received = sendEveryKind(peer);
  const given = credit(peer.output(), 0);
  assert(received > 3 * CONNECTION_WINDOW);
  assert(given <= received, `${given} given for ${received}`);
  assert(received - given < CONNECTION_WINDOW / 2, `${given} given for ${received}`);
});

Deno.test("Connection gives back a stream's window once it is consumed, and at once for padding", () => {
  const peer = new ScriptedPeer("server");
  peer.sends(headers(1, REQUEST));
  peer.sends(...Array.from({ length: 8 }, () => data(1, new Uint8Array(16_000))));
  assertEquals(credit(peer.output(), 1), 0, "the sink has not read it");
  peer.connection.consumed(peer.stream(1), STREAM_WINDOW / 2 - 1);
  assertEquals(credit(peer.output(), 1), 0, "not worth a frame yet");
  peer.connection.consumed(peer.stream(1), 1);
  assertEquals(credit(peer.output(), 1), STREAM_WINDOW / 2);
  peer.connection.consumed(peer.stream(1), 128_000 - STREAM_WINDOW / 2);
  assertEquals(credit(peer.output(), 1), 0);
});

for (const role of ["client", "server"] as const) {
  Deno.test(`Connection as a ${role} gives back padded frames whole, padding and its length included`, () => {
    const peer = new ScriptedPeer(role);
    if (role === "client") peer.opens();
    peer.sends(headers(1, role === "client" ? RESPONSE : REQUEST));
    peer.sink.reactions = {
      data: (stream, _bytes, from, to) => peer.connection.consumed(stream, to - from),
    };
    let received = 0;
    const given = [0, 0];
    for (let i = 0; i < 8_000; i++) {
      peer.sends(data(1, "12345", { padding: 255 }));
      received += 5 + 255 + 1;
      if (i % 100 !== 0) continue;
      const output = peer.output();
      given[0]! += credit(output, 0);
      given[1]! += credit(output, 1);
    }
    assert(received - given[0]! < CONNECTION_WINDOW / 2 + 100 * 261, `connection: ${given[0]}`);
    assert(received - given[1]! < STREAM_WINDOW / 2 + 100 * 261, `stream: ${given[1]}`);
    assert(given[0]! <= received && given[1]! <= received);
    // What the peer believes its window to be, and what it is held to, are the same.
    given[1]! += credit(peer.output(), 1);
    assertEquals(peer.stream(1).recvWindow, STREAM_WINDOW - received + given[1]!);
    assertEquals(peer.connection.failed, undefined);
  });
}

Deno.test("Connection serves 300 padded requests on one connection without running dry", () => {
  const peer = new ScriptedPeer("server");
  let window = 65_535;
  for (let i = 0; i < 300; i++) {
    const id = 2 * i + 1;
    const frame = data(id, pattern(10_000), { padding: 255, endStream: true });
    assert(window >= frame.length - 9, `request ${i} has ${window} of window`);
    peer.sends(headers(id, REQUEST), frame);
    window -= frame.length - 9;
    peer.connection.relay(peer.stream(id), logOf([{ headers: TRAILERS }]));
    window += credit(peer.output(), 0);
    if (i === 0) window += CONNECTION_WINDOW - 65_535; // as the handshake said
  }
  assertEquals(peer.connection.openStreams, 0);
});

Deno.test("Connection announces no window for a stream that has ended or is closed", () => {
  const peer = new ScriptedPeer("server");
  const frames = Array.from({ length: 10 }, () => data(1, FULL_FRAME));
  peer.sends(headers(1, REQUEST), ...frames, data(1, "", { endStream: true }));
  peer.connection.consumed(peer.stream(1), 10 * FRAME_BYTES);
  peer.sends(headers(3, REQUEST), ...Array.from({ length: 10 }, () => data(3, FULL_FRAME)));
  peer.sends(rstStream(3, ERROR_CODE.cancel));
  peer.connection.consumed(peer.stream(3), 10 * FRAME_BYTES);
  const output = peer.output();
  assertEquals([credit(output, 1), credit(output, 3)], [0, 0]);
});

// ---- sending

Deno.test("Connection sends no more DATA than the peer's windows of the start (§6.9.2)", () => {
  const peer = new ScriptedPeer("server");
  peer.sends(headers(1, REQUEST, { endStream: true }));
  peer.output();
  const body = pattern(100_000);
  replyWith(peer, 1, body);
  assertEquals(payload(peer.output()).length, 65_535);
});

Deno.test("Connection sends HEADERS and empty DATA whatever the windows", () => {
  const peer = new ScriptedPeer("server", { settings: [[SETTING.initialWindowSize, 0]] });
  peer.sends(headers(1, REQUEST, { endStream: true }));
  peer.output();
  peer.connection.relay(
    peer.stream(1),
    logOf([{ headers: RESPONSE }, { data: "" }, { headers: TRAILERS }]),
  );
  peer.expects(headers(1, RESPONSE), data(1, ""), headers(1, TRAILERS, { endStream: true }));
});

Deno.test("Connection sends an empty DATA that ends the stream whatever the windows", () => {
  const peer = new ScriptedPeer("client", { settings: [[SETTING.initialWindowSize, 0]] });
  peer.connection.relay(peer.opens(), logOf([{ data: "" }]));
  peer.expects(data(1, "", { endStream: true }));
});

Deno.test("Connection takes a window that WINDOW_UPDATE opened byte by byte", () => {
  const peer = new ScriptedPeer("server", { settings: [[SETTING.initialWindowSize, 0]] });
  peer.sends(headers(1, REQUEST, { endStream: true }));
  replyWith(peer, 1, pattern(5));
  peer.expects(headers(1, RESPONSE));
  const got: SeenFrame[] = [];
  for (let i = 0; i < 5; i++) {
    peer.sends(windowUpdate(1, 1));
    got.push(...peer.output());
  }
  assertEquals(got.map(({ type }) => type), ["DATA", "DATA", "DATA", "DATA", "DATA", "HEADERS"]);
  assertEquals(payload(got), pattern(5));
});

Deno.test("Connection resumes after a smaller and then a larger SETTINGS_INITIAL_WINDOW_SIZE alone", () => {
  const peer = new ScriptedPeer("server", { settings: [[SETTING.initialWindowSize, 60_000]] });
  peer.sends(windowUpdate(0, 2 ** 30), headers(1, REQUEST, { endStream: true }));
  const body = pattern(2 ** 20);
  replyWith(peer, 1, body);
  const got = peer.output();
  assertEquals(payload(got).length, 60_000);

  peer.sink.take();
  peer.sends(settings([SETTING.initialWindowSize, 16_384]));
  peer.told({ event: "settings" });
  assertEquals(peer.stream(1).sendWindow, 16_384 - 60_000);
  peer.expects(settingsAck());
  peer.sends(windowUpdate(1, 60_000 - 16_384)); // up to 0
  peer.expects();
  peer.sends(settings([SETTING.initialWindowSize, 16_000]), windowUpdate(1, 384)); // down, and up to 0 again
  peer.expects(settingsAck());

  peer.sends(settings([SETTING.initialWindowSize, 2 ** 20]));
  const resumed = resume(peer);
  assertEquals(payload(resumed).length, 2 ** 20 - 60_000);
  assertEquals(resumed[0], { type: "SETTINGS ack" });
  assertEquals(payload([...got, ...resumed]), body);
  assertEquals(resumed.at(-1)?.type, "HEADERS");
  assertEquals(peer.connection.openStreams, 0);
});

Deno.test("Connection resumes from a negative window by WINDOW_UPDATE once it is above 0", () => {
  const peer = new ScriptedPeer("server");
  peer.sends(windowUpdate(0, 2 ** 30), headers(1, REQUEST, { endStream: true }));
  replyWith(peer, 1, pattern(70_000));
  assertEquals(payload(peer.output()).length, 65_535);
  peer.sends(settings([SETTING.initialWindowSize, 0]), windowUpdate(1, 65_535));
  peer.expects(settingsAck());
  peer.sends(windowUpdate(1, 10));
  assertEquals(payload(peer.output()).length, 10);
  peer.sends(windowUpdate(1, 10_000));
  const [, last] = peer.output();
  assertEquals(last?.type, "HEADERS");
});

Deno.test("Connection applies a changed initial window to the streams opened after it", () => {
  const peer = new ScriptedPeer("server");
  peer.sends(settings([SETTING.initialWindowSize, 7]), headers(1, REQUEST, { endStream: true }));
  peer.output();
  replyWith(peer, 1, pattern(100));
  assertEquals(payload(peer.output()), pattern(7));
});

Deno.test("Connection leaves its own window alone when SETTINGS_INITIAL_WINDOW_SIZE changes", () => {
  const peer = new ScriptedPeer("server", { settings: [[SETTING.initialWindowSize, 2 ** 20]] });
  peer.sends(headers(1, REQUEST, { endStream: true }));
  replyWith(peer, 1, pattern(100_000));
  assertEquals(payload(peer.output()).length, 65_535);
});

Deno.test("Connection fails when SETTINGS raises a stream's window beyond 2^31-1 (§6.9.2)", () => {
  const peer = new ScriptedPeer("server");
  peer.sends(headers(1, REQUEST, { endStream: true }), windowUpdate(1, 2 ** 30));
  peer.sends(settings([SETTING.initialWindowSize, 2 ** 30 + 65_535]));
  peer.expectsFailure(flowControlError);
});

Deno.test("Connection sends every byte once and within both windows, however they open", () => {
  for (let seed = 1; seed <= 30; seed++) {
    const random = rng(seed);
    const pick = (count: number) => Math.floor(random() * count);
    const start = pick(3) * pick(30_000);
    const peer = new ScriptedPeer("server", { settings: [[SETTING.initialWindowSize, start]] });
    let initial = start;
    const streams = [1, 3, 5].map((id) => ({ id, window: start, got: [] as SeenFrame[] }));
    let connectionWindow = 65_535;
    for (const { id } of streams) {
      peer.sends(headers(id, REQUEST, { endStream: true }));
      replyWith(peer, id, pattern(20_000 * id));
    }
    for (let round = 0; round < 300; round++) {
      for (const frame of resume(peer)) {
        if (frame.type !== "DATA" && frame.type !== "HEADERS") continue;
        const stream = streams.find(({ id }) => id === frame.streamId)!;
        stream.got.push(frame);
        if (frame.type !== "DATA") continue;
        stream.window -= frame.text.length;
        connectionWindow -= frame.text.length;
        assert(stream.window >= 0, `seed ${seed}: stream ${stream.id} overran its window`);
        assert(connectionWindow >= 0, `seed ${seed}: the connection overran its window`);
      }
      const stream = streams[pick(3)]!;
      const increment = 1 + pick(30_000);
      switch (pick(4)) {
        case 0: {
          const next = pick(40_000);
          peer.sends(settings([SETTING.initialWindowSize, next]));
          for (const each of streams) each.window += next - initial;
          initial = next;
          break;
        }
        case 1:
          peer.sends(windowUpdate(0, increment));
          connectionWindow += increment;
          break;
        default:
          peer.sends(windowUpdate(stream.id, increment));
          stream.window += increment;
      }
    }
    for (const { id, got } of streams) {
      assertEquals(payload(got), pattern(20_000 * id), `seed ${seed}, stream ${id}`);
      assertEquals(got.at(-1)?.type, "HEADERS", `seed ${seed}, stream ${id}`);
    }
    assertEquals(peer.connection.openStreams, 0, `seed ${seed}`);
  }
});

/** Relays a reply with this body, and goes on whenever the sink hears that it may. */
function replyWith(peer: ScriptedPeer, id: number, body: Uint8Array): void {
  const log = logOf([{ headers: RESPONSE }, { data: body }, { headers: TRAILERS }]);
  peer.stream(id).owner = log;
  peer.sink.reactions.writable = (stream) => {
    peer.connection.relay(stream, stream.owner as typeof log);
  };
  peer.connection.relay(peer.stream(id), log);
}

/** Takes output until there is no more, as a socket that takes all. */
function resume(peer: ScriptedPeer): SeenFrame[] {
  const seen: SeenFrame[] = [];
  for (;;) {
    const more = peer.output();
    if (more.length === 0) return seen;
    seen.push(...more);
    peer.connection.drained();
  }
}

function payload(frames: SeenFrame[]): Uint8Array {
  return ascii(frames.map((frame) => frame.type === "DATA" ? frame.text : "").join(""));
}

/** The sum of WINDOW_UPDATE for a stream, 0 being the connection. */
function credit(frames: SeenFrame[], streamId: number): number {
  let sum = 0;
  for (const frame of frames) {
    if (frame.type === "WINDOW_UPDATE" && frame.streamId === streamId) sum += frame.increment;
  }
  return sum;
}

/** DATA that is read, padded, refused, for streams reset by either side or ended; how much of it. */
function sendEveryKind(peer: ScriptedPeer): number {
  let received = 0;
  function send(...frames: Uint8Array[]): void {
    for (const frame of frames) if (frame[3] === 0) received += frame.length - 9;
    peer.sends(...frames);
  }
  for (let id = 1; id < 1_000; id += 10) {
    send(headers(id, REQUEST), data(id, pattern(9_000)), data(id, "", { padding: 200 }));
    send(headers(id + 2, REQUEST), data(id + 2, "x"), rstStream(id + 2, ERROR_CODE.cancel));
    send(data(id + 2, pattern(9_000), { padding: 3 }));
    send(headers(id + 4, REQUEST));
    peer.connection.reset(peer.stream(id + 4), ERROR_CODE.cancel);
    send(data(id + 4, pattern(9_000)), data(id + 4, "", { endStream: true }));
    send(headers(id + 6, REQUEST, { endStream: true }), data(id + 6, pattern(9_000)));
    send(headers(id + 8, [...REQUEST, ["content-length", "5"]]), data(id + 8, pattern(9_000)));
  }
  assertEquals(peer.connection.failed, undefined, peer.why);
  return received;
}
