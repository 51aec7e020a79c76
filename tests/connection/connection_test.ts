import { assert, assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { ERROR_CODE, Field, FrameLog, SETTING } from "../../lib/wire/mod.ts";
import {
  block,
  data,
  goAway,
  headers,
  type Pairs,
  pattern,
  ping,
  raw,
  REQUEST,
  RESPONSE,
  rstStream,
  settings,
  splitBlock,
  TRAILERS,
  windowUpdate,
} from "../support/frames.ts";
import { logOf, ScriptedPeer } from "../support/scripted_peer.ts";

const { cancel, internalError, noError } = ERROR_CODE;

// What a peer may and may not do is in tests/conformance/; these are about our own side.

Deno.test("Connection.openStream sends a head with what belongs to this call alone after it", () => {
  const peer = new ScriptedPeer("client");
  const extra = [new Field("grpc-timeout", "1S", { perCall: true })];
  for (const [i, endStream] of [true, false, true].entries()) {
    const stream = peer.connection.openStream(peer.list(REQUEST), { extra, endStream });
    assertEquals([stream.id, stream.localEnded], [2 * i + 1, endStream]);
    peer.expects(headers(stream.id, [...REQUEST, ["grpc-timeout", "1S"]], { endStream }));
  }
  assertEquals(peer.connection.openStreams, 3);
  assertEquals([...peer.connection.streams()].map(({ id }) => id), [1, 3, 5]);
});

Deno.test("Connection.openStream says a head in fewer bytes each of the first times", () => {
  const peer = new ScriptedPeer("client");
  const fields: Pairs = [...REQUEST, ["user-agent", "grpc-test/1.2.3"]];
  const sizes: number[] = [];
  for (let i = 0; i < 4; i++) {
    peer.connection.openStream(peer.list(fields), { extra: [], endStream: true });
    const bytes = peer.outputBytes();
    sizes.push(bytes.length);
    assertEquals(peer.reads(bytes), [
      { type: "HEADERS", streamId: 2 * i + 1, fields, endStream: true },
    ]);
  }
  assert(sizes[2]! < sizes[0]! / 5, `${sizes}`);
  assertEquals(sizes[3], 9 + fields.length, "one byte a field");
});

Deno.test("Connection.openStream cuts a large head into frames with nothing in between", () => {
  const peer = new ScriptedPeer("client");
  const fields: Pairs = [...REQUEST, ["x-large", "v".repeat(50_000)]];
  peer.connection.openStream(peer.list(fields), { extra: [], endStream: true });
  peer.expects(splitBlock(1, block(fields), { endStream: true }));
});

Deno.test("Connection.openStream throws where canOpen says no", () => {
  const cases: [what: string, prepare: (peer: ScriptedPeer) => void][] = [
    ["the peer allows none", (peer) => peer.sends(settings([SETTING.maxConcurrentStreams, 0]))],
    ["the peer goes away", (peer) => peer.sends(goAway(0, noError))],
    ["we drain", (peer) => peer.connection.drain()],
    ["it failed", (peer) => peer.connection.fail(internalError, "test")],
  ];
  for (const [what, prepare] of cases) {
    const peer = new ScriptedPeer("client");
    assert(peer.connection.canOpen);
    prepare(peer);
    assert(!peer.connection.canOpen, what);
    assertThrows(() => peer.opens(), Error, "Cannot open a stream");
  }
});

Deno.test("Connection.sendFinalHeaders sends a whole reply in one frame and closes the stream", () => {
  const peer = new ScriptedPeer("server");
  peer.sends(headers(1, REQUEST, { endStream: true }));
  const reply: Pairs = [...RESPONSE, ["grpc-status", "14"], ["grpc-message", "collapser: gone"]];
  peer.connection.sendFinalHeaders(peer.stream(1), peer.list(reply).fields);
  peer.expects(headers(1, reply, { endStream: true }));
  assert(peer.stream(1).closed);
});

Deno.test("Connection.sendFinalHeaders ends a reply that was relayed in part", () => {
  const peer = new ScriptedPeer("server");
  peer.sends(headers(1, REQUEST, { endStream: true }));
  const log = logOf([{ headers: RESPONSE }, { data: "half" }], { ended: false });
  peer.connection.relay(peer.stream(1), log);
  peer.connection.sendFinalHeaders(peer.stream(1), peer.list(TRAILERS).fields);
  peer.expects(headers(1, RESPONSE), data(1, "half"), headers(1, TRAILERS, { endStream: true }));
  peer.connection.relay(peer.stream(1), log);
  peer.expects();
});

Deno.test("Connection.sendFinalHeaders throws for a stream that is closed: that is misuse", () => {
  const peer = new ScriptedPeer("server");
  peer.sends(headers(1, REQUEST), rstStream(1, cancel));
  assertThrows(() => peer.connection.sendFinalHeaders(peer.stream(1), []), Error, "Cannot apply");
});

Deno.test("Connection.reset closes a stream once, and does nothing to one that is closed", () => {
  const peer = new ScriptedPeer("server");
  peer.sends(headers(1, REQUEST));
  peer.connection.reset(peer.stream(1), internalError);
  peer.connection.reset(peer.stream(1), cancel);
  peer.expects(rstStream(1, internalError));
  assertEquals(peer.connection.openStreams, 0);
  peer.connection.relay(peer.stream(1), logOf([{ data: "x" }]));
  peer.connection.consumed(peer.stream(1), 2 ** 20);
  peer.expects();
});

Deno.test("Connection.reset is possible from within every call of the sink", () => {
  const fatal: [Uint8Array, "headers" | "data" | "writable"][] = [
    [headers(1, REQUEST), "headers"],
    [data(1, "x"), "data"],
    [data(1, "x", { endStream: true }), "data"],
    [headers(1, TRAILERS, { endStream: true }), "headers"],
    [windowUpdate(1, 1), "writable"],
    [settings([SETTING.initialWindowSize, 70_000]), "writable"],
  ];
  for (const [frame, call] of fatal) {
    const peer = new ScriptedPeer("server");
    if (call !== "headers" || frame[4] !== 4) peer.sends(headers(1, REQUEST));
    if (call === "writable") peer.connection.relay(peer.stream(1), new FrameLog());
    peer.output();
    const reset = (stream: Parameters<typeof peer.connection.reset>[0]) =>
      peer.connection.reset(stream, cancel);
    peer.sink.reactions = { headers: reset, data: reset, writable: reset };
    peer.sends(frame, ping(1));
    const output = peer.output().filter(({ type }) => type !== "SETTINGS ack");
    assertEquals(output.map(({ type }) => type), ["RST_STREAM", "PING ack"], call);
    assertEquals(peer.connection.openStreams, 0);
  }
});

Deno.test("Connection lets its sink answer from within, before the next frame is read", () => {
  const peer = new ScriptedPeer("server");
  const log = logOf([{ headers: RESPONSE }, { data: "hit" }, { headers: TRAILERS }]);
  peer.sink.reactions.headers = (stream) => peer.connection.relay(stream, log);
  peer.sends(
    headers(1, REQUEST, { endStream: true }),
    ping(1),
    headers(3, REQUEST, { endStream: true }),
  );
  const reply = (id: number) => [
    headers(id, RESPONSE),
    data(id, "hit"),
    headers(id, TRAILERS, { endStream: true }),
  ];
  peer.expects(...reply(1), ping(1, { ack: true }), ...reply(3));
});

Deno.test("Connection has done its bookkeeping before the sink hears of a frame", () => {
  const peer = new ScriptedPeer("server");
  const seen: unknown[] = [];
  peer.sink.reactions = {
    headers: (stream) => seen.push(["headers", stream.remoteEnded, stream.headersReceived]),
    data: (stream) => seen.push(["data", stream.remoteEnded, stream.receivedBytes]),
    reset: (stream) => seen.push(["reset", stream.closed, peer.connection.openStreams]),
  };
  peer.sends(headers(1, REQUEST), data(1, "abc"), data(1, "de", { endStream: true }));
  peer.sends(rstStream(1, cancel));
  assertEquals(seen, [
    ["headers", false, true],
    ["data", false, 3],
    ["data", true, 5],
    ["reset", true, 0],
  ]);
});

Deno.test("Connection stops reading when its sink fails it from within", () => {
  const peer = new ScriptedPeer("server");
  peer.sink.reactions.headers = () => peer.connection.fail(internalError, "enough");
  peer.sends(headers(1, REQUEST), data(1, "x"), headers(3, REQUEST), ping(1));
  peer.expects(goAway(1, internalError));
  assertEquals(peer.sink.take().map(({ event }) => event), ["headers", "failed"]);
});

Deno.test("Connection does nothing more once it has failed, whoever asks", () => {
  const peer = new ScriptedPeer("server");
  peer.sends(headers(1, REQUEST, { endStream: true }));
  const stream = peer.stream(1);
  peer.sends(raw(0x6, {}, new Uint8Array(3)));
  peer.output();
  peer.sink.take();
  const { connection } = peer;
  connection.relay(stream, logOf([{ headers: RESPONSE }, { headers: TRAILERS }]));
  connection.sendFinalHeaders(stream, peer.list(TRAILERS).fields);
  connection.consumed(stream, 2 ** 20);
  connection.reset(stream, cancel);
  connection.drain();
  connection.finishDrain();
  connection.drained();
  connection.fail(internalError, "again");
  peer.sends(ping(1), headers(3, REQUEST));
  peer.expects();
  peer.told();
});

Deno.test("Connection keeps the owner of a stream and gives it back in every call", () => {
  const peer = new ScriptedPeer("server");
  const owner = { name: "call 1" };
  const owners: unknown[] = [];
  peer.sink.reactions = {
    headers: (stream) => stream.owner = owner,
    data: (stream) => owners.push(stream.owner),
    reset: (stream) => owners.push(stream.owner),
  };
  peer.sends(headers(1, REQUEST), data(1, "x"), rstStream(1, cancel));
  assertEquals(owners.length, 2);
  for (const each of owners) assertStrictEquals(each, owner);
});

Deno.test("Connection.receive reads only the length it is told, and notes the time", () => {
  const peer = new ScriptedPeer("server");
  const bytes = new Uint8Array(100).fill(0xff);
  bytes.set(ping(3));
  peer.connection.receive(bytes, 123.5, 17);
  peer.expects(ping(3, { ack: true }));
  assertEquals(peer.connection.nowMs, 123.5);
});

Deno.test("Connection.receive keeps nothing of the buffer that it is given", () => {
  const peer = new ScriptedPeer("server");
  const frame = data(1, pattern(1_000), { endStream: true });
  peer.sends(headers(1, REQUEST));
  peer.sink.take();
  const buffer = new Uint8Array(300);
  for (let at = 0; at < frame.length; at += 300) {
    const piece = frame.subarray(at, at + 300);
    buffer.set(piece);
    peer.connection.receive(buffer, 0, piece.length);
    buffer.fill(0);
  }
  const text = String.fromCharCode(...pattern(1_000));
  peer.told({ event: "data", streamId: 1, text, endStream: true });
});

Deno.test("Connection.takeOutput hands over everything once", () => {
  const peer = new ScriptedPeer("server");
  peer.sends(ping(1), ping(2));
  assertEquals(peer.connection.outputBytes, 2 * 17);
  peer.expects(ping(1, { ack: true }), ping(2, { ack: true }));
  assertEquals(peer.connection.outputBytes, 0);
  peer.expects();
});

Deno.test("Connection tells no more streams that they are writable once its owner ended it", () => {
  const openings = [windowUpdate(0, 100_000), settings([SETTING.initialWindowSize, 200_000])];
  for (const [i, opening] of openings.entries()) {
    // Both wait: for the window of the connection, or each for its own.
    const initial = i === 0 ? 200_000 : 10;
    const peer = new ScriptedPeer("server", { settings: [[SETTING.initialWindowSize, initial]] });
    peer.sends(headers(1, REQUEST), headers(3, REQUEST));
    const log = logOf([{ headers: RESPONSE }, { data: pattern(100_000) }]);
    for (const id of [1, 3]) peer.connection.relay(peer.stream(id), log);
    peer.output();
    peer.sink.take();
    peer.sink.reactions.writable = () => void peer.connection.fail(ERROR_CODE.internalError, "");
    peer.sends(opening);
    assertEquals(peer.sink.take().map(({ event }) => event), ["writable", "failed"]);
  }
});

Deno.test("Connection takes frames of its own output while that is being written", () => {
  const peer = new ScriptedPeer("server");
  peer.sends(ping(1));
  const writing = peer.connection.takeOutput();
  peer.sends(ping(2));
  assertEquals(peer.reads(writing.bytes.slice(0, writing.length)).length, 1);
  writing.clear();
  peer.expects(ping(2, { ack: true }));
});

Deno.test("Connection loses no byte of output at any fill of its buffer", () => {
  for (let before = 0; before < 70; before++) {
    const peer = new ScriptedPeer("server");
    peer.sends(headers(1, REQUEST));
    const pings = Array.from({ length: before }, (_, i) => ping(i));
    peer.sends(...pings, settings(), windowUpdate(1, 0), ping(99));
    const output = peer.output();
    assertEquals(output.length, before + 3, `after ${before}`);
    assertEquals(output.slice(before).map(({ type }) => type), [
      "SETTINGS ack",
      "RST_STREAM",
      "PING ack",
    ]);
  }
});
