import {
  Connection,
  type ConnectionSink,
  type ReceivedHeaders,
  type Stream,
} from "../../connection/mod.ts";
import {
  Alarm,
  Pump,
  type PumpOwner,
  type Socket,
  type Timers,
  type Turn,
} from "../../transport/mod.ts";
import { ERROR_CODE, type FrameLog, type HeaderCache } from "../../wire/mod.ts";

/** The backend that answers the calls. */
export interface ServedBy {
  readonly timers: Timers;
  readonly turn: Turn;
  readonly requestHeaders: HeaderCache;
  /** Hears of a call whose whole request is in. */
  serve(call: ServedCall): void;
  /** Hears of a call that its caller does not want any more. */
  givenUp(call: ServedCall): void;
  /** Hears that the time is over which the answer takes. */
  isDone(call: ServedCall): void;
  closed(session: StallSession): void;
}

/** A call to the backend, and the alarm of its own answer. */
export class ServedCall extends Alarm {
  readonly path: string;
  readonly session: StallSession;
  readonly stream: Stream<ServedCall>;
  /** Whether the backend works on the call. */
  isRunning = false;
  #by: ServedBy;

  constructor(
    by: ServedBy,
    session: StallSession,
    at: { stream: Stream<ServedCall>; path: string },
  ) {
    super();
    this.#by = by;
    this.session = session;
    this.stream = at.stream;
    this.path = at.path;
  }

  override wake(): void {
    this.#by.isDone(this);
  }

  replies(log: FrameLog): void {
    this.stream.owner = undefined;
    this.session.relay(this.stream, log);
  }

  resets(): void {
    this.stream.owner = undefined;
    this.session.refuse(this.stream);
  }
}

/** One connection to the embedded backend. */
export class StallSession implements ConnectionSink<ServedCall>, PumpOwner {
  #connection: Connection<ServedCall>;
  #pump: Pump<ServedCall>;
  #by: ServedBy;

  constructor(socket: Socket, by: ServedBy) {
    const { timers, turn, requestHeaders: headerCache } = by;
    this.#by = by;
    this.#connection = new Connection({ role: "server", sink: this, headerCache });
    const now = () => timers.refresh();
    this.#pump = new Pump(socket, this.#connection, { owner: this, turn, now });
  }

  /** Resolves when the connection is gone. */
  run(): Promise<void> {
    return this.#pump.run();
  }

  abort(): void {
    this.#pump.abort();
  }

  relay(stream: Stream<ServedCall>, log: FrameLog): void {
    this.#connection.relay(stream, log);
    this.#pump.flushSoon();
  }

  refuse(stream: Stream<ServedCall>): void {
    this.#connection.reset(stream, ERROR_CODE.internalError);
    this.#pump.flushSoon();
  }

  /** Resets every call that is not answered. */
  refuseAll(): void {
    for (const stream of [...this.#connection.streams()]) {
      this.#forget(stream);
      this.refuse(stream);
    }
  }

  // ---- what the connection tells

  headers(stream: Stream<ServedCall>, { list }: ReceivedHeaders, endStream: boolean): void {
    const path = list.get(":path") ?? "";
    stream.owner ??= new ServedCall(this.#by, this, { stream, path });
    if (endStream) this.#by.serve(stream.owner);
  }

  data(
    stream: Stream<ServedCall>,
    _bytes: Uint8Array,
    from: number,
    to: number,
    endStream: boolean,
  ): void {
    this.#connection.consumed(stream, to - from);
    if (endStream && stream.owner !== undefined) this.#by.serve(stream.owner);
  }

  reset(stream: Stream<ServedCall>): void {
    this.#forget(stream);
  }

  writable(stream: Stream<ServedCall>): void {
    if (stream.log !== undefined) this.relay(stream, stream.log);
  }

  settings(): void {}

  goAway(): void {}

  pong(): void {}

  failed(): void {}

  // ---- what the pump tells

  received(): void {}

  closed(): void {
    for (const stream of [...this.#connection.streams()]) this.#forget(stream);
    this.#by.closed(this);
  }

  #forget(stream: Stream<ServedCall>): void {
    const { owner } = stream;
    stream.owner = undefined;
    if (owner !== undefined) this.#by.givenUp(owner);
  }
}
