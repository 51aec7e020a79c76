/**
 * One `Endpoint` by itself, with everything around it in memory: time that a test moves, a backend that a test plays,
 * a group and owners that keep what they were told.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { BackendCounters, ProxyCounters, SILENT } from "../../lib/observe/mod.ts";
import { type Socket, Timers, Turn } from "../../lib/transport/mod.ts";
import { Endpoint, type EndpointOptions } from "../../lib/upstream/endpoint.ts";
import type { Exchange } from "../../lib/upstream/exchange.ts";
import { BackendInstances, type UpstreamContext } from "../../lib/upstream/mod.ts";
import { BufferedBytes, HeaderCache } from "../../lib/wire/mod.ts";
import { BackendEnd, type BackendRequest } from "../support/backend_end.ts";
import { rng } from "../support/cuts.ts";
import { FakeClock } from "../support/fake_clock.ts";
import type { SettingPairs } from "../support/peer_end.ts";
import { pass, untilQuiet } from "../support/quiet.ts";
import { type Asked, exchangeOf, RecordingGroup, RecordingOwner } from "./exchange_fixture.ts";

export interface EndpointRigOptions extends Partial<EndpointOptions> {
  readonly backendSettings?: SettingPairs | "silent";
  readonly dialling?: "accepts" | "refuses" | "hangs";
}

/** A call and whoever wanted it made. */
export interface Made {
  readonly exchange: Exchange;
  readonly owner: RecordingOwner;
}

/** See the module. */
export class EndpointRig {
  readonly clock = new FakeClock();
  readonly timers = new Timers(this.clock);
  readonly counters = new BackendCounters("main");
  readonly group = new RecordingGroup();
  readonly endpoint: Endpoint;
  /** Connections that were made, in order. */
  readonly backends: BackendEnd[] = [];
  /** Requests on all of them, in order. */
  readonly requests: BackendRequest[] = [];
  /** Calls that {@linkcode call} made, in order. */
  readonly made: Made[] = [];
  /** Faults of ours that the observer heard of. */
  readonly faults: string[] = [];
  dialling: "accepts" | "refuses" | "hangs";
  #settings: SettingPairs | "silent" | undefined;
  #hanging: (() => void)[] = [];
  #moves = 0;

  constructor({ backendSettings, dialling = "accepts", ...options }: EndpointRigOptions = {}) {
    this.#settings = backendSettings;
    this.dialling = dialling;
    const context: UpstreamContext = {
      dial: () => this.#dial(),
      timers: this.timers,
      turn: new Turn(),
      counters: new ProxyCounters(),
      observer: { ...SILENT, faultOfOurs: (what) => void this.faults.push(what) },
      replyHeaders: new HeaderCache(),
      instance: 7,
      instances: new BackendInstances(),
      buffered: new BufferedBytes(Infinity, () => {}),
      random: rng(1),
    };
    const address = { host: "backend.test", port: 50_051 };
    this.endpoint = new Endpoint(
      {
        name: "main",
        address,
        connectTimeoutMs: 5_000,
        maxConcurrent: 1,
        maxPending: 10,
        queueTimeoutMs: 10_000,
        maxConnections: 8,
        ...options,
      },
      context,
      { counters: this.counters, group: this.group },
    );
  }

  /** A rig whose endpoint was opened, as far as it can be. */
  static async open(options: EndpointRigOptions = {}): Promise<EndpointRig> {
    const rig = new EndpointRig(options);
    rig.endpoint.open();
    await rig.settle();
    return rig;
  }

  /** Makes a call, which is started at once. */
  call(message: string, asked: Asked = {}): Made {
    const owner = new RecordingOwner();
    const exchange = exchangeOf(owner, { message, ...asked });
    const made = { exchange, owner };
    this.made.push(made);
    this.endpoint.start(exchange);
    return made;
  }

  /** The request that came as number `index`, from 0; negative ones count from the end. */
  request(index: number): BackendRequest {
    return this.requests.at(index)!;
  }

  get backend(): BackendEnd {
    return this.backends.at(-1)!;
  }

  /** Dials that hang end, as {@linkcode dialling} says now. */
  answerDials(): void {
    const waiting = this.#hanging;
    this.#hanging = [];
    for (const answer of waiting) answer();
  }

  async settle(): Promise<void> {
    await untilQuiet(this.clock, () => this.#activity);
    for (const { trouble } of this.backends) if (trouble !== undefined) throw trouble;
  }

  async advance(ms: number): Promise<void> {
    await pass(this.clock, ms, () => this.settle());
  }

  /** Calls under way and waiting, as the gauges have them. */
  get held(): { inflight: number; pending: number } {
    const { inflight, pending } = this.counters;
    return { inflight, pending };
  }

  /** The endpoint lets go of all it has; then nothing may be left. */
  async finish(): Promise<void> {
    this.endpoint.stop();
    this.dialling = "refuses";
    this.answerDials();
    await this.settle();
    assertEquals(this.held, { inflight: 0, pending: 0 });
    for (const { socket } of this.backends) assertEquals(socket.isClosed, true, "an open socket");
    assertEquals(this.timers.pending, 0, "alarms that are still set");
    this.timers.stop();
  }

  get #activity(): number {
    return this.backends.reduce(
      (sum, { socket }) => sum + socket.moves,
      this.#moves + this.clock.woken,
    );
  }

  async #dial(): Promise<Socket> {
    this.#moves++;
    if (this.dialling === "hangs") {
      await new Promise<void>((resolve) => this.#hanging.push(resolve));
      this.#moves++;
    }
    if (this.dialling === "refuses") throw new Deno.errors.ConnectionRefused("Connection refused");
    const backend = new BackendEnd(this.requests, this.#settings);
    this.backends.push(backend);
    return backend.socket;
  }
}
