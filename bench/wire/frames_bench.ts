/**
 * What the way in and the way out cost per frame: cutting what was read into frames, a whole request
 * received, and a small finished reply relayed. Run with `deno bench bench/wire/`.
 *
 * @module
 */

import { FrameReader } from "../../lib/connection/frame_reader.ts";
import { Connection, type Stream } from "../../lib/connection/mod.ts";
import {
  CLIENT_PREFACE,
  encodeStateless,
  FrameLog,
  HeaderCache,
  OutputBuffer,
  putFrameHeader,
  putLatin1,
  writeSettings,
  writeWindowUpdate,
} from "../../lib/wire/mod.ts";

/** What one read of a busy socket brings. */
const READ_BYTES = 65_536;

/** DATA of a small unary request or reply. */
const SMALL_BYTES = 100;

const END_STREAM = 0x1;
const END_HEADERS = 0x4;
const DATA = 0x0;
const HEADERS = 0x1;

const cache = new HeaderCache();
const requestBlock = encodeStateless(
  cache.list([
    [":method", "POST"],
    [":scheme", "http"],
    [":path", "/hello.v1.Hello/SayHello"],
    [":authority", "service.test:50052"],
    ["content-type", "application/grpc"],
    ["te", "trailers"],
  ]).fields,
);

// ---- reading

let frames = 0;
const reader = new FrameReader({
  frame: () => ++frames > 0,
  frameTooLong() {
    throw new Error("Cannot measure: a frame is too long");
  },
});
const small = manyFrames(SMALL_BYTES);
const large = manyFrames(16_384);

Deno.bench({
  group: "FrameReader, one read of 64 KiB",
  name: `${small.count} frames of ${SMALL_BYTES} bytes`,
  baseline: true,
  fn() {
    reader.read(small.bytes, 0, small.bytes.length);
  },
});

Deno.bench({
  group: "FrameReader, one read of 64 KiB",
  name: `${large.count} frames of 16 KiB`,
  fn() {
    reader.read(large.bytes, 0, large.bytes.length);
  },
});

Deno.bench({
  group: "FrameReader, one read of 64 KiB",
  name: `${small.count} frames of ${SMALL_BYTES} bytes, in reads of 1,000`,
  fn() {
    for (let at = 0; at < small.bytes.length; at += 1_000) {
      reader.read(small.bytes, at, Math.min(at + 1_000, small.bytes.length));
    }
  },
});

Deno.bench({
  group: "FrameReader, one read",
  name: "of one frame of 100 bytes",
  fn() {
    reader.read(small.bytes, 0, 9 + SMALL_BYTES);
  },
});

// ---- a whole call: HEADERS and DATA in, a small finished log out

const reply = new FrameLog();
reply.appendHeaders(
  encodeStateless(cache.list([[":status", "200"], ["content-type", "application/grpc"]]).fields),
  false,
);
reply.appendData(new Uint8Array(SMALL_BYTES), 0, SMALL_BYTES);
reply.appendHeaders(encodeStateless(cache.list([["grpc-status", "0"]]).fields), true);

const request = new Uint8Array(2 * 9 + requestBlock.length + SMALL_BYTES);
putFrameHeader(request, 0, requestBlock.length, HEADERS, END_HEADERS, 0);
request.set(requestBlock, 9);
putFrameHeader(request, 9 + requestBlock.length, SMALL_BYTES, DATA, END_STREAM, 0);

let nextId = 1;
let answers = 0;
const connection = openServer((stream) => {
  connection.relay(stream, reply);
  answers++;
});

Deno.bench({
  group: "a request of 100 bytes",
  name: "received, a small finished log relayed, the output taken",
  baseline: true,
  fn() {
    receiveRequest();
    takeOutput();
  },
});

Deno.bench({
  group: "a request of 100 bytes",
  name: "100 of them before the output is taken",
  n: 500,
  warmup: 50,
  fn() {
    for (let i = 0; i < 100; i++) receiveRequest();
    takeOutput();
  },
});

globalThis.addEventListener("unload", () => {
  if (connection.failed !== undefined) {
    throw new Error(`Cannot trust this: ${connection.failed.why}`);
  }
  if (connection.openStreams > 0 || answers < (nextId - 1) / 2) {
    throw new Error("Cannot trust this: not every request was answered");
  }
  if (frames === 0) throw new Error("Cannot trust this: no frame was read");
});

function manyFrames(size: number): { bytes: Uint8Array; count: number } {
  const count = Math.floor(READ_BYTES / (9 + size));
  const bytes = new Uint8Array(count * (9 + size));
  for (let i = 0; i < count; i++) putFrameHeader(bytes, i * (9 + size), size, DATA, 0, 1);
  return { bytes, count };
}

function openServer(onEnd: (stream: Stream<undefined>) => void): Connection<undefined> {
  const server = new Connection<undefined>({
    role: "server",
    headerCache: cache,
    sink: {
      headers() {},
      data(stream, _bytes, _from, _to, endStream) {
        if (endStream) onEnd(stream);
      },
      reset() {},
      writable() {},
      settings() {},
      goAway() {},
      pong() {},
      failed() {},
    },
  });
  const hello = new OutputBuffer();
  putLatin1(CLIENT_PREFACE, (hello.extend(CLIENT_PREFACE.length), hello.bytes), 0);
  writeSettings(hello, []);
  writeWindowUpdate(hello, 0, 2 ** 31 - 1 - 65_535);
  server.receive(hello.bytes, 0, hello.length);
  return server;
}

/** The same bytes on the next stream; the window for the reply comes back now and then. */
function receiveRequest(): void {
  putFrameHeader(request, 0, requestBlock.length, HEADERS, END_HEADERS, nextId);
  putFrameHeader(request, 9 + requestBlock.length, SMALL_BYTES, DATA, END_STREAM, nextId);
  nextId += 2;
  connection.receive(request, 0);
  if ((nextId & 0xfffff) === 1) {
    const credit = new OutputBuffer();
    writeWindowUpdate(credit, 0, 2 ** 19 * SMALL_BYTES);
    connection.receive(credit.bytes, 0, credit.length);
  }
}

function takeOutput(): void {
  connection.takeOutput().clear();
  connection.drained();
}
