import { assert, assertEquals } from "@std/assert";
import type { Stream } from "../../lib/connection/mod.ts";
import { ERROR_CODE, FrameLog } from "../../lib/wire/mod.ts";
import { randomCuts, rng } from "../support/cuts.ts";
import {
  block,
  concat,
  continuation,
  data,
  goAway,
  headers,
  type Pairs,
  pattern,
  ping,
  priority,
  pushPromise,
  raw,
  REQUEST,
  RESPONSE,
  rstStream,
  settings,
  settingsAck,
  TRAILERS,
  windowUpdate,
} from "../support/frames.ts";
import { hex } from "../support/hex.ts";
import type { SinkEvent } from "../support/recording_sink.ts";
import { logOf, ScriptedPeer } from "../support/scripted_peer.ts";

const SEQUENCES = 1_000;
const MOST_FRAMES = 40;

/** One frame in so many has a byte changed. */
const MUTATE_ONE_IN = 40;

type Role = "client" | "server";

const HEADS: Record<Role, Uint8Array> = { server: block(REQUEST), client: block(RESPONSE) };
const ODD_FIELDS: Pairs = [["Bad", "1"], ["connection", "x"], ["content-length", "5"], ["x", "\n"]];
const REPLIES = [
  logOf([{ headers: RESPONSE }, { data: pattern(300) }, { headers: TRAILERS }]),
  logOf([{ headers: [...RESPONSE, ...TRAILERS] }]),
  logOf([{ headers: RESPONSE }, { data: pattern(70_000) }, { headers: TRAILERS }]),
];
const BODIES = [logOf([{ data: pattern(100) }]), logOf([{ data: pattern(70_000) }])];

for (const role of ["client", "server"] as const) {
  Deno.test(`Connection as a ${role} survives ${SEQUENCES} random conversations`, () => {
    let survivors = 0;
    for (let seed = 1; seed <= SEQUENCES; seed++) {
      const peer = new ScriptedPeer(role);
      try {
        const mutated = converse(peer, rng(seed));
        checkEvents(peer.sink.take());
        closeAll(peer, mutated);
      } catch (error) {
        throw new Error(`seed ${seed}`, { cause: error });
      }
      if (peer.connection.failed === undefined) survivors++;
    }
    // Conversations that all fail early, or never, would test little.
    assert(survivors > SEQUENCES / 10 && survivors < SEQUENCES * 9 / 10, `${survivors} survived`);
  });
}

/** Returns whether a byte was changed, after which the connection may wait for the rest of a frame. */
function converse(peer: ScriptedPeer, random: () => number): boolean {
  let mutated = false;
  let nextId = 1;
  /** The id of a stream that has not been heard of: new to a server, opened by a client. */
  function freshId(): number {
    if (peer.role === "server") return (nextId += 2) - 2;
    const fresh = [...peer.connection.streams()].filter((stream) => !stream.headersReceived);
    return fresh[Math.floor(random() * fresh.length)]?.id ?? openOne(peer, random);
  }
  let frames = Math.floor(random() * MOST_FRAMES);
  react(peer, random);
  while (frames-- > 0) {
    if (random() < 0.3) actOfOurs(peer, random);
    const bytes = concat(...randomFrames(peer, freshId, random));
    if (bytes.length > 0 && random() < 1 / MUTATE_ONE_IN) {
      bytes[Math.floor(random() ** 2 * bytes.length)] = Math.floor(random() * 256);
      mutated = true;
    }
    const pieces = random() < 0.2 ? randomCuts(bytes, Math.floor(random() * 1e9)) : [bytes];
    for (const piece of pieces) peer.sends(piece);
    if (random() < 0.3) {
      peer.output(); // which throws unless all of it is legal
      peer.connection.drained();
    }
  }
  peer.output();
  return mutated;
}

/** The sink answers from within, as an owner would. */
function react(peer: ScriptedPeer, random: () => number): void {
  const { connection, sink } = peer;
  sink.reactions = {
    headers: (stream) => {
      if (random() < 0.1) connection.reset(stream, ERROR_CODE.internalError);
      else if (peer.role === "server" && random() < 0.5) relay(peer, stream, random);
    },
    data: (stream, _bytes, from, to) => {
      connection.consumed(stream, to - from);
      if (random() < 0.05) connection.reset(stream, ERROR_CODE.cancel);
    },
    writable: (stream) => {
      if (stream.log !== undefined) connection.relay(stream, stream.log);
    },
  };
}

function relay(peer: ScriptedPeer, stream: Stream<unknown>, random: () => number): void {
  const logs = peer.role === "server" ? REPLIES : BODIES;
  const log = stream.log ?? logs[Math.floor(random() * logs.length)]!;
  peer.connection.relay(stream, log);
}

