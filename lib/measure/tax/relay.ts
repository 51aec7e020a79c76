import { type Address, dialTcp, listen, type Listening, type Socket } from "../../transport/mod.ts";

const LOOPBACK = "127.0.0.1";
const CONNECT_TIMEOUT_MS = 5_000;

/** Size of a read, as large as a proxy's. */
const BUFFER_BYTES = 65_536;

/**
 * A proxy that does nothing: carries bytes from and to one address and reads none of them. What a call takes longer
 * through it is the price of two more sockets and another turn of an event loop, which no proxy can be without.
 */
export class Relay implements AsyncDisposable {
  readonly #listening: Listening;
  readonly #sockets = new Set<Socket>();
  readonly #running = new Set<Promise<void>>();

  constructor(to: Address) {
    this.#listening = listen(
      { hostname: LOOPBACK, port: 0 },
      (socket) => this.#keep(this.#carry(socket, to)),
      () => {}, // a connection that could not be accepted fails at the client, which says so
    );
  }

  get address(): Address {
    return { host: LOOPBACK, port: this.#listening.port };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listening.close();
    this.#closeAll(this.#sockets);
    await Promise.all(this.#running);
  }

  #keep(work: Promise<void>): void {
    this.#running.add(work);
    void work.finally(() => this.#running.delete(work));
  }

  async #carry(near: Socket, to: Address): Promise<void> {
    const pair = [near];
    let ways: Promise<void>[] = [];
    this.#sockets.add(near);
    try {
      const far = await dialTcp(to, { timeoutMs: CONNECT_TIMEOUT_MS });
      pair.push(far);
      this.#sockets.add(far);
      ways = [copy(near, far), copy(far, near)];
      await Promise.race(ways);
    } catch {
      // Either side broke it off or cannot be reached; closing the other one tells it so.
    }
    // When either way ends, so does the other: HTTP/2 has no use for half a connection.
    this.#closeAll(pair);
    await Promise.allSettled(ways);
  }

  #closeAll(sockets: Iterable<Socket>): void {
    for (const socket of sockets) if (this.#sockets.delete(socket)) socket.close();
  }
}

async function copy(from: Socket, to: Socket): Promise<void> {
  const buffer = new Uint8Array(BUFFER_BYTES);
  for (;;) {
    const bytes = await from.read(buffer);
    if (bytes === null) return;
    for (let sent = 0; sent < bytes;) sent += await to.write(buffer.subarray(sent, bytes));
  }
}
