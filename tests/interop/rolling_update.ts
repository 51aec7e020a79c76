/**
 * The sidecar's way into pods and out of them, with real processes in the order of events and signals that Kubernetes
 * has, and a caller who must not notice: every call of every phase is answered.
 *
 * There is one replica, so there is nobody else to help out. What stands for the Service is a port whose new connections
 * go to whichever pod it leads to at the moment, as kube-proxy's do; a pod that is to end is told so some time before all
 * nodes have heard.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { encodeGreetingRequest, HELLO_PATHS } from "../../lib/hello/mod.ts";
import { freePort, Process, SidecarProcess } from "../support/process.ts";
import { until } from "../support/waiting.ts";
import type { LineCaller } from "./line_caller.ts";
import { type Plan, show } from "./seen.ts";
import { Program } from "./suites/command.ts";

/** Calls under way at any time. */
const WORKERS = 6;

/** Calls that a phase must see answered before the next one begins. */
const CALLS_A_PHASE = 60;

/** How long nodes may take to hear that a pod takes no new connections. */
const NODES_HEAR_MS = 300;

/** The service's preStop, longer than that. */
const PAUSE_MS = 600;

/** How long a pod has been there, at the least, before it is to end: the sidecar does not miss a backend that had just come. */
const PODS_LIVE_MS = 1_200;

/** What DRAIN_DELAY is where collapser is a plain container: longer than nodes take to hear. */
const DRAIN_DELAY = "600ms";

/** How collapser stands in a pod. */
type Kind = "none" | "native" | "plain";

/** What a Service leads to. */
type Port = "service" | "collapser";

/** What the test is made with. */
export interface RollingUpdate {
  /** The program in `graceful_server/`. */
  readonly server: string;
  /** Variables of the sidecars. */
  readonly env?: Readonly<Record<string, string>>;
  /** Starts a client of what listens on this port. */
  open(port: number): LineCaller;
}

/** Rolls the sidecar in, updates it, and rolls it out again; throws when a call was not answered as it should. */
export async function rollsWithoutLoss({ server, env = {}, open }: RollingUpdate): Promise<void> {
  await using world = new World(server, env);
  await world.replaceBy("none", "service");
  await using caller = open(world.service.port);
  const calls = new Calls(caller);
  await calls.seeMore("a service without collapser");
  await world.replaceBy("native", "service");
  await calls.seeMore("step 1: the sidecar is beside it");
  world.leadTo("collapser");
  await calls.seeMore("step 2: the Service leads to the sidecar");
  await world.replaceBy("native", "collapser");
  await calls.seeMore("an update, through the sidecar");
  await world.replaceBy("plain", "collapser");
  await calls.seeMore("an update to a plain container");
  await world.replaceBy("plain", "collapser");
  await calls.seeMore("an update of plain containers");
  world.leadTo("service");
  await calls.seeMore("back 1: the Service leads past it");
  await world.replaceBy("none", "service");
  await calls.seeMore("back 2: the sidecar is out");
  await calls.stop();
  assertEquals(calls.failures, [], `of ${calls.answered} calls`);
}

/** The one replica, and the Service before it. */
class World implements AsyncDisposable {
  readonly service = new ServiceAddress();
  readonly #server: string;
  readonly #env: Readonly<Record<string, string>>;
  #pod: Pod | undefined;
  #stack = new AsyncDisposableStack();

  constructor(server: string, env: Readonly<Record<string, string>>) {
    this.#server = server;
    this.#env = env;
  }

  /** A rolling update with one more pod for a while: the new one is ready before the old one is told to end. */
  async replaceBy(kind: Kind, port: Port): Promise<void> {
    const old = this.#pod;
    const pod = this.#stack.use(await Pod.start(this.#server, { kind, env: this.#env }));
    this.#pod = pod;
    this.service.add(pod.portOf(port));
    if (old === undefined) return;
    const nodesHear = wait(NODES_HEAR_MS).then(() => this.service.onlyAt(pod.portOf(port)));
    await Promise.all([nodesHear, old.end()]);
  }

  /** The Service is changed, and no pod. */
  leadTo(port: Port): void {
    this.service.onlyAt(this.#pod!.portOf(port));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
    this.service.close();
  }
}

/** One pod's processes. */
class Pod implements AsyncDisposable {
  readonly #kind: Kind;
  readonly #server: Program;
  readonly #serverPort: number;
  readonly #sidecar: SidecarProcess | undefined;
  readonly #env: Readonly<Record<string, string>>;
  readonly #startedMs = performance.now();

  private constructor(kind: Kind, parts: {
    server: Program;
    serverPort: number;
    sidecar: SidecarProcess | undefined;
    env: Readonly<Record<string, string>>;
  }) {
    this.#kind = kind;
    this.#server = parts.server;
    this.#serverPort = parts.serverPort;
    this.#sidecar = parts.sidecar;
    this.#env = parts.env;
  }

