import type { Connection } from "../connection/mod.ts";
import { ReadBuffer } from "./read_buffer.ts";
import { CallbackAlarm, type Timers } from "./timers.ts";

/**
 * Output that may wait while reading goes on. DATA stops at `OUTPUT_HIGH_WATER_BYTES`, so what comes above it is
 * headers and answers to control frames: a peer that sends those and does not read is not read either.
 */
const STOP_READING_BYTES = 2 ** 20;

/** A peer is given this long to hang up after our last word, as x/net and grpc-go give it. */
const LINGER_MS = 1_000;

/** Read, and thrown away, after our last word: far more than control frames come to, little for who uploads on and on. */
const MAX_LINGER_BYTES = 2 ** 20;

/** What a pump needs of a socket; `Deno.Conn` has it. */
export interface Socket {
  read(into: Uint8Array): Promise<number | null>;
  write(bytes: Uint8Array): Promise<number>;
  /** Says that nothing more is written; reading goes on. A pump that is to linger needs it. */
  closeWrite?(): Promise<void>;
  close(): void;
}

/** The owner of the connection that is pumped. */
export interface PumpOwner {
  /** Everything that was read together has been received: what was put off may be done. */
  received(): void;
  /** The socket is gone; `why` is undefined when the peer or we closed it in order. */
  closed(why: Error | undefined): void;
}

/** What a pump may be told. */
export interface PumpOptions {
  readonly owner: PumpOwner;
  readonly turn: Turn;
  readonly now: () => number;
  /**
   * What the connection says first goes out at once; else it waits until something was read, or the owner asks for it.
   * @default true
   */
  readonly speaksFirst?: boolean;
  /**
   * Time by which the peer must have hung up after our last word. A socket that is closed while bytes of the peer's lie
   * unread, a WINDOW_UPDATE or a PING ack, is reset (RFC 9293 §3.10.4), and what was written and has not arrived is lost:
   * so our end is closed first, and the rest read. @default the socket is closed at once
   */
  readonly lingers?: Timers;
}

/**
 * Moves bytes between one socket and one connection: reads in a loop, writes once a turn what all reads of that
 * turn produced, and never has two writes under way (they would interleave when one is partial).
 */
export class Pump<Owner> {
  readonly connection: Connection<Owner>;
  /** The last read found less than it had room for: nothing waits in the socket. */
  isDrained = true;
  /** Times that the socket was given something: it has taken what it was given before. */
  writes = 0;
  #socket: Socket;
  #owner: PumpOwner;
  #turn: Turn;
  #now: () => number;
  #speaksFirst: boolean;
  #lingers: Timers | undefined;
  #dirty = false;
  #writing = false;
  #trouble: Error | undefined = undefined;
  #closing = false;
  #closed = false;
  /** Set once our last word is out: the peer's end is awaited, and what it still sends thrown away. */
  #linger: CallbackAlarm | undefined = undefined;
  #lingerBytes = 0;
  #resumeReading: (() => void) | undefined = undefined;

  constructor(socket: Socket, connection: Connection<Owner>, options: PumpOptions) {
    this.#socket = socket;
    this.connection = connection;
    this.#owner = options.owner;
    this.#turn = options.turn;
    this.#now = options.now;
    this.#speaksFirst = options.speaksFirst ?? true;
    this.#lingers = options.lingers;
  }

