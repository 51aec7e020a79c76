import { Connection } from "../../lib/connection/mod.ts";
import { Pump, type PumpOwner, type Timers, Turn } from "../../lib/transport/mod.ts";
import { HeaderCache } from "../../lib/wire/mod.ts";
import { FrameParser, type SeenFrame } from "../support/frame_parser.ts";
import { PREFACE, settings } from "../support/frames.ts";
import { RecordingSink } from "../support/recording_sink.ts";
import { MemorySocket } from "../support/memory_socket.ts";

/** More than any chain of promises between two ends in memory is long. */
const TICKS = 50;

interface FixtureOptions {
  turn?: Turn;
  holdsWrites?: boolean;
  /** Those of a pump that lingers. */
  lingers?: Timers;
}

/** A socket in memory of which our end alone can be closed. */
class HalfClosingSocket extends MemorySocket {
  /** Times that our end alone was closed. */
  halfCloses = 0;

  closeWrite(): Promise<void> {
    this.halfCloses++;
    return Promise.resolve();
  }
}

/** A server's connection pumped over a socket in memory, whose peer is the test. */
export class PumpFixture implements PumpOwner {
  readonly socket = new HalfClosingSocket();
  readonly sink = new RecordingSink();
  readonly connection: Connection<unknown>;
  readonly pump: Pump<unknown>;
  /** How often everything that was read together had been received. */
  reads = 0;
  /** What the owner was told at the end, each time it was told. */
  readonly ends: (Error | undefined)[] = [];
  nowMs = 0;
  /** What the owner does after each read. */
  onReceived: () => void = () => {};
  /** Settles when `run` does. */
  readonly running: Promise<void>;
  #parser = new FrameParser();
  #pings = 0;

  constructor({ turn = new Turn(), holdsWrites = false, lingers }: FixtureOptions = {}) {
    if (holdsWrites) this.socket.hold();
    this.connection = new Connection<unknown>({
      role: "server",
      sink: this.sink,
      headerCache: new HeaderCache(),
    });
    this.pump = new Pump(this.socket, this.connection, {
      owner: this,
      turn,
      now: () => this.nowMs,
      ...(lingers && { lingers }),
    });
    this.running = this.pump.run();
  }

  /** One that is past the handshake and has nothing to say. */
  static async ready(options: FixtureOptions = {}): Promise<PumpFixture> {
    const fixture = new PumpFixture(options);
    fixture.socket.sends(PREFACE, settings());
    await settle();
    fixture.takeFrames();
    fixture.socket.readSizes.length = fixture.socket.writeSizes.length = fixture.reads = 0;
    return fixture;
  }

  received(): void {
    this.reads++;
    this.onReceived();
  }

  closed(why: Error | undefined): void {
    this.ends.push(why);
  }

  /** Puts so many PING frames, numbered, into the output. */
  say(count = 1): void {
    for (let i = 0; i < count; i++) {
      const opaque = new Uint8Array(8);
      new DataView(opaque.buffer).setUint32(4, ++this.#pings);
      this.connection.ping(opaque);
    }
  }

  /** How many were said so far. */
  get said(): number {
    return this.#pings;
  }

  /** What the peer has read since it was asked last; broken frames throw. */
  takeFrames(): SeenFrame[] {
    return this.#parser.read(this.socket.takeWritten());
  }

  /** The numbers of the PING frames among them. */
  takeNumbers(): number[] {
    return this.takeFrames().flatMap((frame) =>
      frame.type === "PING" ? [parseInt(frame.opaque.replaceAll(" ", ""), 16)] : []
    );
  }
}

/** Lets everything happen that waits for nothing but its turn. */
export async function settle(): Promise<void> {
  for (let tick = 0; tick < TICKS; tick++) await undefined;
}

/** 1, 2, … `last`. */
export function upTo(last: number): number[] {
  return Array.from({ length: last }, (_, i) => i + 1);
}
