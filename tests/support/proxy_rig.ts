/**
 * A proxy with everything around it in memory: time that a test moves, backends and callers that a test
 * plays, and a chance that repeats. A test reads as a conversation:
 *
 *     await withRig(async (rig) => {
 *       const caller = await rig.caller();
 *       const call = caller.call("/test.Service/GetItem", "1");
 *       await rig.settle();
 *       rig.request(0).replies(["one"]);
 *       await rig.settle();
 *       call.expects(0, "one");
 *     });
 *
 * Afterwards all callers leave, and what a proxy without callers must look like is asserted: no flight, no waiter,
 * nothing under way, no alarm, every call with one outcome.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { hash } from "node:crypto";
import type { KeyCodec } from "../../lib/collapse/mod.ts";
import { type ProxyObserver, SILENT } from "../../lib/observe/mod.ts";
import { Proxy, type ProxyOptions } from "../../lib/proxy/mod.ts";
import { type Address, type Socket, Timers } from "../../lib/transport/mod.ts";
import { latin1 } from "../../lib/wire/mod.ts";
import { BackendEnd, type BackendRequest } from "./backend_end.ts";
import { CallerEnd } from "./caller_end.ts";
import { rng } from "./cuts.ts";
import { FakeClock } from "./fake_clock.ts";
import { MemorySocket } from "./memory_socket.ts";
import type { SettingPairs } from "./peer_end.ts";
import { pass, untilQuiet } from "./quiet.ts";

/** The method most tests call: its name makes it eligible. */
export const GET = "/test.Service/GetItem";

/** One that is not. */
export const PUT = "/test.Service/PutItem";

const DEFAULTS: ProxyOptions = {
  maxConnectionAgeMs: 0,
  maxConnectionAgeGraceMs: 0,
  staleDurationMs: 0,
  staleIfErrorMs: 0,
  ttlJitter: 0,
  backends: [{ name: "main", address: { host: "backend.test", port: 50_051 } }],
  backendUseTls: false,
  backendKind: "replicas",
  backendRouting: { by: "key" },
  backendConnections: 1,
  backendMaxConnections: 64,
  backendOutlierDetection: true,
  backendAdaptiveConcurrency: false,
  backendTimeoutMs: 10_000,
  backendConnectTimeoutMs: 5_000,
  backendMaxConcurrent: 1_024,
  backendMaxPending: 10_000,
  cacheDurationMs: 100,
  hitForPassMs: 10_000,
  cacheErrors: false,
  maxCacheEntries: 10_000,
  maxCacheBytes: 64 * 2 ** 20,
  cleanupIntervalMs: 1_000,
  methods: ["auto"],
  invalidate: "service",
  keyHeaders: undefined,
  ignoreHeaders: [],
  mode: "collapse",
  verifyRatio: 0.01,
  verifyMaxConcurrent: 2,
  joinMaxAgeMs: 10_000,
  maxFollowers: 100_000,
  maxMessageBytes: 4 * 2 ** 20,
  stallTimeoutMs: 300_000,
  maxBufferedBytes: 256 * 2 ** 20,
  asksDescriptors: true,
};

/** What happens when the proxy dials. */
export type Dialling = "accepts" | "refuses" | "hangs";

export interface RigOptions extends Partial<ProxyOptions> {
  /** What each backend connection announces; wide windows by default. */
  readonly backendSettings?: SettingPairs | "silent";
  /** The first dial; later ones are as {@linkcode ProxyRig.dialling} says then. */
  readonly dialling?: Dialling;
  readonly seed?: number;
  readonly codec?: Partial<KeyCodec>;
  readonly observer?: Partial<ProxyObserver>;
  readonly onGate?: (isOpen: boolean) => void;
  /** False leaves `proxy.open()` to the test. */
  readonly opens?: boolean;
}

/** Runs `body` with a rig, and looks at what is left behind. */
export async function withRig(body: (rig: ProxyRig) => Promise<void>): Promise<void>;
export async function withRig(
  options: RigOptions,
  body: (rig: ProxyRig) => Promise<void>,
): Promise<void>;
export async function withRig(
  ...[first, second]:
    | [body: (rig: ProxyRig) => Promise<void>]
    | [options: RigOptions, body: (rig: ProxyRig) => Promise<void>]
): Promise<void> {
  const rig = new ProxyRig(typeof first === "function" ? {} : first);
  await rig.settle();
  await (typeof first === "function" ? first : second!)(rig);
  await rig.finish();
}

