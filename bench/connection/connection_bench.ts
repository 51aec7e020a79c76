/**
 * What a connection takes for the requests of one busy read: a hundred unary calls in, a small finished log
 * relayed to each, the output taken. One iteration is the whole read; a hundredth of it is a request. Run with
 * `deno bench bench/connection/`.
 *
 * @module
 */

import { Connection } from "../../lib/connection/mod.ts";
import {
  CLIENT_PREFACE,
  encodeStateless,
  Field,
  FLAG,
  FRAME,
  FRAME_HEADER_BYTES,
  FrameLog,
  HeaderCache,
  HpackEncoder,
  OutputBuffer,
  putFrameHeader,
  putLatin1,
  putUint32,
  writeSettings,
  writeWindowUpdate,
} from "../../lib/wire/mod.ts";

/** Requests of one read. */
const CALLS = 100;

/** DATA of a small unary request or reply. */
const SMALL_BYTES = 100;

/** Times a field is sent before the encoder has given it a place in the table. */
const WARMING_ROUNDS = 3;

const PER_CALL = new Set(["grpc-timeout", "traceparent"]);

const cache = new HeaderCache((name) => PER_CALL.has(name));
const head = cache.list([
  [":method", "POST"],
  [":scheme", "http"],
  [":path", "/hello.v1.Hello/SayHello"],
  [":authority", "service.test:50052"],
  ["content-type", "application/grpc"],
  ["user-agent", "grpc-go/1.72.0"],
  ["te", "trailers"],
]);
const extra = [
  new Field("grpc-timeout", "999871u", { perCall: true }),
  new Field("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", {
    perCall: true,
  }),
];

const reply = new FrameLog();
reply.appendHeaders(
  encodeStateless(cache.list([[":status", "200"], ["content-type", "application/grpc"]]).fields),
  false,
);
reply.appendData(new Uint8Array(SMALL_BYTES), 0, SMALL_BYTES);
reply.appendHeaders(encodeStateless(cache.list([["grpc-status", "0"]]).fields), true);

const servers = [caller([]), caller(extra)];
for (const [i, name] of ["every field indexed", "and two literals that differ"].entries()) {
  const server = servers[i]!;
  Deno.bench({
    group: `${CALLS} requests of ${SMALL_BYTES} bytes in one read`,
    name,
    baseline: i === 0,
    fn() {
      server.round();
    },
  });
}

globalThis.addEventListener("unload", () => {
  for (const { connection, asked, answered } of servers) {
    if (connection.failed !== undefined) {
      throw new Error(`Cannot trust this: ${connection.failed.why}`);
    }
    if (connection.openStreams > 0 || asked() === 0 || asked() !== answered()) {
      throw new Error("Cannot trust this: not every request was answered");
    }
  }
});

/** A server connection and the read that is sent to it over and over, on new streams each time. */
function caller(perCall: readonly Field[]) {
  let answers = 0;
  const connection = new Connection<undefined>({
    role: "server",
    headerCache: cache,
    sink: {
      headers() {},
      data(stream, _bytes, _from, _to, endStream) {
        if (!endStream) return;
        answers++;
        connection.relay(stream, reply);
      },
      reset() {},
      writable() {},
      settings() {},
      goAway() {},
      pong() {},
      failed() {},
    },
  });
  receive((out) => {
    const at = out.extend(CLIENT_PREFACE.length);
    putLatin1(CLIENT_PREFACE, out.bytes, at);
    writeSettings(out, []);
  });
  const encoder = new HpackEncoder();
  let nextId = 1;
  for (let i = 0; i < WARMING_ROUNDS; i++) {
    receive((out) => appendRequest(out, encode()));
    nextId += 2;
  }
  const block = encode();
  const read = new OutputBuffer();
  for (let i = 0; i < CALLS; i++) appendRequest(read, block);
  const prepared = read.bytes.slice(0, read.length);
  const second = FRAME_HEADER_BYTES + block.length;
  const stride = second + FRAME_HEADER_BYTES + SMALL_BYTES;

  function encode(): Uint8Array {
    const out = new OutputBuffer();
    for (const field of head.fields) encoder.write(out, field);
    for (const field of perCall) encoder.write(out, field);
    return out.bytes.slice(0, out.length);
  }

  function appendRequest(out: OutputBuffer, headers: Uint8Array): void {
    let at = out.extend(FRAME_HEADER_BYTES + headers.length);
    putFrameHeader(out.bytes, at, headers.length, FRAME.headers, FLAG.endHeaders, nextId);
    out.bytes.set(headers, at + FRAME_HEADER_BYTES);
    at = out.extend(FRAME_HEADER_BYTES + SMALL_BYTES);
    putFrameHeader(out.bytes, at, SMALL_BYTES, FRAME.data, FLAG.endStream, nextId);
  }

  function receive(write: (out: OutputBuffer) => void): void {
    const out = new OutputBuffer();
    write(out);
    connection.receive(out.bytes, 0, out.length);
    takeOutput();
  }

  function takeOutput(): void {
    connection.takeOutput().clear();
    connection.drained();
  }

  /** The whole window of a round is given back, so that none ever waits. */
  const credit = new OutputBuffer();
  writeWindowUpdate(credit, 0, CALLS * SMALL_BYTES);

  return {
    connection,
    asked: () => (nextId - 1) / 2,
    answered: () => answers,
    round(): void {
      for (let at = 0; at < prepared.length; at += stride, nextId += 2) {
        putUint32(prepared, at + 5, nextId);
        putUint32(prepared, at + second + 5, nextId);
      }
      connection.receive(prepared, 0);
      connection.receive(credit.bytes, 0, credit.length);
      takeOutput();
    },
  };
}
