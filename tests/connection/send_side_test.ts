import { assert, assertEquals, assertGreater, assertLess } from "@std/assert";
import { Stream } from "../../lib/connection/mod.ts";
import { OUTPUT_HIGH_WATER_BYTES } from "../../lib/connection/send_side.ts";
import { SendSide } from "../../lib/connection/send_side.ts";
import { WaitingStreams } from "../../lib/connection/waiting_streams.ts";
import { ERROR_CODE, FrameLog, SETTING } from "../../lib/wire/mod.ts";
import { rng } from "../support/cuts.ts";
import { type SeenFrame, splitFrames } from "../support/frame_parser.ts";
import {
  ascii,
  block,
  blockOf,
  concat,
  data,
  headers,
  pattern,
  REQUEST,
  RESPONSE,
  rstStream,
  splitBlock,
  TRAILERS,
  windowUpdate,
} from "../support/frames.ts";
import { logOf, ScriptedPeer } from "../support/scripted_peer.ts";

const LARGE_WINDOW = 2 ** 31 - 1;

Deno.test("Connection.relay copies a whole log with the id of each stream, and the log stays as it is", () => {
  const log = logOf([{ headers: RESPONSE }, { data: "hello" }, { headers: TRAILERS }]);
  const before = log.bytes.slice();
  const peer = serverWith(5);
  for (const id of [1, 3, 5, 7, 9]) peer.connection.relay(peer.stream(id), log);
  peer.expects(
    ...[1, 3, 5, 7, 9].flatMap((id) => [
      headers(id, RESPONSE),
      data(id, "hello"),
      headers(id, TRAILERS, { endStream: true }),
    ]),
  );
  assertEquals(peer.connection.openStreams, 0);
  assertEquals(log.bytes, before);
});

Deno.test("Connection.relay copies the very bytes of the log, but for the id", () => {
  const log = logOf([{ block: blockOf(40_000, RESPONSE) }, { data: pattern(40_000) }, {
    headers: TRAILERS,
  }]);
  const peer = serverWith(1);
  peer.connection.relay(peer.stream(1), log);
  const frames = splitFrames(peer.outputBytes());
  assert(frames.every(({ streamId }) => streamId === 1));
  assertEquals(
    frames.map((frame) => ({ ...frame, streamId: 0 })),
    splitFrames(log.bytes.slice(0, log.end)),
  );
});

Deno.test("Connection.relay sends a log frame by frame as it grows", () => {
  const log = new FrameLog();
  const peer = serverWith(1);
  const stream = peer.stream(1);
  peer.connection.relay(stream, log);
  peer.expects();
  log.appendHeaders(block(RESPONSE), false);
  peer.connection.relay(stream, log);
  peer.expects(headers(1, RESPONSE));
  peer.connection.relay(stream, log);
  peer.expects();
  log.appendData(ascii("a"), 0, 1);
  log.appendData(ascii("b"), 0, 1);
  peer.connection.relay(stream, log);
  peer.expects(data(1, "a"), data(1, "b"));
  log.appendData(ascii(""), 0, 0, true);
  peer.connection.relay(stream, log);
  peer.expects(data(1, "", { endStream: true }));
  assert(stream.closed);
  peer.connection.relay(stream, log);
  peer.expects();
});

Deno.test("Connection.relay sends late joiners everything from the start", () => {
  const log = new FrameLog();
  log.appendHeaders(block(RESPONSE), false);
  log.appendData(ascii("first"), 0, 5);
  const peer = serverWith(2);
  peer.connection.relay(peer.stream(1), log);
  peer.output();
  log.appendData(ascii("second"), 0, 6);
  peer.connection.relay(peer.stream(3), log);
  peer.expects(headers(3, RESPONSE), data(3, "first"), data(3, "second"));
  log.appendHeaders(block(TRAILERS), true);
  for (const id of [3, 1]) peer.connection.relay(peer.stream(id), log);
  peer.expects(
    headers(3, TRAILERS, { endStream: true }),
    data(1, "second"),
    headers(1, TRAILERS, { endStream: true }),
  );
});