function actOfOurs(peer: ScriptedPeer, random: () => number): void {
  const { connection, role } = peer;
  const streams = [...connection.streams()];
  const stream = streams[Math.floor(random() * streams.length)];
  const choice = random();
  if (role === "client" && choice < 0.6) {
    openOne(peer, random);
  } else if (choice < 0.65) {
    connection.drain();
  } else if (stream !== undefined && choice < 0.75) {
    connection.reset(stream, ERROR_CODE.cancel);
  } else if (stream !== undefined && !stream.localEnded) {
    relay(peer, stream, random);
  }
}

/** Opens a stream if there is room for one; its id, or that of no stream. */
function openOne(peer: ScriptedPeer, random: () => number): number {
  if (!peer.connection.canOpen) return 2 ** 31 - 1;
  const options = { extra: [], endStream: random() < 0.5 };
  const opened = peer.connection.openStream(peer.list(REQUEST), options);
  peer.sink.streams.set(opened.id, opened);
  return opened.id;
}

function randomFrames(
  peer: ScriptedPeer,
  freshId: () => number,
  random: () => number,
): Uint8Array[] {
  const pick = (most: number) => Math.floor(random() * most);
  const met = [...peer.sink.streams.keys()];
  const id = met.length > 0 && random() < 0.98 ? met[pick(met.length)]! : pick(12);
  const head = HEADS[peer.role];
  const endStream = random() < 0.3;
  switch (pick(18)) {
    case 0:
    case 1:
    case 2:
      return [headers(freshId(), head, { endStream })];
    case 3:
      return [headers(freshId(), concat(head, hex("40 01 78 01 31 be")), { endStream })];
    case 4: {
      const cut = pick(head.length);
      const next = freshId();
      return [
        headers(next, head.subarray(0, cut), { endHeaders: false, endStream }),
        continuation(next, head.subarray(cut)),
      ];
    }
    case 5:
      return [headers(freshId(), concat(head, block([ODD_FIELDS[pick(4)]!])), { endStream })];
    case 6:
      return [headers(id, TRAILERS, { endStream: random() < 0.9 })];
    case 7:
    case 8:
    case 9:
      return [data(id, pattern(pick(2_000)), { endStream })];
    case 10:
      return [data(id, pattern(pick(20)), { endStream, padding: pick(256) })];
    case 11:
      return [rstStream(id, pick(14))];
    case 12:
      return [windowUpdate(random() < 0.5 ? 0 : id, 1 + pick(100_000))];
    case 13:
      return [settings([1 + pick(7), random() < 0.9 ? 16_384 + pick(60_000) : pick(2)])];
    case 14:
      return [settings([4, pick(70_000)], [1, pick(2) * pick(5_000)])];
    case 15:
      return [ping(pick(256), { ack: random() < 0.5 }), settingsAck(), priority(id, pick(12))];
    case 16:
      return [raw(pick(256), { flags: pick(256), streamId: id }, pattern(pick(30)))];
    default:
      return [
        random() < 0.1
          ? pushPromise(1, 2, REQUEST)
          : random() < 0.3
          ? goAway(pick(9), pick(3))
          : windowUpdate(id, 1 + pick(70_000)),
      ];
  }
}

/** What a sink may count on, whatever a peer does. */
function checkEvents(events: SinkEvent[]): void {
  const over = new Set<number>(); // by a reset
  const ended = new Set<number>(); // by END_STREAM
  events.forEach((event, i) => {
    if (event.event === "failed") assertEquals(i, events.length - 1, "nothing comes after failed");
    if (!("streamId" in event)) return;
    const { streamId } = event;
    assert(!over.has(streamId), `${event.event} after the reset of ${streamId}`);
    if (event.event === "reset") over.add(streamId);
    if (event.event !== "headers" && event.event !== "data") return;
    assert(!ended.has(streamId), `${event.event} after the end of ${streamId}`);
    if (event.endStream) ended.add(streamId);
  });
}

/** Everything left is reset, by the peer or by us, and nothing stays behind. */
function closeAll(peer: ScriptedPeer, byUs: boolean): void {
  const { connection, sink } = peer;
  if (connection.failed !== undefined) return;
  for (const stream of [...connection.streams()]) {
    if (byUs) connection.reset(stream, ERROR_CODE.cancel);
    else peer.sends(rstStream(stream.id, ERROR_CODE.cancel));
  }
  if (connection.failed !== undefined) return; // a header block was under way
  assertEquals(connection.openStreams, 0);
  for (const stream of sink.streams.values()) {
    assertEquals([stream.closed, stream.log, stream.queued], [true, undefined, false]);
    connection.relay(stream, new FrameLog());
  }
  peer.output();
  if (byUs) return;
  peer.sends(windowUpdate(0, 1), ping(1));
  assertEquals(connection.failed ?? peer.output().at(-1)?.type, "PING ack");
}
