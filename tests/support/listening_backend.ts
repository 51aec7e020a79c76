import { listen, type Listening, type Socket } from "../../lib/transport/mod.ts";
import { BackendEnd, type BackendRequest } from "./backend_end.ts";
import { bridge } from "./bridge.ts";
import type { SettingPairs } from "./peer_end.ts";
import { until, within } from "./waiting.ts";

/** Where a scripted backend listens, and what it does by itself. */
export interface BackendOptions {
  /** @default 127.0.0.1 */
  readonly hostname?: string;
  /** @default 0, any free port */
  readonly port?: number;
  /** Of a unix socket, in place of both. */
  readonly path?: string;
  /** Listens in another way than plainly, on a port of the loopback address. */
  readonly listenWith?: (accept: (socket: Socket) => void) => Listening;
  /** What each connection announces, wide windows by default; "silent" leaves that to the test. */
  readonly settings?: SettingPairs | "silent";
  /** Does something to each request once it is complete. */
  readonly onRequest?: (request: BackendRequest) => void;
}

/** A backend that a test plays frame by frame, on sockets of the system's. */
export class ListeningBackend implements AsyncDisposable {
  /** Connections that were made to it, in order. */
  readonly ends: BackendEnd[] = [];
  /** Requests of callers on all of them, in order. */
  readonly requests: BackendRequest[] = [];
  /** What {@linkcode BackendOptions} has of the same names; both hold from now on when they are set. */
  onRequest: ((request: BackendRequest) => void) | undefined;
  settings: SettingPairs | "silent" | undefined;
  readonly port: number;
  /** As BACKEND_ADDRESS has it. */
  readonly address: string;
  readonly #listening: Listening;
  readonly #bridges: Promise<unknown>[] = [];
  #isStopped = false;

  constructor(options: BackendOptions = {}) {
    const { hostname = "127.0.0.1", port = 0, path, listenWith } = options;
    this.onRequest = options.onRequest;
    this.settings = options.settings;
    const accept = (socket: Socket) => this.#accept(socket);
    const where = path === undefined ? { hostname, port } : { path };
    this.#listening = listenWith?.(accept) ?? listen(where, accept, fail);
    this.port = this.#listening.port;
    this.address = path === undefined ? `${hostname}:${this.port}` : `unix:${path}`;
  }

  /** The connection that was made last. */
  get end(): BackendEnd {
    return this.ends.at(-1)!;
  }

  /** Requests that have neither been answered nor reset. */
  get open(): BackendRequest[] {
    return this.requests.filter((request) => !request.isOver);
  }

  /** What the sidecar has asked by itself, about descriptors; each was told that there are none. */
  get questions(): BackendRequest[] {
    return this.ends.flatMap(({ questions }) => questions);
  }

  /** Resolves when so many requests have come, all in all and whole. */
  async has(count: number): Promise<void> {
    const whole = () => this.requests.filter(({ ended }) => ended).length;
    await until(() => whole() >= count, `${count} requests at the backend`);
  }

  /** The request that comes as number `index`, from 0, once it is whole. */
  async request(index: number): Promise<BackendRequest> {
    await until(() => this.requests[index]?.ended === true, `request ${index} at the backend`);
    return this.requests[index]!;
  }

  /** The same once its head is there. */
  async begun(index: number): Promise<BackendRequest> {
    await until(() => this.requests.length > index, `the head of request ${index}`);
    return this.requests[index]!;
  }

  /** Nobody new is taken, and every connection is closed; what it has said so far gets through. */
  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#listening.close();
    for (const { socket } of this.ends) socket.ends();
    await within(Promise.all(this.#bridges), "the end of a backend");
  }

  /** Throws what was wrong with what the sidecar wrote, once. */
  expectsNoTrouble(): void {
    for (const end of this.ends) end.expectsNoTrouble();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    this.expectsNoTrouble();
  }

  #accept(socket: Socket): void {
    const end = new BackendEnd(this.requests, this.settings);
    end.onRequest = (request) => this.onRequest?.(request);
    this.ends.push(end);
    this.#bridges.push(bridge(end, socket));
  }
}

function fail(error: Error): never {
  throw error;
}
