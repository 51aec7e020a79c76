/**
 * The scripted ends of `tests/support` on real sockets: a backend and callers that a test plays frame by frame, in
 * front of and behind a sidecar that is started as users start it.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import {
  type CallOptions,
  Client,
  credentials,
  Metadata,
  type ServiceError,
  type StatusObject,
} from "@grpc/grpc-js";
import { FLAG, FRAME, readUint24 } from "../../lib/wire/mod.ts";
import { BackendEnd, type BackendRequest } from "../support/backend_end.ts";
import { CallerEnd } from "../support/caller_end.ts";
import { concat, ping, PREFACE } from "../support/frames.ts";
import { LocalSidecar, type Variables } from "../support/local_sidecar.ts";
import type { MemorySocket } from "../support/memory_socket.ts";
import type { PeerEnd, SettingPairs } from "../support/peer_end.ts";
import { until, within } from "../support/waiting.ts";

const FRAME_HEAD_BYTES = 9;

/** A method that is eligible by its name, one that streams its answer, and one that is not eligible. */
export const GET = "/test.Service/GetItem";
export const LIST = "/test.Service/ListItems";
export const PUT = "/test.Service/PutItem";

/** Where a backend listens. */
export interface BackendPlace {
  readonly hostname?: string;
  readonly port?: number;
  /** Of a unix socket, in place of both. */
  readonly path?: string;
  /** What each connection announces; "silent" leaves that to the test. */
  readonly settings?: SettingPairs | "silent";
  /** Does something to each request once it is complete. */
  readonly onRequest?: (request: BackendRequest) => void;
}

/** A backend played by the test, listening. */
export class RawBackend implements AsyncDisposable {
  /** Its connections, in order. */
  readonly ends: BackendEnd[] = [];
  /** Requests on all of them, in order. */
  readonly requests: BackendRequest[] = [];
  readonly port: number;
  /** Does something to each request once it is complete. */
  onRequest: ((request: BackendRequest) => void) | undefined;
  settings: SettingPairs | "silent" | undefined;
  readonly #listener: Deno.Listener;
  readonly #running: Promise<void>[] = [];
  #stopped = false;

  constructor({ hostname = "127.0.0.1", port = 0, path, settings, onRequest }: BackendPlace = {}) {
    this.settings = settings;
    this.onRequest = onRequest;
    this.#listener = path === undefined
      ? Deno.listen({ hostname, port })
      : Deno.listen({ transport: "unix", path });
    const { addr } = this.#listener;
    this.port = "port" in addr ? addr.port : 0;
    this.#running.push(this.#accept());
  }

  /** The connection that was made last. */
  get end(): BackendEnd {
    return this.ends.at(-1)!;
  }

  /** Waits for so many requests, each of them complete. */
  async has(count: number): Promise<void> {
    const areThere = () =>
      this.requests.length >= count && this.requests.slice(0, count).every(({ ended }) => ended);
    await until(areThere, `${count} requests at the backend`);
  }

  /** Nobody new is taken, and every connection is closed; what it has said so far gets through. */
  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#listener.close();
    for (const { socket } of this.ends) socket.ends();
    await within(Promise.all(this.#running), "the end of a backend");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    const trouble = this.ends.find((end) => end.trouble !== undefined)?.trouble;
    if (trouble !== undefined) throw trouble;
  }

  async #accept(): Promise<void> {
    for await (const conn of this.#listener) {
      const end = new BackendEnd(this.requests, this.settings);
      end.onRequest = (request) => this.onRequest?.(request);
      this.ends.push(end);
      this.#running.push(bridge(conn, end.socket, PREFACE.length));
    }
  }
}

/** A sidecar, the raw backend behind it, and the raw callers in front of it. */
export class RawRig implements AsyncDisposable {
  readonly backend: RawBackend;
  readonly local: LocalSidecar;
  readonly callers: CallerEnd[] = [];
  readonly #running: Promise<void>[] = [];

  private constructor(backend: RawBackend, local: LocalSidecar) {
    this.backend = backend;
    this.local = local;
  }

  /** Resolves when the sidecar is ready, unless its backend is silent. */
  static async start(variables: Variables = {}, place: BackendPlace = {}): Promise<RawRig> {
    const backend = new RawBackend(place);
    const address = place.path === undefined
      ? `${place.hostname ?? "127.0.0.1"}:${backend.port}`
      : `unix:${place.path}`;
    const local = new LocalSidecar({ BACKEND_ADDRESS: address, ...variables });
    const rig = new RawRig(backend, local);
    if (place.settings !== "silent") await rig.isReady();
    return rig;
  }

  async isReady(): Promise<void> {
    await until(() => this.local.sidecar.proxy.readiness.ready, "a sidecar that is ready");
  }

  /** Callers that share a flight's answer now. */
  async waiters(count: number): Promise<void> {
    const { map } = this.local.sidecar.proxy;
    await until(() => map.waiting === count, `${count} callers on flights`);
  }