Deno.test("Connection.relay sends blocks of several frames in one piece, also when it cannot send all", () => {
  const big = blockOf(40_000, RESPONSE);
  const trailers = blockOf(20_000, TRAILERS);
  const log = logOf([{ block: big }, { data: pattern(100_000) }, { block: trailers }]);
  const peer = serverWith(1);
  relayAndResume(peer, 1, log);
  const first = peer.output();
  assertEquals(first[0]?.type, "HEADERS");
  assertEquals(textOf(first).length, 65_535);
  peer.sends(windowUpdate(0, 100_000), windowUpdate(1, 100_000));
  const rest = peer.outputBytes();
  const end = splitBlock(1, trailers, { endStream: true });
  assertEquals(rest.subarray(rest.length - end.length), end);
});

Deno.test("Connection.relay cuts DATA to the stream's window and ends the stream with the last piece", () => {
  for (const window of [1, 2, 4, 5]) {
    const peer = serverWith(1, { streamWindow: window });
    relayAndResume(peer, 1, logOf([{ headers: RESPONSE }, { data: "hello" }]));
    const got = peer.output();
    while (!peer.stream(1).closed) {
      peer.sends(windowUpdate(1, window));
      got.push(...peer.output());
    }
    assertEquals(textOf(got), "hello");
    const pieces = got.filter((frame) => frame.type === "DATA");
    assertEquals(pieces.length, Math.ceil(5 / window));
    const ends = pieces.map((frame) => frame.type === "DATA" && frame.endStream);
    assertEquals(ends, pieces.map((_, i) => i === pieces.length - 1));
  }
});

Deno.test("Connection.relay goes on where it stands after the log dropped what was sent", () => {
  const log = new FrameLog();
  log.appendHeaders(block(RESPONSE), false);
  const peer = serverWith(1, { streamWindow: 10_000 });
  const stream = peer.stream(1);
  relayAndResume(peer, 1, log);
  const body = pattern(2 ** 20);
  let text = "";
  for (let at = 0; at < body.length; at += 50_000) {
    log.appendData(body, at, Math.min(body.length, at + 50_000), at + 50_000 >= body.length);
    for (let i = 0; i < 6; i++) {
      peer.connection.relay(stream, log);
      log.dropBefore(stream.position);
      text += textOf(peer.output());
      if (!stream.closed) peer.sends(windowUpdate(1, 10_000), windowUpdate(0, 10_000));
    }
    assertLess(log.heldBytes, 400_000);
  }
  assertEquals(ascii(text), body);
  assert(stream.closed);
});

Deno.test("Connection.relay shares the connection's window among many streams, in turn", () => {
  const peer = serverWith(10, { streamWindow: LARGE_WINDOW });
  const log = logOf([{ headers: RESPONSE }, { data: pattern(100_000) }, { headers: TRAILERS }]);
  for (let id = 1; id < 20; id += 2) relayAndResume(peer, id, log);
  const sent = new Map<number, number>();
  count(peer.output(), sent);
  assertEquals([...sent], [[1, 65_535]], "the first takes all of it, before the others come");
  const order: number[] = [];
  for (let turn = 0; turn < 20; turn++) {
    peer.sends(windowUpdate(0, 1_000));
    order.push(...count(peer.output(), sent));
  }
  const ids = [1, 3, 5, 7, 9, 11, 13, 15, 17, 19];
  assertEquals(order, [...ids, ...ids], "each has its turn before anyone has a second");
  peer.sends(windowUpdate(0, 10 ** 6));
  drain(peer, sent);
  assertEquals([...sent.values()], ids.map(() => 100_000));
  assertEquals(peer.connection.openStreams, 0);
});

Deno.test("Connection.relay lets short replies pass while a stream waits for its own window", () => {
  const peer = serverWith(3, { streamWindow: 10_000 });
  relayAndResume(peer, 1, logOf([{ headers: RESPONSE }, { data: pattern(50_000) }]));
  peer.output();
  for (const id of [3, 5]) peer.connection.relay(peer.stream(id), logOf([{ data: "short" }]));
  peer.expects(data(3, "short", { endStream: true }), data(5, "short", { endStream: true }));
});

Deno.test("Connection.relay passes over a stream that waits for its own window when the connection's opens", () => {
  const peer = serverWith(2, { streamWindow: 70_000 });
  const log = logOf([{ data: pattern(80_000) }]);
  relayAndResume(peer, 1, log);
  relayAndResume(peer, 3, log);
  assertEquals(count(peer.output(), new Map()), [1]);
  peer.sends(windowUpdate(0, 10_000)); // 4,465 fill up the first's own window
  const sent = new Map<number, number>();
  count(peer.output(), sent);
  assertEquals([...sent], [[1, 4_465], [3, 5_535]]);
  peer.sink.take();
  peer.sends(windowUpdate(0, 10_000));
  peer.told({ event: "writable", streamId: 3 });
});

