/**
 * A sidecar in this process between callers and a backend that a test plays frame by frame, as in `proxy_rig.ts`, but
 * on sockets of the system's and with time as it is:
 *
 *     await withSockets(async (rig) => {
 *       const caller = await rig.caller();
 *       const call = caller.call(GET, "1");
 *       (await rig.request(0)).replies(["one"]);
 *       await ended(call);
 *       call.expects(0, "one");
 *     });
 *
 * Afterwards everybody leaves, and no flight, waiter or backend call may be left.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import type { Proxy } from "../../lib/proxy/mod.ts";
import type { Address, Dial } from "../../lib/transport/mod.ts";
import type { BackendRequest } from "./backend_end.ts";
import { DialledCaller } from "./dialled_caller.ts";
import { type BackendOptions, ListeningBackend } from "./listening_backend.ts";
import { LocalSidecar, type Variables } from "./local_sidecar.ts";
import type { SettingPairs } from "./peer_end.ts";
import { until } from "./waiting.ts";

/** A method whose name makes it eligible, and whose answer streams. */
export const LIST = "/test.Service/ListItems";

export interface SocketRigOptions {
  /** Of the sidecar, beside the address of its backend. */
  readonly variables?: Variables;
  readonly backend?: BackendOptions;
  /** How callers dial, when that is not plainly. */
  readonly dial?: Dial;
  /** Where callers dial, when that is no port. */
  readonly address?: Address;
}

type Body = (rig: SocketRig) => Promise<void>;

/** Runs `body` with a rig whose sidecar is ready, unless its backend is silent; then looks at what is left behind. */
export async function withSockets(body: Body): Promise<void>;
export async function withSockets(options: SocketRigOptions, body: Body): Promise<void>;
export async function withSockets(
  ...[first, second]: [body: Body] | [options: SocketRigOptions, body: Body]
): Promise<void> {
  const [options, body] = typeof first === "function" ? [{}, first] : [first, second!];
  await using backend = new ListeningBackend(options.backend);
  const BACKEND_ADDRESS = backend.address;
  await using local = new LocalSidecar({ BACKEND_ADDRESS, ...options.variables });
  await using rig = new SocketRig(options, { backend, local });
  if (options.backend?.settings !== "silent") await rig.isReady();
  try {
    await body(rig);
  } catch (error) {
    rig.expectsNoTrouble(); // it may be why
    throw error;
  }
  await rig.rests();
}

/** See the module. */
export class SocketRig implements AsyncDisposable {
  readonly backend: ListeningBackend;
  readonly local: LocalSidecar;
  readonly callers: DialledCaller[] = [];
  readonly #options: SocketRigOptions;

  constructor(
    options: SocketRigOptions,
    { backend, local }: { backend: ListeningBackend; local: LocalSidecar },
  ) {
    this.#options = options;
    this.backend = backend;
    this.local = local;
  }

  get proxy(): Proxy {
    return this.local.sidecar.proxy;
  }

  async isReady(): Promise<void> {
    await until(() => this.proxy.readiness.ready, "a sidecar that is ready");
  }

  /** A new caller on a connection of its own, with wide windows unless it announces others. */
  async caller(settings?: SettingPairs): Promise<DialledCaller> {
    const { address = this.local.port, dial } = this.#options;
    const caller = await DialledCaller.at(address, { settings, ...dial && { dial } });
    this.callers.push(caller);
    return caller;
  }

  /** The request of a caller that reaches the backend as number `index`, from 0, once it is whole. */
  request(index: number): Promise<BackendRequest> {
    return this.backend.request(index);
  }

  /** Resolves when so many wait for the answers of flights. */
  async waits(count: number): Promise<void> {
    const { map } = this.proxy;
    await until(() => map.waiting === count, `${count} callers that wait for flights`);
  }

  /** Exactly this many requests of callers have reached the backend. */
  expectsRequests(count: number): void {
    assertEquals(this.backend.requests.length, count, "requests that reached the backend");
  }

  /** Everybody leaves; then nothing may be left, and nobody may have seen what is not allowed. */
  async rests(): Promise<void> {
    for (const caller of this.callers) caller.leaves();
    const { map, counters } = this.proxy;
    await until(() => counters.connections === 0, "callers that have gone");
    const { inflight, pending } = counters.backends[0]!;
    assertEquals([map.flying, map.waiting, inflight, pending], [0, 0, 0, 0], "left behind");
    this.expectsNoTrouble();
  }

  /** Throws what was wrong with what the sidecar wrote, once. */
  expectsNoTrouble(): void {
    for (const caller of this.callers) caller.expectsNoTrouble();
    this.backend.expectsNoTrouble();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.callers.map((caller) => caller[Symbol.asyncDispose]()));
  }
}