  async caller(settings?: SettingPairs): Promise<CallerEnd> {
    const { caller, running } = await dialRaw(this.local.port, settings);
    this.callers.push(caller);
    this.#running.push(running);
    return caller;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const caller of this.callers) caller.leaves();
    await within(Promise.all(this.#running), "the end of the callers");
    await this.local[Symbol.asyncDispose]();
    await this.backend[Symbol.asyncDispose]();
    const trouble = this.callers.find((caller) => caller.trouble !== undefined)?.trouble;
    if (trouble !== undefined) throw trouble;
  }
}

/** A raw caller of whatever listens there. `running` ends with the connection. */
export async function dialRaw(
  port: number,
  settings?: SettingPairs,
): Promise<{ caller: CallerEnd; running: Promise<void> }> {
  const conn = await Deno.connect({ hostname: "127.0.0.1", port });
  conn.setNoDelay(true);
  const caller = new CallerEnd(settings);
  return { caller, running: bridge(conn, caller.socket, 0) };
}

/** Resolves when these calls have ended, by trailers or by a reset. */
export async function ends(
  ...calls: readonly { reply: { endedBy: unknown; reset: unknown } }[]
): Promise<void> {
  const haveEnded = () =>
    calls.every(({ reply }) => reply.endedBy !== undefined || reply.reset !== undefined);
  await until(haveEnded, `the end of ${calls.length} calls`);
}

/** Resolves when the sidecar has done all that this end has asked of it so far, and has said so. */
export async function catchesUp(end: PeerEnd): Promise<void> {
  const before = end.seen("PING ack").length;
  end.sends(ping(0x5a));
  await until(() => end.seen("PING ack").length > before, "the answer to a PING");
}

/** What a grpc-js client shows of a call. */
export interface JsAnswer {
  readonly messages: string[];
  readonly head: Metadata | undefined;
  readonly status: StatusObject;
}

/** A grpc-js client without retries of its own. On Deno it may not survive a GOAWAY: no test may drain in front of it. */
export class JsCaller implements Disposable {
  readonly #client: Client;

  constructor(port: number) {
    this.#client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), {
      "grpc.default_authority": "service.test",
      "grpc.enable_retries": 0,
      "grpc.use_local_subchannel_pool": 1,
    });
  }

  /** A call with one message whose answer streams, as far as the client knows; `messages` fills as it goes. */
  call(path: string, said: string, {
    metadata = {},
    deadlineMs,
    messages = [],
  }: {
    metadata?: Record<string, string>;
    deadlineMs?: number;
    messages?: string[];
  } = {}): Promise<JsAnswer> {
    const sent = new Metadata();
    for (const [name, value] of Object.entries(metadata)) sent.add(name, value);
    const asBuffer = (bytes: Buffer) => bytes;
    const options: CallOptions = deadlineMs === undefined
      ? {}
      : { deadline: Date.now() + deadlineMs };
    const call = this.#client.makeServerStreamRequest(
      path,
      asBuffer,
      asBuffer,
      Buffer.from(said),
      sent,
      options,
    );
    let head: Metadata | undefined;
    call.on("data", (bytes: Buffer) => messages.push(bytes.toString("latin1")));
    call.on("metadata", (metadata: Metadata) => head = metadata);
    call.on("error", (_: ServiceError) => {}); // the same is in the status
    const over = new Promise<JsAnswer>((resolve) => {
      call.on("status", (status: StatusObject) => {
        setTimeout(() => resolve({ messages, head, status })); // messages may come after it
      });
    });
    return within(over, `the end of a grpc-js call to ${path}`);
  }

  [Symbol.dispose](): void {
    this.#client.close();
  }
}

/**
 * Moves bytes between a connection and a scripted end until either is over. The end reads whole frames, and whole
 * header blocks, after a preface of so many bytes.
 */
async function bridge(conn: Deno.Conn, socket: MemorySocket, prefaceBytes: number): Promise<void> {
  const reading = readAll(conn, socket, prefaceBytes);
  await writeAll(conn, socket);
  if (!socket.isClosed) socket.close();
  await reading;
}

async function readAll(conn: Deno.Conn, socket: MemorySocket, prefaceBytes: number): Promise<void> {
  const buffer = new Uint8Array(65_536);
  let rest = new Uint8Array(0);
  let skipped = prefaceBytes;
  try {
    for (;;) {
      const count = await conn.read(buffer);
      if (count === null || socket.isClosed) break;
      rest = concat(rest, buffer.subarray(0, count)) as Uint8Array<ArrayBuffer>;
      const end = wholeFrames(rest, skipped);
      if (end === 0) continue;
      await socket.write(rest.subarray(0, end));
      rest = rest.slice(end);
      skipped = 0;
    }
  } catch (error) {
    if (!isOver(error)) throw error;
  }
  if (!socket.isClosed) socket.close();
}

async function writeAll(conn: Deno.Conn, socket: MemorySocket): Promise<void> {
  const buffer = new Uint8Array(65_536);
  try {
    for (;;) {
      const count = await socket.read(buffer);
      if (count === null) break;
      for (let at = 0; at < count;) at += await conn.write(buffer.subarray(at, count));
    }
  } catch (error) {
    if (!isOver(error)) throw error;
  }
  conn.close();
}

/** How much of these bytes the strict parser takes: up to the last whole frame that ends no half block. */
function wholeFrames(bytes: Uint8Array, prefaceBytes: number): number {
  let end = 0;
  for (let at = prefaceBytes; at + FRAME_HEAD_BYTES <= bytes.length;) {
    const next = at + FRAME_HEAD_BYTES + readUint24(bytes, at);
    if (next > bytes.length) break;
    const type = bytes[at + 3]!;
    const isBlock = type === FRAME.headers || type === FRAME.continuation;
    if (!isBlock || (bytes[at + 4]! & FLAG.endHeaders) !== 0) end = next;
    at = next;
  }
  return end;
}

/** What a socket says that was closed from either side. */
function isOver(error: unknown): boolean {
  return error instanceof Deno.errors.Interrupted || error instanceof Deno.errors.BadResource ||
    error instanceof Deno.errors.ConnectionReset || error instanceof Deno.errors.BrokenPipe;
}