/** See the module. */
export class ProxyRig {
  readonly clock = new FakeClock();
  readonly timers: Timers;
  readonly proxy: Proxy;
  /** Connections that the proxy made, in order. */
  readonly backends: BackendEnd[] = [];
  /** Requests on all of them, in order; what the sidecar asks about descriptors is in {@linkcode questions}. */
  readonly requests: BackendRequest[] = [];
  readonly callers: CallerEnd[] = [];
  /** When each dial began. */
  readonly dials: { address: Address; timeoutMs: number; atMs: number }[] = [];
  /** What the observer heard, as text. */
  readonly heard: string[] = [];
  dialling: Dialling;
  /** What happens when this host is dialled, where that is not {@linkcode dialling}. */
  readonly diallingAt = new Map<string, Dialling>();
  /** What names stand for; others cannot be resolved. */
  readonly names = new Map<string, readonly string[]>();
  backendSettings: SettingPairs | "silent" | undefined;
  /** Calls made that are no gRPC calls or were refused before they were one, so that nothing counts them. */
  uncounted = 0;
  /** Does something to each request once it is complete, for tests that play no single ones. */
  onRequest: ((request: BackendRequest) => void) | undefined = undefined;
  /** Answers what the sidecar asks about descriptors, in place of the backend that knows none (12). */
  onQuestion: ((question: BackendRequest) => void) | undefined = undefined;
  #hosts = new Map<BackendEnd, string>();
  #hanging: (() => void)[] = [];
  #strays: MemorySocket[] = [];
  #moves = 0;

  constructor(options: RigOptions) {
    this.timers = new Timers(this.clock);
    this.dialling = options.dialling ?? "accepts";
    this.backendSettings = options.backendSettings;
    const codec: KeyCodec = {
      latin1,
      digest: (bytes) => hash("sha256", Buffer.from(bytes), "base64"),
      digestText: (text) => hash("sha256", text, "base64"),
      ...options.codec,
    };
    this.proxy = new Proxy({ ...DEFAULTS, ...options }, {
      timers: this.timers,
      dial: (address, { timeoutMs }) => this.#dial(address, timeoutMs),
      resolve: (host) => this.#resolve(host),
      observer: { ...this.#observer(), ...options.observer },
      codec,
      random: rng(options.seed ?? 1),
      ...options.onGate && { onGate: options.onGate },
    });
    if (options.opens ?? true) this.proxy.open();
  }

  /** Waits until nothing moves any more. */
  async settle(): Promise<void> {
    await untilQuiet(this.clock, () => this.#activity);
    this.#expectsNoTrouble();
  }

  /** Time passes, everybody being woken when it is due. */
  async advance(ms: number): Promise<void> {
    await pass(this.clock, ms, () => this.settle());
  }

  /** Time passes without anybody being woken in time: the loop is busy. */
  async stall(ms: number): Promise<void> {
    this.clock.jump(this.clock.now() + ms);
    await this.settle();
  }

  /** A new caller, its handshake done; `identity` is whom its certificate names. */
  async caller(
    settings?: SettingPairs,
    { identity = "", ...options }: { connectionBytes?: number; identity?: string } = {},
  ): Promise<CallerEnd> {
    const caller = new CallerEnd(settings, options);
    this.callers.push(caller);
    this.proxy.serve(caller.socket, `caller-${this.callers.length}`, { identity });
    await this.settle();
    return caller;
  }

  /** A connection that says nothing by itself. */
  async stray(): Promise<MemorySocket> {
    const socket = new MemorySocket({ written: () => {}, closed: () => {} });
    this.#strays.push(socket);
    this.proxy.serve(socket, "stray");
    await this.settle();
    return socket;
  }

  /** The backend connection that was made last. */
  get backend(): BackendEnd {
    return this.backends.at(-1)!;
  }

  /** What the sidecar has asked about descriptors, connection by connection. */
  get questions(): BackendRequest[] {
    return this.backends.flatMap(({ questions }) => questions);
  }

  /** The request that came as number `index`, from 0; negative ones count from the end. */
  request(index: number): BackendRequest {
    const request = this.requests.at(index);
    assert(request !== undefined, `only ${this.requests.length} requests reached the backend`);
    return request;
  }

  /** Requests that have reached this host and are not over. */
  openAt(host: string): BackendRequest[] {
    return this.requestsAt(host).filter((request) => !request.isOver);
  }

  /** Requests that have reached this host. */
  requestsAt(host: string): BackendRequest[] {
    return this.backends.filter((backend) => this.#hosts.get(backend) === host)
      .flatMap(({ requests }) => requests);
  }

  /** The host that was dialled for this connection. */
  hostOf(backend: BackendEnd): string {
    return this.#hosts.get(backend)!;
  }

  /** The connection to this host that was made last. */
  backendAt(host: string): BackendEnd {
    const found = this.backends.findLast((backend) => this.#hosts.get(backend) === host);
    assert(found !== undefined, `nobody has connected to ${host}`);
    return found;
  }

  /** Exactly this many requests have reached the backend. */
  expectsRequests(count: number): void {
    assertEquals(this.requests.length, count, "requests that reached the backend");
  }

  /** Dials that hang end, as {@linkcode dialling} says now. */
  answerDials(): void {
    const waiting = this.#hanging;
    this.#hanging = [];
    for (const answer of waiting) answer();
  }

  /** Outcomes of all methods, those that are 0 left out. */
  get outcomes(): Record<string, number> {
    const sums: Record<string, number> = {};
    for (const { outcomes } of this.proxy.counters.all()) {
      for (const [name, count] of Object.entries(outcomes)) {
        if (count > 0) sums[name] = (sums[name] ?? 0) + count;
      }
    }
    return sums;
  }

  /** Reasons for passing, those that are 0 left out. */
  get passed(): Record<string, number> {
    return Object.fromEntries(
      Object.entries(this.proxy.counters.passed).filter(([, count]) => count > 0),
    );
  }

  /** What is under way now. */
  get gauges(): Record<string, number> {
    const { map, counters } = this.proxy;
    const { backends } = counters;
    return {
      flights: map.flying,
      waiters: map.waiting,
      connections: counters.connections,
      inflight: backends.reduce((sum, { inflight }) => sum + inflight, 0),
      pending: backends.reduce((sum, { pending }) => sum + pending, 0),
    };
  }

  /** Everybody leaves; then nothing may be left. */
  async finish(): Promise<void> {
    for (const caller of this.callers) caller.leaves();
    await this.settle();
    this.#expectsRest();
    this.#expectsAccounts();
    this.proxy.close();
    this.dialling = "refuses";
    this.diallingAt.clear();
    this.answerDials();
    await this.settle();
    for (const { socket } of [...this.callers, ...this.backends]) {
      assert(socket.isClosed, "a socket was left open");
    }
    assertEquals(this.timers.pending, 0, "alarms that are still set");
    assertEquals(this.proxy.buffered.bytes, 0, "bytes that are still accounted for");
    this.timers.stop();
  }

  #expectsNoTrouble(): void {
    for (const { trouble } of [...this.callers, ...this.backends]) {
      if (trouble !== undefined) throw trouble;
    }
  }

  #expectsRest(): void {
    const none = { flights: 0, waiters: 0, connections: 0, inflight: 0, pending: 0 };
    assertEquals(this.gauges, none, "gauges at rest");
  }

  /** Each call has one outcome, one status and one duration. */
  #expectsAccounts(): void {
    const { counters } = this.proxy;
    const made = this.callers.reduce((sum, { calls }) => sum + calls.length, 0) - this.uncounted;
    const outcomes = Object.values(this.outcomes).reduce((sum, count) => sum + count, 0);
    assertEquals(outcomes, made, `outcomes of all calls: ${Deno.inspect(this.outcomes)}`);
    let answers = 0;
    for (const { responses } of counters.all()) {
      answers += responses.counts.reduce((sum, count) => sum + count, 0);
    }
    assertEquals(answers, made, "statuses of all calls");
    const durations = Object.values(counters.durations).reduce((sum, { count }) => sum + count, 0);
    assertEquals(durations, made, "durations of all calls");
  }

  get #activity(): number {
    const ends = [...this.callers, ...this.backends].map(({ socket }) => socket);
    return [...ends, ...this.#strays].reduce(
      (sum, { moves }) => sum + moves,
      this.#moves + this.clock.woken,
    );
  }

