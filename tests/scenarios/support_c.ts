/**
 * A sidecar in this process between callers and backends that a test plays frame by frame, as in `proxy_rig.ts`, but
 * on sockets of the system's and with time as it is:
 *
 *     await withScene(async (scene) => {
 *       const caller = await scene.caller();
 *       const call = caller.call(GET, "1");
 *       (await scene.request(0)).replies(["one"]);
 *       await ended(call);
 *       call.expects(0, "one");
 *     });
 *
 * Afterwards everybody leaves, and no flight, waiter or backend call may be left.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import {
  type Address,
  type Dial,
  dialPlain,
  dialTls,
  listen,
  type Listening,
  listenTls,
  type Socket,
} from "../../lib/transport/mod.ts";
import { FLAG, FRAME, readUint24 } from "../../lib/wire/mod.ts";
import { BackendEnd, type BackendRequest } from "../support/backend_end.ts";
import { type CallerCall, CallerEnd } from "../support/caller_end.ts";
import type { CertificateFolder } from "../support/certificate_folder.ts";
import { Authority } from "../support/certificates.ts";
import { concat, PREFACE } from "../support/frames.ts";
import { LocalSidecar, type Variables } from "../support/local_sidecar.ts";
import type { PeerEnd, SettingPairs } from "../support/peer_end.ts";
import { until, within } from "../support/waiting.ts";

/** Length, type, flags and stream id. */
const FRAME_HEAD_BYTES = 9;

const DIAL_MS = 10_000;

/** How callers and backends are reached, where that is not plain TCP. */
export interface SceneOptions {
  readonly variables?: Variables;
  readonly dial?: Dial;
  /** Where callers dial, when that is no port. */
  readonly address?: Address;
  readonly listenWith?: (accept: (socket: Socket) => void) => Listening;
  /** The address of the backend, when that is no port. */
  readonly backendAddress?: string;
}

/** Plain TCP, TLS and unix sockets, the same on both sides of the sidecar. The folder is for certificates and sockets. */
export async function allWays(folder: CertificateFolder): Promise<[name: string, SceneOptions][]> {
  const authority = await Authority.make();
  const { cert, key } = folder.writePair("server", await authority.server());
  const ca = folder.write("ca.pem", authority.cert);
  const trusted = { cert: undefined, key: undefined, ca: authority.cert };
  const shown = { ...await authority.server(), ca: undefined };
  const [own, behind] = [folder.free("own.sock"), folder.free("backend.sock")];
  return [
    ["TCP", {}],
    ["TLS", {
      variables: {
        GRPC_TLS_CERT: cert,
        GRPC_TLS_KEY: key,
        BACKEND_USE_TLS: "true",
        BACKEND_TLS_CA: ca,
      },
      dial: dialTls({ certificates: () => trusted, serverName: undefined }),
      listenWith: (accept) =>
        listenTls({ hostname: "127.0.0.1", port: 0 }, {
          certificates: () => shown,
          accept,
          onRefused: () => {},
          onTrouble: fail,
        }),
    }],
    ["unix", {
      variables: { GRPC_HOST: `unix:${own}` },
      address: { host: "localhost", port: 0, path: own },
      listenWith: (accept) => listen({ path: behind }, accept, fail),
      backendAddress: `unix:${behind}`,
    }],
  ];
}

function fail(error: unknown): never {
  throw error;
}

/** Runs `body` in a scene, and looks at what is left behind. */
export async function withScene(
  options: SceneOptions,
  body: (scene: Scene) => Promise<void>,
): Promise<void> {
  await using scene = await Scene.open(options);
  await body(scene);
  await scene.rests();
}

/** See the module. */
export class Scene implements AsyncDisposable {
  /** Connections that the sidecar made, in order. */
  readonly backends: BackendEnd[] = [];
  /** Requests on all of them, in order. */
  readonly requests: BackendRequest[] = [];
  readonly callers: CallerEnd[] = [];
  /** Does something to each request once it is complete. */
  onRequest: ((request: BackendRequest) => void) | undefined = undefined;
  local!: LocalSidecar;
  #options: SceneOptions;
  #listening: Listening;
  #bridges: Promise<void>[] = [];

  private constructor(options: SceneOptions) {
    this.#options = options;
    const accept = (socket: Socket) => this.#accept(socket);
    this.#listening = options.listenWith?.(accept) ??
      listen({ hostname: "127.0.0.1", port: 0 }, accept, fail);
  }

  static async open(options: SceneOptions = {}): Promise<Scene> {
    const scene = new Scene(options);
    const BACKEND_ADDRESS = options.backendAddress ?? `127.0.0.1:${scene.#listening.port}`;
    scene.local = new LocalSidecar({ BACKEND_ADDRESS, ...options.variables });
    await until(() => scene.local.sidecar.proxy.readiness.ready, "a sidecar that is ready");
    return scene;
  }

