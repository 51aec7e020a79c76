import { assert, assertEquals } from "@std/assert";
import { Connection, type ConnectionSink } from "../../lib/connection/mod.ts";
import { Field, HeaderCache } from "../../lib/wire/mod.ts";
import { concat, data, headers, pattern, PREFACE, REQUEST, settings } from "../support/frames.ts";
import { heapBytesOf } from "../support/heap_walk.ts";

/** What an idle connection may hold more than one that never had a call: two outputs of 4 KiB, and slots of streams. */
const MAX_MORE_BYTES = 16_000;

/** What a read brings at most. */
const READ_BYTES = 65_536;

/** Open streams of one burst. */
const STREAMS = 2_000;

const OK = [new Field(":status", "200"), new Field("grpc-status", "0")];

const BURSTS: Readonly<Record<string, Uint8Array>> = {
  "a burst of calls": concat(...calls(STREAMS).map(({ head, body }) => concat(head, body))),
  "many calls open at once": concat(
    ...calls(STREAMS).map(({ head }) => head),
    ...calls(STREAMS).map(({ body }) => body),
  ),
  "a long message": concat(
    headers(1, REQUEST),
    ...Array.from({ length: 8 }, () => data(1, pattern(16_384))),
    data(1, pattern(100), { endStream: true }),
  ),
};

for (const [name, burst] of Object.entries(BURSTS)) {
  Deno.test(`Connection that is idle after ${name} holds little more than one that had none`, () => {
    const [connection, fresh] = [server(), server()];
    for (let at = 0; at < burst.length; at += READ_BYTES) {
      connection.receive(burst.subarray(at, at + READ_BYTES), 0);
      connection.takeOutput().clear();
    }
    connection.takeOutput().clear(); // the other one of the two
    assertEquals([connection.failed, connection.openStreams], [undefined, 0]);
    const bytes = heapBytesOf(connection, fresh);
    assert(bytes < MAX_MORE_BYTES, `${bytes}`);
  });
}

function calls(count: number): { head: Uint8Array; body: Uint8Array }[] {
  return Array.from({ length: count }, (_, i) => ({
    head: headers(2 * i + 1, REQUEST),
    body: data(2 * i + 1, pattern(10), { endStream: true }),
  }));
}

/** One that answers every call, as soon as it is whole. */
function server(): Connection<undefined> {
  const sink: ConnectionSink<undefined> = {
    headers() {},
    data(stream, _bytes, from, to, endStream) {
      connection.consumed(stream, to - from);
      if (endStream) connection.sendFinalHeaders(stream, OK);
    },
    reset() {},
    writable() {},
    settings() {},
    goAway() {},
    pong() {},
    failed() {},
  };
  const connection = new Connection<undefined>({
    role: "server",
    sink,
    headerCache: new HeaderCache(),
  });
  connection.receive(concat(PREFACE, settings()), 0);
  connection.takeOutput().clear();
  return connection;
}