  /** Resolves when it is ready. */
  static async start(
    program: string,
    { kind, env }: { kind: Kind; env: Readonly<Record<string, string>> },
  ): Promise<Pod> {
    const server = new Program([program]);
    let sidecar: SidecarProcess | undefined;
    try {
      const [, found] = await server.says(/listening on .*:(\d+)/);
      const serverPort = Number(found);
      const variables = {
        ...env,
        BACKEND_ADDRESS: `127.0.0.1:${serverPort}`,
        ADMIN_HOST: "127.0.0.1",
        ADMIN_PORT: String(freePort()),
        ...kind === "plain" && { DRAIN_DELAY },
      };
      if (kind !== "none") sidecar = await SidecarProcess.start(variables);
      await sidecar?.becomes(200);
      return new Pod(kind, { server, serverPort, sidecar, env: variables });
    } catch (error) {
      await sidecar?.[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
      throw error;
    }
  }

  portOf(port: Port): number {
    return port === "service" ? this.#serverPort : this.#sidecar!.grpcPort;
  }

  /** What a kubelet does. */
  async end(): Promise<void> {
    await wait(Math.max(0, this.#startedMs + PODS_LIVE_MS - performance.now()));
    if (this.#kind === "plain") await this.#endTogether();
    else await this.#endInTurn();
  }

  /** The service's hook, its signal, its end; then those of the sidecar. */
  async #endInTurn(): Promise<void> {
    await wait(PAUSE_MS);
    this.#server.signal("SIGTERM");
    assertEquals(await this.#server.ended, 0, "the service's exit code");
    await this.#endSidecar();
  }

  /** Both hooks at once; each container is told to end when its own hook is over. */
  async #endTogether(): Promise<void> {
    await using hook = new Process(["run", "-A", "--no-check", "main.ts", "drain"], this.#env);
    assertEquals((await hook.end()).code, 0, `collapser drain: ${hook.said}`);
    await this.#endSidecar();
    this.#server.signal("SIGTERM"); // its hook is a longer pause
    assertEquals(await this.#server.ended, 0, "the service's exit code");
  }

  async #endSidecar(): Promise<void> {
    if (this.#sidecar === undefined) return;
    this.#sidecar.signal("SIGTERM");
    assertEquals((await this.#sidecar.end()).code, 0, "the sidecar's exit code");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sidecar?.[Symbol.asyncDispose]();
    await this.#server[Symbol.asyncDispose]();
  }
}

/** A port whose new connections go to the pods behind it in turn. Those that are open stay where they are. */
class ServiceAddress {
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  #ports: readonly number[] = [];
  #next = 0;
  readonly #open = new Set<Deno.Conn>();

  constructor() {
    void this.#accept();
  }

  get port(): number {
    return this.#listener.addr.port;
  }

  add(port: number): void {
    this.#ports = [...this.#ports, port];
  }

  onlyAt(port: number): void {
    this.#ports = [port];
  }

  close(): void {
    this.#listener.close();
    for (const socket of this.#open) socket.close();
  }

  async #accept(): Promise<void> {
    try {
      for await (const caller of this.#listener) void this.#join(caller);
    } catch (error) {
      if (!(error instanceof Deno.errors.BadResource)) throw error; // closed
    }
  }

  async #join(caller: Deno.TcpConn): Promise<void> {
    let pod: Deno.TcpConn;
    try {
      const port = this.#ports[this.#next++ % this.#ports.length]!;
      pod = await Deno.connect({ hostname: "127.0.0.1", port });
    } catch {
      caller.close(); // as its own reset would have ended it
      return;
    }
    for (const socket of [caller, pod]) {
      socket.setNoDelay(true);
      this.#open.add(socket);
    }
    await Promise.all([this.#copy(caller, pod), this.#copy(pod, caller)]);
    for (const socket of [caller, pod]) if (this.#open.delete(socket)) socket.close();
  }

  /** Until the one side says no more, or either is gone. */
  async #copy(from: Deno.TcpConn, to: Deno.TcpConn): Promise<void> {
    const bytes = new Uint8Array(64 * 1_024);
    try {
      for (let read = await from.read(bytes); read !== null; read = await from.read(bytes)) {
        for (let at = 0; at < read;) at += await to.write(bytes.subarray(at, read));
      }
      await to.closeWrite();
    } catch {
      for (const socket of [from, to]) if (this.#open.delete(socket)) socket.close();
    }
  }
}

/** A caller that calls on and on, and what came of it. */
class Calls {
  readonly failures: string[] = [];
  answered = 0;
  readonly #caller: LineCaller;
  readonly #workers: Promise<void>[];
  #phase = "the start";
  #stopped = false;
  #count = 0;

  constructor(caller: LineCaller) {
    this.#caller = caller;
    this.#workers = Array.from({ length: WORKERS }, () => this.#work());
  }

  /** Resolves when enough more were answered. */
  async seeMore(phase: string): Promise<void> {
    this.#phase = phase;
    const enough = this.answered + CALLS_A_PHASE;
    await until(() => this.answered >= enough || this.failures.length > 0, `calls in "${phase}"`);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#workers);
  }

  async #work(): Promise<void> {
    while (!this.#stopped) {
      const plan = planOf(this.#count++);
      const { code, message, messages } = await this.#caller.see(plan);
      const isGood = code === 0 && messages[0] === show(plan.messages[0]!);
      if (isGood) this.answered++;
      else this.failures.push(`in "${this.#phase}": ${plan.path} ${code} ${message}`);
    }
  }
}

/** Reads, of which some are the same as others', and writes. */
function planOf(n: number): Plan {
  const { getGreeting, createGreeting } = HELLO_PATHS;
  const path = n % 3 === 2 ? createGreeting : getGreeting;
  const name = n % 3 === 0 ? `read ${n >> 4}` : `call ${n}`;
  return { name, kind: "unary", path, messages: [encodeGreetingRequest({ name })] };
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
