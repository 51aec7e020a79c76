import type { Connection } from "../connection/mod.ts";

/** A connection starts with this much to read into, and gets more only when it fills it: most are idle. */
const FIRST_READ_BYTES = 4_096;

/** Most read at once: more gains nothing (measured), less costs system calls. */
const MAX_READ_BYTES = 65_536;

/**
 * Output that may wait while reading goes on. DATA stops at `OUTPUT_HIGH_WATER_BYTES`, so what comes above it is
 * headers and answers to control frames: a peer that sends those and does not read is not read either.
 */
const STOP_READING_BYTES = 2 ** 20;

/** What a pump needs of a socket; `Deno.Conn` has it. */
export interface Socket {
  read(into: Uint8Array): Promise<number | null>;
  write(bytes: Uint8Array): Promise<number>;
  close(): void;
}

/** The owner of the connection that is pumped. */
export interface PumpOwner {
  /** Everything that was read together has been received: what was put off may be done. */
  received(): void;
  /** The socket is gone; `why` is undefined when the peer or we closed it in order. */
  closed(why: Error | undefined): void;
}

/**
 * Moves bytes between one socket and one connection: reads in a loop, writes once a turn what all reads of that
 * turn produced, and never has two writes under way (they would interleave when one is partial).
 */
export class Pump<Owner> {
  readonly connection: Connection<Owner>;
  /** The last read found less than it had room for: nothing waits in the socket. */
  isDrained = true;
  #socket: Socket;
  #owner: PumpOwner;
  #turn: Turn;
  #now: () => number;
  /**
   * What the connection says first goes out at once; else it waits until something was read, or the owner asks for it.
   */
  #speaksFirst: boolean;
  #dirty = false;
  #writing = false;
  #trouble: Error | undefined = undefined;
  #closing = false;
  #closed = false;
  #resumeReading: (() => void) | undefined = undefined;

  constructor(
    socket: Socket,
    connection: Connection<Owner>,
    options: { owner: PumpOwner; turn: Turn; now: () => number; speaksFirst?: boolean },
  ) {
    this.#socket = socket;
    this.connection = connection;
    this.#owner = options.owner;
    this.#turn = options.turn;
    this.#now = options.now;
    this.#speaksFirst = options.speaksFirst ?? true;
  }

  /** Runs until the socket is closed from either side. */
  async run(): Promise<void> {
    if (this.#speaksFirst) this.flushSoon(); // the preface
    try {
      await this.#readAll();
    } catch (error) {
      if (!this.#closed) this.#trouble = asError(error); // else it is our own closing that ended the read
    }
    this.#shut();
    this.#owner.closed(this.#trouble);
  }

  /** What was put into the connection's output goes out at the end of this turn. */
  flushSoon(): void {
    if (this.#dirty) return;
    this.#dirty = true;
    this.#turn.add(this);
  }

  /** Closes the socket once the output is written. */
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
    if (this.#writing || this.#closed) return;
    if (this.connection.outputBytes > 0) this.#write();
    else if (this.#closing || this.connection.failed !== undefined) this.#shut();
  }

  async #readAll(): Promise<void> {
    const { connection } = this;
    let buffer = new Uint8Array(FIRST_READ_BYTES);
    for (;;) {
      const count = await this.#socket.read(buffer);
      if (count === null) return;
      this.isDrained = count < buffer.length;
      connection.receive(buffer, this.#now(), count);
      this.#owner.received();
      if (connection.outputBytes > 0 || connection.failed !== undefined) this.flushSoon();
      if (count === buffer.length && count < MAX_READ_BYTES) buffer = new Uint8Array(count * 4);
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
        let written = await this.#socket.write(
          length === bytes.length ? bytes : bytes.subarray(0, length),
        );
        while (written < length) {
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

  #shut(): void {
    this.#unblockReading();
    if (this.#closed) return;
    this.#closed = true;
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