Deno.test("Connection.relay queues no stream whose own window is used up with the connection's", () => {
  const peer = serverWith(1);
  relayAndResume(peer, 1, logOf([{ data: pattern(80_000) }]));
  assertEquals(textOf(peer.output()).length, 65_535);
  peer.sends(windowUpdate(0, 10_000));
  peer.told();
  peer.sends(windowUpdate(1, 10_000));
  assertEquals(textOf(peer.output()).length, 10_000);
});

Deno.test("Connection.relay holds DATA back at the high-water mark, and goes on when drained", () => {
  const peer = serverWith(4, { streamWindow: LARGE_WINDOW, connectionWindow: LARGE_WINDOW });
  const log = logOf([{ headers: RESPONSE }, { data: pattern(400_000) }, { headers: TRAILERS }]);
  for (const id of [1, 3, 5, 7]) relayAndResume(peer, id, log);
  const sent = new Map<number, number>();
  let turns = 0;
  while (peer.connection.outputBytes > 0) {
    assertGreater(OUTPUT_HIGH_WATER_BYTES + 20_000, peer.connection.outputBytes);
    count(peer.output(), sent);
    peer.connection.drained();
    turns++;
  }
  assertGreater(turns, 5);
  assertEquals([...sent.values()], [400_000, 400_000, 400_000, 400_000]);
  assertEquals(peer.connection.openStreams, 0);
});

Deno.test("Connection.relay sends headers beyond the high-water mark, as control frames go", () => {
  const peer = serverWith(3, { streamWindow: LARGE_WINDOW, connectionWindow: LARGE_WINDOW });
  relayAndResume(peer, 1, logOf([{ data: pattern(400_000) }]));
  const before = peer.connection.outputBytes;
  peer.connection.relay(peer.stream(3), logOf([{ headers: [...RESPONSE, ...TRAILERS] }]));
  assert(peer.stream(3).closed);
  peer.connection.relay(peer.stream(5), logOf([{ headers: RESPONSE }, { data: "x" }]));
  const output = peer.output();
  assertGreater(before, OUTPUT_HIGH_WATER_BYTES - 1);
  assertEquals(output.slice(-2).map(({ type }) => type), ["HEADERS", "HEADERS"], "DATA waits");
});

Deno.test("Connection.relay does nothing more for a stream that was reset while it waited", () => {
  const peer = serverWith(3, { streamWindow: LARGE_WINDOW });
  const log = logOf([{ data: pattern(100_000) }]);
  for (const id of [1, 3, 5]) relayAndResume(peer, id, log);
  peer.output();
  peer.sends(rstStream(1, ERROR_CODE.cancel));
  peer.connection.reset(peer.stream(3), ERROR_CODE.cancel);
  peer.output();
  peer.sink.take();
  peer.sends(windowUpdate(0, 100_000));
  const sent = new Map<number, number>();
  drain(peer, sent);
  assertEquals([...sent], [[5, 100_000]]);
  assertEquals(peer.sink.take(), [{ event: "writable", streamId: 5 }]);
});

Deno.test("Connection.relay ends a stream once, whatever opens again after", () => {
  const peer = serverWith(1);
  relayAndResume(peer, 1, logOf([{ data: "x" }]));
  peer.expects(data(1, "x", { endStream: true }));
  peer.sink.take();
  peer.sends(windowUpdate(1, 5), windowUpdate(0, 5));
  peer.connection.drained();
  peer.expects();
  peer.told();
});

Deno.test("Connection.relay on a client leaves its stream open for the reply", () => {
  const peer = new ScriptedPeer("client");
  const stream = peer.opens();
  peer.connection.relay(stream, logOf([{ data: "x" }]));
  peer.expects(data(1, "x", { endStream: true }));
  assertEquals([stream.localEnded, stream.closed], [true, false]);
  peer.sends(headers(1, RESPONSE), headers(1, TRAILERS, { endStream: true }));
  assert(stream.closed);
});

