/**
 * A backend that answers when it is told to, so that a test can hold calls in flight for as long as it looks at them.
 * Fast enough for hundreds of thousands of calls, and nothing but our own server role.
 *
 * @module
 */

import { Connection, type ReceivedHeaders, type Stream } from "../../lib/connection/mod.ts";
import { frameMessage, STATUS } from "../../lib/grpc/mod.ts";
import { listen, type Listening, Pump, type Socket, Turn } from "../../lib/transport/mod.ts";
import { encodeStateless, Field, FrameLog, HeaderCache } from "../../lib/wire/mod.ts";
import { isQuestion } from "./questions.ts";
import { until } from "./waiting.ts";

const HEAD = [new Field(":status", "200"), new Field("content-type", "application/grpc")];

/** What it answers, as a message. */
export const GATED_REPLY: Uint8Array = new TextEncoder().encode("answered through the gate");

export interface GatedOptions {
  readonly open?: boolean;
  readonly port?: number;
  readonly listenWith?: (accept: (socket: Socket) => void) => Listening;
}

/** A call that reached it. */
interface Held {
  readonly connection: Connection<Held>;
  readonly stream: Stream<Held>;
  readonly pump: Pump<Held>;
  /** The sidecar asks this by itself: it is answered at once (12), and not counted. */
  readonly isQuestion: boolean;
}

export class GatedBackend implements AsyncDisposable {
  /** Whole requests that have come. */
  calls = 0;
  readonly port: number;
  readonly #reply = replyLog();
  readonly #unimplemented = statusLog(STATUS.unimplemented);
  readonly #headers = new HeaderCache();
  readonly #turn = new Turn();
  readonly #held = new Set<Held>();
  readonly #pumps = new Map<Pump<Held>, Promise<void>>();
  #open: boolean;
  #listening: Listening;

  /** `open` answers at once, until {@linkcode hold}. `port` 0 is any free one; `listenWith` listens elsewhere. */
  constructor({ open = false, port = 0, listenWith = listenOnPort(port) }: GatedOptions = {}) {
    this.#open = open;
    this.#listening = listenWith((socket) => this.#serve(socket));
    this.port = this.#listening.port;
  }

  /** Calls that wait for their answer now. */
  get waiting(): number {
    return this.#held.size;
  }

  /** Resolves when as many calls wait. */
  async holds(calls: number): Promise<void> {
    await until(() => this.#held.size === calls, `${calls} calls held at the backend`);
  }

  /** From now on calls wait. */
  hold(): void {
    this.#open = false;
  }

  /** Answers the calls that wait, and from now on all that come. */
  release(): void {
    this.#open = true;
    for (const held of this.#held) this.#answer(held);
    this.#held.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listening.close();
    for (const pump of this.#pumps.keys()) pump.abort();
    await Promise.all(this.#pumps.values());
  }

  #serve(socket: Socket): void {
    const nobody = () => {};
    const connection = new Connection<Held>({
      role: "server",
      headerCache: this.#headers,
      sink: {
        headers: (stream, { list }: ReceivedHeaders, endStream) => {
          stream.owner ??= {
            ...{ connection, stream, pump },
            isQuestion: isQuestion((name) => list.get(name)),
          };
          if (endStream) this.#arrived(stream.owner);
        },
        data: (stream, _bytes, from, to, endStream) => {
          connection.consumed(stream, to - from);
          if (endStream) this.#arrived(stream.owner!);
        },
        reset: (stream) => void this.#held.delete(stream.owner!),
        writable: (stream) => connection.relay(stream, this.#reply),
        settings: nobody,
        goAway: nobody,
        pong: nobody,
        failed: ({ why }) => {
          throw new Error(`The sidecar broke the protocol: ${why}`);
        },
      },
    });
    const closed = () => {
      for (const held of this.#held) if (held.connection === connection) this.#held.delete(held);
      this.#pumps.delete(pump);
    };
    const pump: Pump<Held> = new Pump(socket, connection, {
      owner: { received: nobody, closed },
      turn: this.#turn,
      now: () => 0,
    });
    this.#pumps.set(pump, pump.run());
  }

  #arrived(held: Held): void {
    if (held.isQuestion) {
      held.connection.relay(held.stream, this.#unimplemented);
      return held.pump.flushSoon();
    }
    this.calls++;
    if (this.#open) this.#answer(held);
    else this.#held.add(held);
  }

  #answer({ connection, stream, pump }: Held): void {
    connection.relay(stream, this.#reply);
    pump.flushSoon();
  }
}

function listenOnPort(port: number): (accept: (socket: Socket) => void) => Listening {
  return (accept) =>
    listen({ hostname: "127.0.0.1", port }, accept, (error) => {
      throw error;
    });
}

/** One for all calls: a log has any number of readers. */
function replyLog(): FrameLog {
  const log = new FrameLog();
  const message = frameMessage(GATED_REPLY);
  log.appendHeaders(encodeStateless(HEAD), false);
  log.appendData(message, 0, message.length);
  log.appendHeaders(encodeStateless([new Field("grpc-status", "0")]), true);
  return log;
}

/** A status and nothing else. */
function statusLog(status: number): FrameLog {
  const log = new FrameLog();
  log.appendHeaders(encodeStateless([...HEAD, new Field("grpc-status", String(status))]), true);
  return log;
}
