import { assert, assertEquals } from "@std/assert";
import type { Stream } from "../../lib/connection/mod.ts";
import { ERROR_CODE, FrameLog, latin1 } from "../../lib/wire/mod.ts";
import { rng } from "../support/cuts.ts";
import { type Pairs, pattern, REQUEST, RESPONSE, TRAILERS } from "../support/frames.ts";
import { ConnectionPair } from "../support/pair.ts";
import type { SinkEvent } from "../support/recording_sink.ts";
import { logOf } from "../support/scripted_peer.ts";

Deno.test("Connection talks to Connection: a call there and back, at 50 cuts", () => {
  for (let seed = 1; seed <= 50; seed++) {
    const pair = new ConnectionPair(seed);
    const stream = pair.open({ endStream: false });
    pair.client.connection.relay(stream, logOf([{ data: "question" }]));
    pair.pump();
    assertEquals(pair.server.sink.take().slice(-2), [
      { event: "headers", streamId: 1, fields: REQUEST, endStream: false },
      { event: "data", streamId: 1, text: "question", endStream: true },
    ], `seed ${seed}`);
    pair.server.connection.relay(
      pair.server.sink.streams.get(1)!,
      logOf([{ headers: RESPONSE }, { data: "answer" }, { headers: TRAILERS }]),
    );
    pair.pump();
    assertEquals(pair.client.sink.take().slice(-3), [
      { event: "headers", streamId: 1, fields: RESPONSE, endStream: false },
      { event: "data", streamId: 1, text: "answer", endStream: false },
      { event: "headers", streamId: 1, fields: TRAILERS, endStream: true },
    ], `seed ${seed}`);
    assertQuiet(pair, seed);
  }
});

Deno.test("Connection moves large bodies both ways at once, with all credit given back in time", () => {
  for (let seed = 1; seed <= 5; seed++) {
    const pair = new ConnectionPair(seed);
    const random = rng(seed);
    const bodies = Array.from({ length: 4 }, () => pattern(Math.floor(random() * 1_500_000)));
    echoReplies(pair, bodies);
    for (const body of bodies) {
      const stream = pair.open({ endStream: false });
      stream.owner = logOf([{ data: body }]);
      pair.client.connection.relay(stream, stream.owner as FrameLog);
    }
    pair.pump();
    bodies.forEach((body, i) => {
      for (const { sink } of [pair.client, pair.server]) {
        assertEquals(
          textOf(sink.events, 2 * i + 1),
          latin1(body, 0, body.length),
          `seed ${seed}, stream ${i}`,
        );
      }
    });
    assertQuiet(pair, seed);
  }
});

Deno.test("Connection carries metadata of 4 to 60 KB in every place (CONTINUATION both ways)", () => {
  for (const size of [4_000, 8_000, 12_000, 16_000, 17_000, 20_000, 60_000]) {
    const pair = new ConnectionPair(size);
    const large: Pairs = [["x-large", "v".repeat(size)]];
    const other = pair.open({ endStream: false });
    const stream = pair.open({ fields: [...REQUEST, ...large] });
    pair.pump();
    assertEquals(pair.server.sink.take().at(-1), {
      event: "headers",
      streamId: stream.id,
      fields: [...REQUEST, ...large],
      endStream: true,
    });
    pair.server.connection.relay(
      pair.server.sink.streams.get(stream.id)!,
      logOf([{ headers: [...RESPONSE, ...large] }, { headers: [...TRAILERS, ...large] }]),
    );
    pair.pump();
    assertEquals(pair.client.sink.take().slice(-2), [
      { event: "headers", streamId: 3, fields: [...RESPONSE, ...large], endStream: false },
      { event: "headers", streamId: 3, fields: [...TRAILERS, ...large], endStream: true },
    ]);
    assert(!other.closed);
  }
});

Deno.test("Connection flags metadata of 200 KB in every place and loses no other stream", () => {
  const pair = new ConnectionPair(1);
  const large: Pairs = [["x-large", "v".repeat(200_000)]];
  const other = pair.open({ endStream: false });
  const stream = pair.open({ fields: [...REQUEST, ...large] });
  pair.pump();
  assert(isTooLarge(pair.server.sink.take().at(-1)));
  pair.server.connection.relay(
    pair.server.sink.streams.get(stream.id)!,
    logOf([{ headers: [...RESPONSE, ...large] }, { headers: [...TRAILERS, ...large] }]),
  );
  pair.pump();
  const events = pair.client.sink.take().slice(-2);
  assertEquals(events.map(isTooLarge), [true, true]);
  assert(stream.closed);
  pair.client.connection.relay(other, logOf([{ data: "still here" }]));
  pair.pump();
  assertEquals(textOf(pair.server.sink.events, 1), "still here");
});