  /** Runs until the socket is closed from either side. */
  async run(): Promise<void> {
    if (this.#speaksFirst) this.flushSoon(); // the preface
    const buffer = new ReadBuffer();
    try {
      await this.#readAll(buffer);
    } catch (error) {
      // Else it is our own closing that ended the read, or a peer that had heard all.
      if (!this.#closed && this.#linger === undefined) this.#trouble = asError(error);
    }
    buffer.giveBack();
    this.#shut();
    this.#owner.closed(this.#trouble);
  }

  /** What was put into the connection's output goes out at the end of this turn. */
  flushSoon(): void {
    if (this.#dirty) return;
    this.#dirty = true;
    this.#turn.add(this);
  }

  /** Closes the socket once the output is written, and the peer has hung up where the pump lingers. */
  close(): void {
    this.#closing = true;
    this.flushSoon();
  }

  /** Closes the socket now. */
  abort(): void {
    this.#shut();
  }

  /** Writes the output, or closes the socket when there is none and it is to be closed. {@linkcode Turn} calls it. */
  flush(): void {
    this.#dirty = false;
    if (this.#closed || this.#linger !== undefined) return;
    if (this.#writing) return this.connection.outputWaits();
    if (this.connection.outputBytes > 0) this.#write();
    else if (this.#closing || this.connection.failed !== undefined) this.#leave();
  }

  async #readAll(buffer: ReadBuffer): Promise<void> {
    const { connection } = this;
    for (;;) {
      const { bytes } = buffer;
      const count = await this.#socket.read(bytes);
      if (count === null) return;
      if (this.#linger !== undefined) {
        this.#lingerBytes += count;
        if (this.#lingerBytes > MAX_LINGER_BYTES) return;
        continue;
      }
      this.isDrained = count < bytes.length;
      connection.receive(bytes, this.#now(), count);
      this.#owner.received();
      if (connection.outputBytes > 0 || connection.failed !== undefined) this.flushSoon();
      buffer.took(count);
      if (connection.outputBytes > STOP_READING_BYTES) {
        await new Promise<void>((resume) => this.#resumeReading = resume);
      }
    }
  }

  async #write(): Promise<void> {
    this.#writing = true;
    try {
      while (this.connection.outputBytes > 0 && !this.#closed) {
        const output = this.connection.takeOutput();
        const { bytes, length } = output;
        this.writes++;
        let written = await this.#socket.write(
          length === bytes.length ? bytes : bytes.subarray(0, length),
        );
        while (written < length) {
          this.writes++;
          written += await this.#socket.write(bytes.subarray(written, length));
        }
        output.clear();
        this.connection.drained();
        if (this.connection.outputBytes <= STOP_READING_BYTES) this.#unblockReading();
      }
    } catch (error) {
      if (!this.#closed) this.#trouble = asError(error);
      this.#shut(); // which ends the read, and that tells the owner
    }
    this.#writing = false;
    this.flush();
  }

  #unblockReading(): void {
    this.#resumeReading?.();
    this.#resumeReading = undefined;
  }

  /** Our last word is out: closes our end, and the socket when the peer has closed its own. */
  #leave(): void {
    const timers = this.#lingers;
    if (timers === undefined || this.#socket.closeWrite === undefined) return this.#shut();
    this.#linger = new CallbackAlarm(() => this.#shut());
    timers.set(this.#linger, timers.nowMs + LINGER_MS);
    this.#unblockReading();
    this.#socket.closeWrite().catch(() => this.#shut()); // the peer is gone already
  }

  #shut(): void {
    this.#unblockReading();
    if (this.#closed) return;
    this.#closed = true;
    if (this.#linger !== undefined) this.#lingers?.cancel(this.#linger);
    this.connection.discardOutput();
    try {
      this.#socket.close();
    } catch (error) {
      if (!(error instanceof Deno.errors.BadResource)) throw error; // it was closed under us, as we wished
    }
  }
}

/**
 * The pumps with something to write this turn. Reads that were ready together are received together, before the
 * microtask that this queues, so a burst over many connections costs each of them one write.
 */
export class Turn {
  #pumps: Flushable[] = [];
  #queued = false;

  add(pump: Flushable): void {
    this.#pumps.push(pump);
    if (this.#queued) return;
    this.#queued = true;
    queueMicrotask(() => this.#flush());
  }

  #flush(): void {
    this.#queued = false;
    const pumps = this.#pumps;
    this.#pumps = [];
    for (const pump of pumps) pump.flush();
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

interface Flushable {
  flush(): void;
}
