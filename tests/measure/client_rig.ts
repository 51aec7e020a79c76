/**
 * A client whose other side and whose time are the test's: connections in memory, replies as frames, a clock that
 * stands still.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { Client, type MethodOptions, requestBody } from "../../lib/measure/client/client.ts";
import type { ClientCall } from "../../lib/measure/client/call.ts";
import { type Socket, Timers } from "../../lib/transport/mod.ts";
import { ascii } from "../support/frames.ts";
import { FakeClock } from "../support/fake_clock.ts";
import { BackendEnd, type BackendRequest } from "../support/backend_end.ts";
import type { SettingPairs } from "../support/peer_end.ts";

/** Turns of the microtask queue without any move after which all is quiet. */
const QUIET_TURNS = 32;

export const PATH = "/test.Service/GetItem";

export interface RigOptions {
  readonly connections?: number;
  /** What each connection announces. */
  readonly settings?: SettingPairs | "silent";
}

/** Runs `body` with a client that is open, closes it, and looks at what is left behind. */
export async function withClient(
  options: RigOptions,
  body: (rig: ClientRig) => Promise<void>,
): Promise<void> {
  const rig = new ClientRig(options);
  const opened = rig.client.open();
  await rig.settle();
  await opened;
  await body(rig);
  await rig.finish();
}

export class ClientRig {
  readonly clock = new FakeClock();
  readonly timers = new Timers(this.clock);
  readonly client: Client;
  /** The servers' ends of all connections that were made, in order. */
  readonly servers: BackendEnd[] = [];
  /** Requests on all of them, in order. */
  readonly requests: BackendRequest[] = [];
  /** Calls in the order in which they ended. */
  readonly ended: ClientCall[] = [];
  /** "accepts" or why not. */
  dialling = "accepts";
  settings: SettingPairs | "silent" | undefined;
  #dials = 0;

  constructor(options: RigOptions) {
    this.settings = options.settings;
    this.client = new Client({ host: "server.test", port: 80 }, {
      connections: options.connections ?? 1,
      timers: this.timers,
      dial: () => this.#dial(),
    });
  }

  /** Makes a call that is noted in {@linkcode ended}. */
  call(text = "ask", options: Partial<MethodOptions> = {}): ClientCall {
    const method = this.client.method({ path: PATH, ...options });
    return this.client.call(method, requestBody(ascii(text)), (call) => this.ended.push(call));
  }

  /** Status and message of the calls that have ended. */
  get endings(): [status: number, message: string][] {
    return this.ended.map(({ status, message }) => [status, message]);
  }

  request(index: number): BackendRequest {
    const request = this.requests.at(index);
    assert(request !== undefined, `only ${this.requests.length} requests were made`);
    return request;
  }

  /** Waits until nothing moves any more. */
  async settle(): Promise<void> {
    for (let before = -1; before !== this.#activity;) {
      before = this.#activity;
      for (let turn = 0; turn < QUIET_TURNS; turn++) await undefined;
    }
  }

  /** Time passes, everybody being woken when it is due. */
  async advance(ms: number): Promise<void> {
    await this.settle();
    const untilMs = this.clock.now() + ms;
    while (this.clock.step(untilMs)) await this.settle();
    this.clock.jump(untilMs);
    await this.settle();
  }

  /** The client is closed; then nothing may be left. */
  async finish(): Promise<void> {
    await this.client.close();
    await this.settle();
    for (const { socket } of this.servers) assert(socket.isClosed, "a socket was left open");
    assertEquals(this.timers.pending, 0, "alarms that are still set");
    this.timers.stop();
  }

  get #activity(): number {
    return this.servers.reduce((sum, { socket }) => sum + socket.moves, this.#dials);
  }

  #dial(): Promise<Socket> {
    this.#dials++;
    if (this.dialling !== "accepts") return Promise.reject(new Error(this.dialling));
    const server = new BackendEnd(this.requests, this.settings);
    this.servers.push(server);
    return Promise.resolve(server.socket);
  }
}