Deno.test("Connection.relay says the same bytes at random windows and cuts of the log's growth", () => {
  for (let seed = 1; seed <= 40; seed++) {
    const random = rng(seed);
    const pick = (most: number) => Math.floor(random() * most);
    const peer = serverWith(2, { streamWindow: pick(2) * pick(5_000) });
    const log = new FrameLog();
    log.appendHeaders(block(RESPONSE), false);
    const body = pattern(pick(60_000));
    const got: SeenFrame[] = [];
    peer.sink.reactions.writable = (stream) => peer.connection.relay(stream, log);
    for (let at = 0; !log.ended || peer.connection.openStreams > 0;) {
      const to = Math.min(body.length, at + pick(9_000));
      if (!log.ended) log.appendData(body, at, to, to === body.length);
      at = to;
      for (const id of [1, 3]) {
        const stream = peer.stream(id);
        peer.connection.relay(stream, log);
        if (!stream.closed) peer.sends(windowUpdate(id, 1 + pick(9_000)));
      }
      peer.sends(windowUpdate(0, 1 + pick(20_000)));
      got.push(...peer.output());
    }
    for (const id of [1, 3]) {
      const own = got.filter((frame) => "streamId" in frame && frame.streamId === id);
      assertEquals(textOf(own), String.fromCharCode(...body), `seed ${seed}, stream ${id}`);
    }
  }
});

/** A block of 20,000 bytes, which is larger than what may always go. */
const LARGE_BLOCK = blockOf(20_000, TRAILERS);

Deno.test("Connection.relay lets large header blocks wait for room in the output, and small ones go", () => {
  const peer = serverWith(60);
  const large = logOf([{ block: LARGE_BLOCK }]);
  const small = logOf([{ headers: [...RESPONSE, ...TRAILERS] }]);
  for (let id = 1; id < 100; id += 2) relayAndResume(peer, id, large);
  const reached = peer.connection.outputBytes;
  assertGreater(reached, OUTPUT_HIGH_WATER_BYTES - 1);
  assertLess(reached, OUTPUT_HIGH_WATER_BYTES + 21_000);
  relayAndResume(peer, 101, small);
  assert(peer.stream(101).closed, "a small block goes");
  peer.sends(windowUpdate(0, 1_000));
  assertLess(peer.connection.outputBytes, reached + 1_000);
  const ended: number[] = [];
  for (let round = 0; peer.connection.openStreams > 9; round++) {
    assertLess(round, 20);
    ended.push(...endedStreams(peer.output()));
    peer.connection.drained();
  }
  ended.push(...endedStreams(peer.output()));
  const inOrder = Array.from({ length: 50 }, (_, i) => 2 * i + 1);
  assertEquals(ended.filter((id) => id < 100), inOrder, "first come, first served");
});

Deno.test("Connection.relay sends header blocks that waited though the connection's window is closed", () => {
  const peer = serverWith(40, { connectionWindow: 65_535, streamWindow: LARGE_WINDOW });
  relayAndResume(peer, 1, logOf([{ data: pattern(70_000) }]));
  const large = logOf([{ block: LARGE_BLOCK }]);
  for (let id = 3; id < 80; id += 2) relayAndResume(peer, id, large);
  for (let round = 0; round < 6; round++) {
    peer.output();
    peer.connection.drained();
  }
  peer.output();
  assertEquals(peer.connection.openStreams, 1, "the one that waits for the window");
});

Deno.test("Connection.relay keeps the order of a stream's frames when its trailers have to wait", () => {
  const peer = serverWith(3, { streamWindow: LARGE_WINDOW, connectionWindow: LARGE_WINDOW });
  relayAndResume(peer, 1, logOf([{ data: pattern(300_000) }]));
  relayAndResume(peer, 3, logOf([{ headers: RESPONSE }, { block: LARGE_BLOCK }]));
  relayAndResume(peer, 5, logOf([{ headers: RESPONSE }, { data: "x" }, { block: LARGE_BLOCK }]));
  peer.output();
  const seen: Record<number, string[]> = { 1: [], 3: [], 5: [] };
  for (let round = 0; round < 4; round++) {
    peer.connection.drained();
    for (const frame of peer.output()) {
      if ("streamId" in frame) seen[frame.streamId]!.push(frame.type);
    }
  }
  assertEquals(seen[5], ["DATA", "HEADERS"]);
  assertEquals(seen[3], ["HEADERS"]);
  assertEquals(peer.connection.openStreams, 0);
});

