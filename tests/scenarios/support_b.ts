/**
 * The scripted ends of `tests/support`, on real sockets: what a rig plays in memory, in front of and behind a sidecar
 * that knows nothing of it.
 *
 * @module
 */

import {
  DEFAULT_MAX_FRAME_BYTES,
  DEFAULT_WINDOW_BYTES,
  FLAG,
  FRAME,
  readUint24,
  SETTING,
} from "../../lib/wire/mod.ts";
import { BackendEnd, type BackendRequest } from "../support/backend_end.ts";
import { CallerEnd } from "../support/caller_end.ts";
import { concat, data, PREFACE } from "../support/frames.ts";
import type { MemorySocket } from "../support/memory_socket.ts";
import type { PeerEnd, SeenStream, SettingPairs } from "../support/peer_end.ts";
import { until } from "../support/waiting.ts";

const READ_BYTES = 65_536;

/** What a connection of Deno's and one of node's have in common here. */
interface Wire {
  read(into: Uint8Array): Promise<number | null>;
  write(bytes: Uint8Array): Promise<number>;
  close(): void;
}

/** A caller that a test plays, on a connection of its own. It leaves with the scope. */
export class RawCaller extends CallerEnd implements AsyncDisposable {
  /** How the other side closed: in order, or why not. */
  readonly ended: Promise<"in order" | Error>;

  constructor(wire: Wire, settings?: SettingPairs) {
    super(settings);
    this.ended = bridge(this.socket, wire, 0);
  }

  static async connect(port: number, settings?: SettingPairs): Promise<RawCaller> {
    return new RawCaller(await connect(port), settings);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.leaves();
    await this.ended;
    if (this.trouble !== undefined) throw this.trouble;
  }
}

/** A backend that a test plays, on a port of its own. Its connections end with the scope. */
export class RawBackend implements AsyncDisposable {
  /** Connections in their order. */
  readonly ends: BackendEnd[] = [];
  /** Requests of all connections in their order. */
  readonly requests: BackendRequest[] = [];
  /** Does something to each request once it is complete. */
  onRequest: ((request: BackendRequest) => void) | undefined = undefined;
  /** What connections announce from now on; wide windows by default. */
  settings: SettingPairs | undefined;
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #serving: Promise<unknown>[] = [];
  readonly #accepting: Promise<void>;

  constructor(settings?: SettingPairs) {
    this.settings = settings;
    this.#accepting = this.#accept();
  }

  get port(): number {
    return this.#listener.addr.port;
  }

  /** Resolves when so many requests have come, to the last of them. */
  async requested(count: number): Promise<BackendRequest> {
    await until(() => this.requests.length >= count, `${count} requests at the backend`);
    return this.requests[count - 1]!;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    await this.#accepting;
    for (const end of this.ends) end.socket.ends();
    await Promise.all(this.#serving);
    for (const { trouble } of this.ends) if (trouble !== undefined) throw trouble;
  }

  async #accept(): Promise<void> {
    for await (const wire of this.#listener) {
      wire.setNoDelay(true);
      const end = new BackendEnd(this.requests, this.settings);
      end.onRequest = (request) => this.onRequest?.(request);
      this.ends.push(end);
      this.#serving.push(bridge(end.socket, wire, PREFACE.length));
    }
  }
}

/** One side of a stream: what has been seen of the other one. */
export interface StreamSide {
  readonly id: number;
  readonly seen: SeenStream;
  readonly end: PeerEnd;
}

/** A backend's side of a call. */
export function answering({ id, seen, backend }: BackendRequest): StreamSide {
  return { id, seen, end: backend };
}

/**
 * Sends DATA as far as the credit of the stream and of the connection goes, as peers must; resolves when all of it is
 * sent, or the stream was reset. `credit` is that of the connection.
 */