  async #dial(address: Address, timeoutMs: number): Promise<Socket> {
    this.#moves++;
    this.dials.push({ address, timeoutMs, atMs: this.clock.now() });
    const dialling = () => this.diallingAt.get(address.host) ?? this.dialling;
    if (dialling() === "hangs") {
      await new Promise<void>((resolve) => this.#hanging.push(resolve));
      this.#moves++;
    }
    if (dialling() === "refuses") throw new Deno.errors.ConnectionRefused("Connection refused");
    const backend = new BackendEnd(this.requests, this.backendSettings);
    backend.onRequest = (request) => this.onRequest?.(request);
    const { onQuestion } = backend;
    backend.onQuestion = (question) => (this.onQuestion ?? onQuestion)(question);
    this.backends.push(backend);
    this.#hosts.set(backend, address.host);
    return backend.socket;
  }

  async #resolve(host: string): Promise<readonly string[]> {
    this.#moves++;
    await undefined;
    const addresses = this.names.get(host);
    if (addresses === undefined) throw new Error(`cannot find the addresses of "${host}"`);
    return addresses;
  }

  #observer(): ProxyObserver {
    const { heard } = this;
    return {
      ...SILENT,
      connectionFailed: (side, { why }) => void heard.push(`${side} failed: ${why}`),
      backendUp: (name) => void heard.push(`${name} up`),
      backendDown: (name, why) => void heard.push(`${name} down: ${why}`),
      backendEjected: (name, why) => void heard.push(`${name} ejected: ${why}`),
      backendReturned: (name) => void heard.push(`${name} returned`),
      faultOfOurs: (what, error) =>
        void heard.push(
          `fault of ours: ${what}: ${error instanceof Error ? error.message : error}`,
        ),
    };
  }
}