  /** A new caller on a connection of its own, with wide windows unless it announces others. */
  async caller(settings?: SettingPairs): Promise<CallerEnd> {
    const { address, dial = dialPlain } = this.#options;
    const where = address ?? { host: "127.0.0.1", port: this.local.port };
    const socket = await dial(where, { timeoutMs: DIAL_MS });
    const caller = new CallerEnd(settings);
    this.callers.push(caller);
    this.#bridges.push(bridge(socket, caller));
    return caller;
  }

  /** The whole request that comes as number `index`, from 0. */
  async request(index: number): Promise<BackendRequest> {
    await until(() => this.requests[index]?.ended === true, `request ${index} at the backend`);
    return this.requests[index]!;
  }

  /** So many wait for the answers of flights. */
  async waits(count: number): Promise<void> {
    const { map } = this.local.sidecar.proxy;
    await until(() => map.waiting === count, `${count} waiters, not ${map.waiting}`);
  }

  /** Exactly this many requests have reached the backend. */
  expectsRequests(count: number): void {
    assertEquals(this.requests.length, count, "requests that reached the backend");
  }

  /** Everybody leaves; then nothing may be left, and nobody may have seen what is not allowed. */
  async rests(): Promise<void> {
    for (const caller of this.callers) caller.leaves();
    const { map, counters } = this.local.sidecar.proxy;
    await until(() => counters.connections === 0, "callers that have gone");
    const { inflight, pending } = counters.backends[0]!;
    assertEquals([map.flying, map.waiting, inflight, pending], [0, 0, 0, 0], "left behind");
    for (const { trouble } of [...this.callers, ...this.backends]) {
      if (trouble !== undefined) throw trouble;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const caller of this.callers) caller.leaves();
    await this.local[Symbol.asyncDispose]();
    for (const backend of this.backends) backend.socket.ends();
    this.#listening.close();
    await within(Promise.all(this.#bridges), "the end of all connections");
  }

  #accept(socket: Socket): void {
    const backend = new BackendEnd(this.requests);
    backend.onRequest = (request) => this.onRequest?.(request);
    this.backends.push(backend);
    this.#bridges.push(bridge(socket, backend));
  }
}

/** Resolves when the calls are over for their callers. */
export function ended(...calls: CallerCall[]): Promise<void> {
  const isOver = ({ reply }: CallerCall) => reply.endedBy ?? reply.reset;
  return until(() => calls.every(isOver), `the end of ${calls.length} calls`);
}

/** Joins an end that a test plays with a socket, until either is closed. */
async function bridge(socket: Socket, end: PeerEnd): Promise<void> {
  let isOpen = true;
  function close(): void {
    if (!isOpen) return;
    isOpen = false;
    socket.close();
    if (!end.socket.isClosed) end.socket.close();
  }
  await Promise.all([
    speak(end, socket).finally(close),
    hear(socket, end).finally(close),
  ]);
}

async function speak(end: PeerEnd, socket: Socket): Promise<void> {
  const buffer = new Uint8Array(65_536);
  try {
    for (;;) {
      const count = await end.socket.read(buffer);
      if (count === null) return;
      for (let at = 0; at < count;) at += await socket.write(buffer.subarray(at, count));
    }
  } catch (error) {
    assert(isEndOfSocket(error), String(error));
  }
}

async function hear(socket: Socket, end: PeerEnd): Promise<void> {
  const cutter = new FrameCutter(end instanceof BackendEnd ? PREFACE.length : 0);
  const buffer = new Uint8Array(65_536);
  try {
    for (;;) {
      const count = await socket.read(buffer);
      if (count === null) return;
      const whole = cutter.push(buffer.slice(0, count));
      if (whole.length > 0) await end.socket.write(whole);
    }
  } catch (error) {
    assert(isEndOfSocket(error), String(error));
  }
}

/** Sockets that are closed, here or there, say so in many ways. */
function isEndOfSocket(error: unknown): boolean {
  const { BadResource, Interrupted, ConnectionReset, BrokenPipe, UnexpectedEof } = Deno.errors;
  return [BadResource, Interrupted, ConnectionReset, BrokenPipe, UnexpectedEof].some((type) =>
    error instanceof type
  );
}

/** Ends read whole frames, and header blocks whole; a socket cuts as it likes. */
class FrameCutter {
  #rest: Uint8Array = new Uint8Array(0);
  /** Bytes before the first frame that have not come yet. */
  #prefaceBytes: number;

  constructor(prefaceBytes: number) {
    this.#prefaceBytes = prefaceBytes;
  }

  /** What is whole now. */
  push(bytes: Uint8Array): Uint8Array {
    const all = concat(this.#rest, bytes);
    let whole = 0;
    let at = this.#prefaceBytes;
    while (at + FRAME_HEAD_BYTES <= all.length) {
      const end = at + FRAME_HEAD_BYTES + readUint24(all, at);
      if (end > all.length) break;
      const [type, flags] = [all[at + 3]!, all[at + 4]!];
      const isBlock = type === FRAME.headers || type === FRAME.continuation;
      if (!isBlock || (flags & FLAG.endHeaders) !== 0) whole = end;
      at = end;
    }
    if (whole > 0) this.#prefaceBytes = 0;
    this.#rest = all.subarray(whole);
    return all.subarray(0, whole);
  }
}