export async function sendAsCredited(
  { id, seen, end }: StreamSide,
  pieces: Iterable<Uint8Array>,
  credit: Credit = new Credit(end),
): Promise<void> {
  let sent = 0;
  const room = () => Math.min(credit.room, credit.streamWindow + seen.granted - sent);
  for (const piece of pieces) {
    for (let at = 0; at < piece.length;) {
      if (room() <= 0) await until(() => room() > 0 || seen.reset !== undefined, "credit");
      if (seen.reset !== undefined) return;
      const size = Math.min(room(), DEFAULT_MAX_FRAME_BYTES, piece.length - at);
      end.sends(data(id, piece.subarray(at, at + size)));
      at += size;
      sent += size;
      credit.taken += size;
    }
  }
}

/** What a connection's peer allows, as it says so. */
export class Credit {
  /** DATA sent on all streams. */
  taken = 0;
  streamWindow: number = DEFAULT_WINDOW_BYTES;
  #whole: number = DEFAULT_WINDOW_BYTES;
  #end: PeerEnd;
  #looked = 0;

  constructor(end: PeerEnd) {
    this.#end = end;
  }

  /** How much DATA may be sent on all streams together. */
  get room(): number {
    const { frames } = this.#end;
    for (; this.#looked < frames.length; this.#looked++) {
      const frame = frames[this.#looked]!;
      if (frame.type === "WINDOW_UPDATE" && frame.streamId === 0) this.#whole += frame.increment;
      if (frame.type !== "SETTINGS") continue;
      for (const [id, value] of frame.settings) {
        if (id === SETTING.initialWindowSize) this.streamWindow = value;
      }
    }
    return this.#whole - this.taken;
  }
}

/** A connection of no scripted end, for bytes that are no HTTP/2. */
export async function connect(port: number): Promise<Deno.TcpConn> {
  const wire = await Deno.connect({ hostname: "127.0.0.1", port });
  wire.setNoDelay(true);
  return wire;
}

/** Everything that comes until the other side closes, in order or not. */
export async function readToEnd(wire: Wire): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  const into = new Uint8Array(READ_BYTES);
  for (;;) {
    const count = await wire.read(into).catch(() => null);
    if (count === null) return concat(...pieces);
    pieces.push(into.slice(0, count));
  }
}

/**
 * Moves bytes between a scripted end and a connection until one of them ends; the end reads whole frames, and
 * whole header blocks. `prefaceBytes` come before the first frame.
 */
async function bridge(
  socket: MemorySocket,
  wire: Wire,
  prefaceBytes: number,
): Promise<"in order" | Error> {
  const writing = writeAll(socket, wire);
  let rest: Uint8Array = new Uint8Array(0);
  let before = prefaceBytes;
  let how: "in order" | Error = "in order";
  const into = new Uint8Array(READ_BYTES);
  for (;;) {
    const count = await wire.read(into).catch((error) => {
      how = error;
      return null;
    });
    if (count === null) break;
    rest = concat(rest, into.subarray(0, count));
    const length = wholeLength(rest, before);
    if (length === 0) continue;
    await socket.write(rest.subarray(0, length));
    rest = rest.subarray(length);
    before = 0;
  }
  if (!socket.isClosed) socket.close();
  await writing;
  try {
    wire.close();
  } catch (error) {
    if (!(error instanceof Deno.errors.BadResource)) throw error; // the scripted end was first
  }
  return how;
}

async function writeAll(socket: MemorySocket, wire: Wire): Promise<void> {
  const from = new Uint8Array(READ_BYTES);
  try {
    for (;;) {
      const count = await socket.read(from);
      if (count === null) return wire.close();
      for (let at = 0; at < count;) at += await wire.write(from.subarray(at, count));
    }
  } catch {
    // The other side is gone: whoever reads sees how, once all is read that came before.
  }
}

/** How much of `bytes` is whole frames, none of them in the middle of a header block. */
function wholeLength(bytes: Uint8Array, prefaceBytes: number): number {
  let whole = 0;
  for (let at = prefaceBytes; at + 9 <= bytes.length;) {
    const next = at + 9 + readUint24(bytes, at);
    if (next > bytes.length) break;
    const [type, flags] = [bytes[at + 3]!, bytes[at + 4]!];
    const opens = type === FRAME.headers || type === FRAME.continuation;
    at = next;
    if (!opens || (flags & FLAG.endHeaders) !== 0) whole = at;
  }
  return whole;
}
