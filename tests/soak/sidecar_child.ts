import { dialPlain, dialTls, type Socket } from "../../lib/transport/mod.ts";
import type { CertificateFolder } from "../support/certificate_folder.ts";
import { Authority } from "../support/certificates.ts";
import { parseExposition } from "../support/exposition.ts";
import { type LogLine, Process } from "../support/process.ts";
import { until } from "../support/waiting.ts";
import type { Collected } from "./collector.ts";
import { SHARD_HEADER } from "./content.ts";
import type { BackendKind } from "./place.ts";

const ROOT = new URL("../../", import.meta.url);

/** A busy machine starts a few processes at once. */
const START_LIMIT_MS = 60_000;

/** How callers connect. */
export const TRANSPORTS = ["tcp", "tls", "unix"] as const;
export type Transport = typeof TRANSPORTS[number];

const LOOPBACK = "127.0.0.1";
const DIAL_MS = 10_000;

/**
 * Small limits, so that modest traffic reaches them: replies and requests above 128 KiB are not gathered whole, and more
 * distinct results come than are kept. A backend that a busy machine keeps waiting is given the time.
 */
const VARIABLES = {
  LOG_LEVEL: "debug",
  GRPC_PORT: "0",
  METRICS_HOST: LOOPBACK,
  METRICS_PORT: "0",
  BACKEND_TIMEOUT: "30s",
  COLLAPSER_MAX_MESSAGE_BYTES: "128KiB",
  COLLAPSER_MAX_CACHE_ENTRIES: "200",
};

/** Of several backends each has a wall that calls come to when it is ill: those of the others must not notice. */
const MAX_CONCURRENT = 64;

/** What a sidecar stands before, and goes by. */
export interface Surroundings {
  readonly backends: readonly { readonly name: string; readonly port: number }[];
  readonly kind: BackendKind;
  readonly policyPath: string;
  readonly folder: CertificateFolder;
  readonly args: readonly string[];
}

/** A backend in `/api/status`, as far as it matters here. */
interface BackendStatus {
  readonly name: string;
  readonly trouble: string;
  readonly standing: string;
}

/** `collapser serve` as a process of its own, with its callers' way in. */
export class SidecarChild extends Process {
  readonly transport: Transport;
  /** How to connect to it. */
  dial!: () => Promise<Socket>;
  #metricsUrl = "";
  /** No connection is kept between scrapes: it would be one of the sidecar's descriptors. */
  #http = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });

  private constructor(
    transport: Transport,
    { args, env }: { args: readonly string[]; env: Record<string, string> },
  ) {
    super([...denoArguments(), ...args], env);
    this.transport = transport;
  }

  /** Starts one; resolves when it is ready. */
  static async start(
    transport: Transport,
    around: Surroundings,
  ): Promise<SidecarChild> {
    const { env, dialer } = await waysIn(transport, around.folder);
    const child = new SidecarChild(transport, {
      args: around.args,
      env: { ...VARIABLES, ...backendsOf(around), COLLAPSER_CONFIG: around.policyPath, ...env },
    });
    try {
      await until(
        () => child.logged("Serving") !== undefined || !child.isRunning,
        "serving",
        START_LIMIT_MS,
      );
      const line = child.logged("Serving");
      if (line === undefined) throw new Error(`Cannot start a sidecar: ${child.said}`);
      child.#metricsUrl = `http://${LOOPBACK}:${line.metrics_port}`;
      child.dial = dialer(Number(line.grpc_port));
      await until(() => child.isReady(), "a sidecar that is ready", START_LIMIT_MS);
      return child;
    } catch (error) {
      await child[Symbol.asyncDispose]();
      throw error;
    }
  }

  async isReady(): Promise<boolean> {
    const response = await fetch(`${this.#metricsUrl}/ready`, { client: this.#http });
    await response.body?.cancel();
    return response.status === 200;
  }

  /** Whether that backend can be reached, and is given calls. */
  async hasBack(backend: string): Promise<boolean> {
    const response = await fetch(`${this.#metricsUrl}/api/status`, { client: this.#http });
    const { backends } = await response.json() as { backends: readonly BackendStatus[] };
    return backends.some(({ name, trouble, standing }) =>
      name === backend && trouble === "" && standing === "healthy"
    );
  }

  /** Its series, by name and labels. */
  async scrape(): Promise<Map<string, number>> {
    const response = await fetch(`${this.#metricsUrl}/metrics`, { client: this.#http });
    return parseExposition(await response.text());
  }

  /** Descriptors that it has open. */
  get descriptors(): number {
    return [...Deno.readDirSync(`/proc/${this.pid}/fd`)].length;
  }

  get residentBytes(): number {
    const status = Deno.readTextFileSync(`/proc/${this.pid}/status`);
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1_024;
  }

  /** Has it collect its garbage. */
  async collect(): Promise<Collected> {
    const before = this.outputLines.length;
    this.signal("SIGUSR2");
    await until(() => this.outputLines.length > before, "garbage collected", START_LIMIT_MS);
    return JSON.parse(this.outputLines.at(-1)!);
  }

  /** The lines of its log. */
  get log(): LogLine[] {
    return this.errorLines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
  }

  /** How often it has said so. */
  countLogged(message: string): number {
    return this.errorLines.filter((line) => line.includes(message)).length;
  }

  logged(message: string): LogLine | undefined {
    return this.log.find(({ msg }) => msg === message);
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    this.#http.close();
    await super[Symbol.asyncDispose]();
  }
}

/** What `deno task start` runs, with a collector beside it. */
function denoArguments(): string[] {
  const { tasks } = JSON.parse(Deno.readTextFileSync(new URL("deno.json", ROOT)));
  const [run, ...rest] = String(tasks.start.command).split(" ").slice(1);
  const collecting = rest.map((arg) => arg.startsWith("--v8-flags=") ? `${arg},--expose-gc` : arg);
  return [run!, "--preload", "tests/soak/collector.ts", ...collecting];
}

function backendsOf({ backends, kind }: Surroundings): Record<string, string> {
  const BACKEND_ADDRESS = backends.map(({ name, port }) => `${name}=${LOOPBACK}:${port}`).join();
  if (backends.length === 1) return { BACKEND_ADDRESS };
  const several = { BACKEND_ADDRESS, BACKEND_MAX_CONCURRENT: String(MAX_CONCURRENT) };
  if (kind === "replicas") return several;
  return { ...several, BACKEND_KIND: kind, BACKEND_ROUTING: `header:${SHARD_HEADER}` };
}

/** Variables that open the way in, and how to take it. */
async function waysIn(
  transport: Transport,
  folder: CertificateFolder,
): Promise<{ env: Record<string, string>; dialer: (port: number) => () => Promise<Socket> }> {
  const limit = { timeoutMs: DIAL_MS };
  if (transport === "unix") {
    const path = folder.free("soak.sock");
    const dial = () => dialPlain({ host: "", port: 0, path }, limit);
    return { env: { GRPC_HOST: `unix:${path}` }, dialer: () => dial };
  }
  const host = { GRPC_HOST: LOOPBACK };
  if (transport === "tcp") {
    return { env: host, dialer: (port) => () => dialPlain({ host: LOOPBACK, port }, limit) };
  }
  const authority = await Authority.make();
  const { cert, key } = folder.writePair("server", await authority.server());
  const certificates = { cert: undefined, key: undefined, ca: authority.cert };
  const dial = dialTls({ certificates: () => certificates, serverName: undefined });
  return {
    env: { ...host, GRPC_TLS_CERT: cert, GRPC_TLS_KEY: key },
    dialer: (port) => () => dial({ host: "localhost", port }, limit),
  };
}
