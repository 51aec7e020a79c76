/**
 * Callers without manners: each connects, does one thing that no good caller does, and goes.
 *
 * @module
 */

import type { Socket } from "../../lib/transport/mod.ts";
import { ERROR_CODE, FRAME } from "../../lib/wire/mod.ts";
import {
  ascii,
  block,
  concat,
  data,
  headers,
  type Pairs,
  ping,
  PREFACE,
  raw,
  rstStream,
  settings,
  settingsAck,
} from "../support/frames.ts";
import { keyOfMany, type MethodName, METHODS, requestMessage } from "./content.ts";
import { frameMessage } from "../../lib/grpc/mod.ts";

/** Longest that one stays. */
const STAY_MS = 1_500;

const HELLO = concat(PREFACE, settings(), settingsAck());

interface RudePeer {
  readonly socket: Socket;
  readonly random: () => number;
}

/** What each does once it is connected. */
const ACTS: Readonly<Record<string, (peer: RudePeer) => Promise<void>>> = {
  "says nothing": (peer) => stay(peer),
  "half a preface": (peer) => say(peer, PREFACE.subarray(0, 11)).then(() => stay(peer)),
  "preface and silence": (peer) => say(peer, PREFACE).then(() => stay(peer)),
  "half a frame": (peer) => say(peer, concat(HELLO, request(1, "get").subarray(0, 40))),
  "a block without an end": (peer) =>
    say(peer, concat(HELLO, headers(1, block(head("get")).subarray(0, 30), { endHeaders: false })))
      .then(() => stay(peer)),
  "half a message": async (peer) => {
    const whole = request(1, "get", 0.5);
    await say(peer, concat(HELLO, whole));
    await stay(peer);
  },
  "half a stream": async (peer) => {
    await say(peer, concat(HELLO, request(1, "exchange", 0.7), request(3, "upload", 0.3)));
    await stay(peer);
  },
  "gone at once": (peer) => say(peer, concat(HELLO, request(1, "get"), request(3, "list"))),
  "does not read": async (peer) => {
    const ids = Array.from({ length: 20 }, (_, n) => 2 * n + 1);
    await say(
      peer,
      concat(HELLO, ...ids.map((id) => request(id, id % 4 === 1 ? "list" : "watch"))),
    );
    await pause(STAY_MS);
  },
  "resets all it opens": async (peer) => {
    const ids = Array.from({ length: 60 }, (_, n) => 2 * n + 1);
    const frames = ids.map((id) => concat(request(id, "get"), rstStream(id, ERROR_CODE.cancel)));
    await say(peer, concat(HELLO, ...frames));
    await stay(peer);
  },
  "resets half of what it asked": async (peer) => {
    await say(peer, concat(HELLO, request(1, "list"), request(3, "post"), request(5, "get")));
    await pause(peer.random() * 30);
    await say(
      peer,
      concat(rstStream(1, ERROR_CODE.cancel), rstStream(5, ERROR_CODE.internalError)),
    );
    await stay(peer);
  },
  "speaks HTTP/1": (peer) => say(peer, ascii("GET / HTTP/1.1\r\nHost: soak.test\r\n\r\n")),
  "speaks nonsense": (peer) => say(peer, ascii("\x16\x03\x01nonsense")),
  "DATA on stream 0": (peer) => say(peer, concat(HELLO, request(1, "get"), data(0, "x"))),
  "a frame too long": (peer) =>
    say(peer, concat(HELLO, raw(FRAME.data, { streamId: 1 }, new Uint8Array(20_000)))),
  "a block that cannot be read": (peer) =>
    say(peer, concat(HELLO, headers(1, Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0xff, 0xff)))),
  "many PINGs": async (peer) => {
    await say(peer, concat(HELLO, ...Array.from({ length: 300 }, (_, n) => ping(n & 255))));
    await stay(peer);
  },
};
export const RUDE_NAMES: readonly string[] = Object.keys(ACTS);

/** One of them comes and goes; resolves with what it did, when it is gone. */
export async function visitRudely(
  dial: () => Promise<Socket>,
  random: () => number,
): Promise<string> {
  const name = RUDE_NAMES[Math.floor(random() * RUDE_NAMES.length)]!;
  const socket = await dial();
  try {
    await ACTS[name]!({ socket, random });
  } catch {
    // It was shown the door while it spoke, as it should.
  } finally {
    try {
      socket.close();
    } catch {
      // The sidecar was faster.
    }
  }
  return name;
}

/** A call, or the first part of one. */
function request(id: number, name: MethodName, share = 1): Uint8Array {
  const key = keyOfMany(name, id % 40);
  const framed = frameMessage(requestMessage(key, 0)).subarray(0, 16_000);
  const part = framed.subarray(0, Math.ceil(framed.length * share));
  return concat(headers(id, head(name)), data(id, part, { endStream: share === 1 }));
}

function head(name: MethodName): Pairs {
  return [
    [":method", "POST"],
    [":scheme", "http"],
    [":path", METHODS[name].path],
    [":authority", "soak.test"],
    ["te", "trailers"],
    ["content-type", "application/grpc"],
    ["x-tenant", "rude"],
  ];
}

async function say({ socket }: RudePeer, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await socket.write(bytes.subarray(at));
}

/** Reads on for a while, or until the other side has had enough. */
async function stay({ socket, random }: RudePeer): Promise<void> {
  const into = new Uint8Array(16_384);
  const timer = setTimeout(() => {
    try {
      socket.close();
    } catch {
      // It is gone already.
    }
  }, random() * STAY_MS);
  try {
    while (await socket.read(into) !== null);
  } finally {
    clearTimeout(timer);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resume) => setTimeout(resume, ms));
}
