import { Connection, type Stream } from "../../lib/connection/mod.ts";
import { Pump, type Socket, Turn } from "../../lib/transport/mod.ts";
import { HeaderCache } from "../../lib/wire/mod.ts";
import { isQuestion } from "../support/questions.ts";
import type { Place } from "./place.ts";
import { ServedCall, type ServedOn } from "./served_call.ts";

const headers = new HeaderCache((name) => name === "grpc-timeout");
const turn = new Turn();

/** What all connections of a backend share. */
export interface ServedContext {
  /** Keys that were turned away and have not come again. */
  readonly refused: Set<string>;
  readonly place: Place;
  /** As in {@linkcode ServedOn}: never, while it is stalled. @default at once */
  awake?(): Promise<void>;
  /** The head of a caller's request has come. */
  called(): void;
  /** As in {@linkcode ServedOn}. */
  atGate?(): Promise<void>;
  closed(session: ServedSession): void;
}

/** One connection of a sidecar's to a backend. */
export class ServedSession implements ServedOn {
  readonly connection: Connection<ServedCall>;
  readonly refused: Set<string>;
  readonly place: Place;
  readonly #context: ServedContext;
  readonly #pump: Pump<ServedCall>;

  constructor(socket: Socket, context: ServedContext) {
    this.#context = context;
    this.refused = context.refused;
    this.place = context.place;
    const nobody = () => {};
    this.connection = new Connection<ServedCall>({
      role: "server",
      headerCache: headers,
      sink: {
        headers: (stream, { list, perCall }, endStream) => {
          if (stream.owner === undefined) {
            if (!isQuestion((name) => list.get(name))) context.called();
            stream.owner = new ServedCall(this, stream, { list, perCall });
          }
          if (endStream) stream.owner.requestEnded();
        },
        data: (stream, bytes, from, to, endStream) => {
          this.connection.consumed(stream, to - from);
          stream.owner?.receive(bytes, from, to);
          if (endStream) stream.owner?.requestEnded();
        },
        reset: (stream) => stream.owner?.cancel(),
        writable: (stream: Stream<ServedCall>) => stream.owner?.relay(),
        settings: nobody,
        goAway: nobody,
        pong: nobody,
        failed: ({ why }) => console.error(`Cannot go on with the sidecar's connection: ${why}`),
      },
    });
    this.#pump = new Pump(socket, this.connection, {
      owner: { received: () => this.closeWhenIdle(), closed: () => this.#closed() },
      turn,
      now: () => performance.now(),
    });
  }

  /** Resolves when the connection is gone. */
  run(): Promise<void> {
    return this.#pump.run();
  }

  async awake(): Promise<void> {
    await this.#context.awake?.();
  }

  async atGate(): Promise<void> {
    await this.#context.atGate?.();
  }

  flushSoon(): void {
    this.#pump.flushSoon();
  }

  drain(): void {
    this.connection.drain();
    this.flushSoon();
  }

  abort(): void {
    this.#pump.abort();
  }

  closeWhenIdle(): void {
    const { draining, drainFinished, openStreams } = this.connection;
    if (draining && drainFinished && openStreams === 0) this.#pump.close();
  }

  #closed(): void {
    for (const { owner } of [...this.connection.streams()]) owner?.cancel();
    this.#context.closed(this);
  }
}