Deno.test("Connection drains while calls are opened, and loses none that was taken", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const pair = new ConnectionPair(seed);
    const random = rng(seed);
    const streams: Stream<unknown>[] = [];
    const reply = logOf([{ headers: RESPONSE }, { headers: TRAILERS }]);
    pair.server.sink.reactions.headers = (stream) => pair.server.connection.relay(stream, reply);
    const drainAt = Math.floor(random() * 10);
    for (let i = 0; i < 10; i++) {
      if (i === drainAt) pair.server.connection.drain();
      for (let j = 0; j < 3; j++) {
        if (pair.client.connection.canOpen) streams.push(pair.open());
      }
      if (random() < 0.5) pair.pump();
    }
    pair.pump();
    const ended = pair.client.sink.events.filter((event) =>
      event.event === "headers" && event.endStream
    );
    assertEquals(ended.length, streams.length, `seed ${seed}: each call has its answer`);
    const goAways = pair.client.sink.events.filter(({ event }) => event === "goAway");
    assertEquals(goAways.length, 2, `seed ${seed}`);
    assertEquals(pair.client.connection.peerLastStreamId, streams.at(-1)?.id ?? 0);
    assertQuiet(pair, seed);
  }
});

Deno.test("Connection agrees with Connection on resets from both sides at random moments", () => {
  for (let seed = 1; seed <= 60; seed++) {
    const pair = new ConnectionPair(seed);
    const random = rng(seed);
    const reply = logOf([{ headers: RESPONSE }, { data: pattern(3_000) }, { headers: TRAILERS }]);
    const body = logOf([{ data: pattern(2_000) }]);
    for (let i = 0; i < 60; i++) {
      const choice = random();
      if (choice < 0.4) {
        const stream = pair.open({ endStream: random() < 0.3 });
        if (random() < 0.8) pair.client.connection.relay(stream, body);
      } else if (choice < 0.55) {
        const stream = pick([...pair.client.connection.streams()], random);
        if (stream) pair.client.connection.reset(stream, ERROR_CODE.cancel);
      } else if (choice < 0.65) {
        const stream = pick([...pair.server.connection.streams()], random);
        if (stream) pair.server.connection.reset(stream, ERROR_CODE.internalError);
      } else if (choice < 0.85) {
        const stream = pick([...pair.server.connection.streams()], random);
        if (stream) pair.server.connection.relay(stream, reply);
      } else {
        pair.pump();
      }
    }
    pair.pump();
    for (const stream of [...pair.server.connection.streams()]) {
      pair.server.connection.relay(stream, reply);
    }
    pair.pump();
    assertQuiet(pair, seed);
  }
});

/** The server sends each body back as it has it, and both read at once. */
function echoReplies(pair: ConnectionPair, bodies: Uint8Array[]): void {
  for (const { connection, sink } of [pair.client, pair.server]) {
    sink.reactions.data = (stream, _bytes, from, to) => connection.consumed(stream, to - from);
    sink.reactions.writable = (stream) => connection.relay(stream, stream.owner as FrameLog);
  }
  pair.server.sink.reactions.data = (stream, _bytes, from, to, endStream) => {
    pair.server.connection.consumed(stream, to - from);
    if (!endStream) return;
    const body = bodies[(stream.id - 1) / 2]!;
    stream.owner = logOf([{ headers: RESPONSE }, { data: body }, { headers: TRAILERS }]);
    pair.server.connection.relay(stream, stream.owner as FrameLog);
  };
}

function assertQuiet(pair: ConnectionPair, seed: number): void {
  for (const { connection } of [pair.client, pair.server]) {
    assertEquals(connection.failed, undefined, `seed ${seed}`);
    assertEquals(connection.openStreams, 0, `seed ${seed}`);
  }
}

function textOf(events: SinkEvent[], streamId: number): string {
  return events.map((event) =>
    event.event === "data" && event.streamId === streamId ? event.text : ""
  ).join("");
}

function isTooLarge(event: SinkEvent | undefined): boolean {
  return event?.event === "headers" && event.tooLarge === true;
}

function pick<T>(from: T[], random: () => number): T | undefined {
  return from[Math.floor(random() * from.length)];
}