Deno.test("WaitingStreams forgets a stream that is deleted, and keeps the others in order", () => {
  const waiting = new WaitingStreams<unknown>();
  const streams = [1, 3, 5, 7].map((id) => new Stream<unknown>(id, 0, 0));
  for (const stream of [...streams, ...streams]) waiting.addData(stream);
  waiting.delete(streams[1]!);
  waiting.delete(streams[0]!);
  waiting.addData(streams[0]!);
  assertEquals(streams.map(({ queued }) => queued), [true, false, true, true]);
  const resumed = [...waiting.resumable({ isBlocked: false, isFull: false })];
  assertEquals(resumed.map(({ id }) => id), [5, 7, 1]);
  assertEquals([...waiting.resumable({ isBlocked: false, isFull: false })], []);
});

Deno.test("WaitingStreams lets DATA and header blocks go first by turns", () => {
  const waiting = new WaitingStreams<unknown>();
  const [withData, withBlock] = [1, 3].map((id) => new Stream<unknown>(id, 0, 0));
  const order: number[][] = [];
  for (let turn = 0; turn < 3; turn++) {
    waiting.addData(withData!);
    waiting.addBlock(withBlock!);
    order.push([...waiting.resumable({ isBlocked: false, isFull: false })].map(({ id }) => id));
  }
  assertEquals(order, [[3, 1], [1, 3], [3, 1]]);
  waiting.addData(withData!);
  waiting.addBlock(withBlock!);
  const blocks = [...waiting.resumable({ isBlocked: true, isFull: false })];
  assertEquals(blocks.map(({ id }) => id), [3], "no window holds a block back");
  assertEquals([...waiting.resumable({ isBlocked: true, isFull: true })], []);
});

Deno.test("SendSide swaps two buffers, so that one is written while the other fills", () => {
  const send = new SendSide<unknown>();
  send.out.byte(1);
  const first = send.swap();
  send.out.byte(2);
  assertEquals([first.length, first.bytes[0]], [1, 1]);
  first.clear();
  const second = send.swap();
  assertEquals([second.length, second.bytes[0]], [1, 2]);
  assert(send.out === first);
});

/** A server with requests on the first `count` streams, and windows as the peer announced them. */
function serverWith(
  count: number,
  { streamWindow = 65_535, connectionWindow = 65_535 }: {
    streamWindow?: number;
    connectionWindow?: number;
  } = {},
): ScriptedPeer {
  const peer = new ScriptedPeer("server", {
    settings: [[SETTING.initialWindowSize, streamWindow]],
  });
  if (connectionWindow > 65_535) peer.sends(windowUpdate(0, connectionWindow - 65_535));
  const head = block(REQUEST);
  const opening = Array.from(
    { length: count },
    (_, i) => headers(2 * i + 1, head, { endStream: true }),
  );
  peer.sends(concat(...opening));
  peer.output();
  peer.sink.take();
  return peer;
}

/** Relays now and whenever the sink hears that it may go on. */
function relayAndResume(peer: ScriptedPeer, id: number, log: FrameLog): void {
  const stream = peer.stream(id);
  stream.owner = log;
  peer.sink.reactions.writable = (each) => peer.connection.relay(each, each.owner as FrameLog);
  peer.connection.relay(stream, log);
}

function textOf(frames: SeenFrame[]): string {
  return frames.map((frame) => frame.type === "DATA" ? frame.text : "").join("");
}

/** Adds up DATA by stream; the streams in the order of their frames, those in a row once. */
function count(frames: SeenFrame[], sent: Map<number, number>): number[] {
  const order: number[] = [];
  for (const frame of frames) {
    if (frame.type !== "DATA") continue;
    sent.set(frame.streamId, (sent.get(frame.streamId) ?? 0) + frame.text.length);
    if (order.at(-1) !== frame.streamId) order.push(frame.streamId);
  }
  return order;
}

/** Reads as a socket that takes everything, until there is no more. */
function drain(peer: ScriptedPeer, sent: Map<number, number>): void {
  while (peer.connection.outputBytes > 0) {
    count(peer.output(), sent);
    peer.connection.drained();
  }
}

/** The streams that these frames end, in order. */
function endedStreams(frames: readonly SeenFrame[]): number[] {
  return frames.flatMap((frame) =>
    frame.type === "HEADERS" && frame.endStream ? [frame.streamId] : []
  );
}
