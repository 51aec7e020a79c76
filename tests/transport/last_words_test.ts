/**
 * What was said before a connection is closed arrives, though the peer talks on. On real sockets, since it is the kernel
 * that resets one when bytes come that nobody will read.
 *
 * @module
 */

import { assert } from "@std/assert";
import { Connection } from "../../lib/connection/mod.ts";
import { listen, Pump, type Socket, Timers, Turn } from "../../lib/transport/mod.ts";
import { HeaderCache } from "../../lib/wire/mod.ts";
import { concat, ping, PREFACE, settings } from "../support/frames.ts";
import { RecordingSink } from "../support/recording_sink.ts";
import { until, within } from "../support/waiting.ts";
import { PUBLIC, TlsServer, TRUSTING } from "./tls_fixture.ts";

/** More than the peer's kernel takes in before the peer reads, and no more than ours takes from us meanwhile. */
const PINGS = 6_000;

/** A PING frame. */
const PING_BYTES = 17;

/** A server's connection at one end, which has greeted and notes when it has closed its end. */
class Server {
  readonly timers = new Timers();
  readonly connection: Connection<unknown>;
  readonly running: Promise<void>;
  hasSpoken = false;
  readonly #pump: Pump<unknown>;

  constructor(socket: Socket) {
    this.connection = new Connection<unknown>({
      role: "server",
      sink: new RecordingSink(),
      headerCache: new HeaderCache(),
    });
    this.#pump = new Pump(this.#noting(socket), this.connection, {
      owner: { received: () => {}, closed: () => {} },
      turn: new Turn(),
      now: () => this.timers.refresh(),
      lingers: this.timers,
    });
    this.running = this.#pump.run().finally(() => this.timers.stop());
  }

  /** Says a lot, and that this was all. */
  saysAllAndLeaves(): void {
    for (let i = 0; i < PINGS; i++) this.connection.ping(new Uint8Array(8));
    this.#pump.close();
  }

  #noting(socket: Socket): Socket {
    return {
      read: (into) => socket.read(into),
      write: (bytes) => socket.write(bytes),
      closeWrite: () => {
        this.hasSpoken = true;
        return socket.closeWrite!();
      },
      close: () => {
        this.hasSpoken = true;
        socket.close();
      },
    };
  }
}

/** Bytes that come until the end; rejects when the connection is reset before. */
async function bytesUntilEnd(socket: Socket): Promise<number> {
  const into = new Uint8Array(65_536);
  let bytes = 0;
  for (;;) {
    const count = await within(socket.read(into), "the end of the connection");
    if (count === null) return bytes;
    bytes += count;
  }
}

/** A caller who talks on after the server's last word, and only then reads. */
async function hearsAll(client: Socket, server: Server): Promise<void> {
  await client.write(concat(PREFACE, settings()));
  await until(() => server.connection.ready, "a handshake");
  server.saysAllAndLeaves();
  await until(() => server.hasSpoken, "the last word");
  await client.write(concat(ping(1), ping(2)));
  const bytes = await bytesUntilEnd(client);
  assert(bytes > PINGS * PING_BYTES, `${bytes} bytes of ${PINGS * PING_BYTES} and more came`);
  client.close();
  await within(server.running, "the server's end");
}

Deno.test("Pump.close loses nothing that was said, though the peer talks on", async () => {
  const { promise, resolve } = Promise.withResolvers<Server>();
  const listening = listen(
    { hostname: "127.0.0.1", port: 0 },
    (socket) => resolve(new Server(socket)),
    (error) => {
      throw error;
    },
  );
  const client = await Deno.connect({ hostname: "127.0.0.1", port: listening.port });
  await hearsAll(client, await promise);
  listening.close();
});

Deno.test("Pump.close loses nothing that was said over TLS either", async () => {
  using server = new TlsServer(PUBLIC);
  const client = await server.dial(TRUSTING);
  await hearsAll(client, new Server((await server.connection()).socket));
});
