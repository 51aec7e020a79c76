/**
 * The backend where Go is missing: `bench/load/echo` with our own server role instead, which is a floor like its
 * `-raw`. Takes calls of any method, answers GetSlow after 50 ms and all others at once with what they were sent,
 * counts them, and serves the count at http://ADMIN/calls. Prints one JSON line with both addresses.
 *
 * @module
 */

import { Connection, type ConnectionSink, type Stream } from "../../lib/connection/mod.ts";
import { CallbackAlarm, listen, Pump, type Socket, Timers, Turn } from "../../lib/transport/mod.ts";
import { encodeStateless, Field, FrameLog, HeaderCache } from "../../lib/wire/mod.ts";

const LOOPBACK = "127.0.0.1";
const SLOW_MS = 50;

const HEAD = encodeStateless([
  new Field(":status", "200"),
  new Field("content-type", "application/grpc"),
]);
const TRAILERS = encodeStateless([new Field("grpc-status", "0")]);

/** One call: its reply grows while its request comes. */
interface Call {
  readonly isSlow: boolean;
  readonly reply: FrameLog;
}

const timers = new Timers();
const turn = new Turn();
const headerCache = new HeaderCache();
let calls = 0;

/** A connection that echoes. */
class EchoSession implements ConnectionSink<Call> {
  readonly #connection: Connection<Call>;
  readonly #pump: Pump<Call>;

  constructor(socket: Socket) {
    this.#connection = new Connection({ role: "server", sink: this, headerCache });
    const owner = { received: () => {}, closed: () => {} };
    this.#pump = new Pump(socket, this.#connection, { owner, turn, now: () => timers.refresh() });
  }

  run(): Promise<void> {
    return this.#pump.run();
  }

  headers(stream: Stream<Call>, { list }: Parameters<ConnectionSink<Call>["headers"]>[1]): void {
    const isSlow = list.get(":path")?.endsWith("/GetSlow") ?? false;
    stream.owner = { isSlow, reply: new FrameLog() };
    stream.owner.reply.appendHeaders(HEAD, false);
  }

  data(stream: Stream<Call>, bytes: Uint8Array, from: number, to: number, ends: boolean): void {
    const { reply, isSlow } = stream.owner!;
    this.#connection.consumed(stream, to - from);
    if (to > from) reply.appendData(bytes, from, to);
    if (!ends) return;
    calls++;
    reply.appendHeaders(TRAILERS, true);
    if (!isSlow) return this.#connection.relay(stream, reply);
    const alarm = new CallbackAlarm(() => {
      if (stream.closed) return;
      this.#connection.relay(stream, reply);
      this.#pump.flushSoon();
    });
    timers.set(alarm, timers.nowMs + SLOW_MS);
  }

  writable(stream: Stream<Call>): void {
    this.#connection.relay(stream, stream.owner!.reply);
  }

  reset(): void {}
  settings(): void {}
  goAway(): void {}
  pong(): void {}
  failed(): void {}
}

const listening = listen(
  { hostname: LOOPBACK, port: 0 },
  (socket) => void new EchoSession(socket).run(),
  (error) => console.error(error.message),
);
const admin = Deno.serve(
  { hostname: LOOPBACK, port: 0, onListen: () => {} },
  () => new Response(`${calls}\n`),
);
console.log(JSON.stringify({
  addr: `${LOOPBACK}:${listening.port}`,
  admin: `${LOOPBACK}:${admin.addr.port}`,
}));
