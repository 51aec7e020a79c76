/**
 * Other people's proxies as processes, with the configuration of `docs/tax/`: what is written there is what is tested.
 *
 * @module
 */

import { until } from "./waiting.ts";

const CONFIGURATIONS = new URL("../../docs/tax/", import.meta.url);

/** Stands for the backend's port in every configuration. */
const BACKEND_PORT = "50051";

/** A proxy that is on this machine or not. */
interface PeerKind {
  readonly file: string;
  /** Where it listens, in its configuration. */
  readonly port: string;
  args(options: { configuration: string; folder: string }): string[];
}

const KINDS = {
  envoy: {
    file: "envoy.yaml",
    port: "50053",
    args: ({ configuration }) => [
      ...["-c", configuration, "--concurrency", "1"],
      ...["--disable-hot-restart", "--log-level", "error"],
    ],
  },
  nginx: {
    file: "nginx.conf",
    port: "50054",
    args: ({ configuration, folder }) => ["-p", folder, "-c", configuration, "-e", "stderr"],
  },
} as const satisfies Record<string, PeerKind>;

export type PeerName = keyof typeof KINDS;

/** What the program says its version is; undefined when it is not on this machine. */
export function peerVersion(name: PeerName): string | undefined {
  const args = name === "envoy" ? ["--version"] : ["-v"];
  try {
    const { success, stdout, stderr } = new Deno.Command(name, { args }).outputSync();
    const text = new TextDecoder().decode(Uint8Array.of(...stdout, ...stderr));
    return success ? /\d+\.\d+\.\d+/.exec(text)?.[0] : undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** A running proxy of somebody else's, on a free port, in front of a backend. */
export class PeerProxy implements AsyncDisposable {
  readonly port: number;
  readonly pid: number;
  readonly #child: Deno.ChildProcess;
  readonly #said: Promise<string>;
  readonly #folder: string;

  private constructor(port: number, child: Deno.ChildProcess, folder: string) {
    this.port = port;
    this.pid = child.pid;
    this.#child = child;
    this.#folder = folder;
    this.#said = new Response(child.stderr).text();
  }

  /** Resolves when it takes connections. */
  static async start(name: PeerName, backendPort: number): Promise<PeerProxy> {
    const { file, port: standard, args } = KINDS[name];
    const folder = await Deno.makeTempDir();
    const port = freePort();
    const configuration = `${folder}/${file}`;
    const text = await Deno.readTextFile(new URL(file, CONFIGURATIONS));
    await Deno.writeTextFile(
      configuration,
      text.replaceAll(BACKEND_PORT, String(backendPort)).replaceAll(standard, String(port)),
    );
    const child = new Deno.Command(name, {
      args: args({ configuration, folder }),
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    const proxy = new PeerProxy(port, child, folder);
    try {
      await until(() => canConnect(port), `${name} to listen`);
    } catch (error) {
      await proxy[Symbol.asyncDispose]();
      throw new Error(`Cannot start ${name}: ${await proxy.#said}`, { cause: error });
    }
    return proxy;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#child.kill("SIGTERM");
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // it has ended
    }
    await this.#child.status;
    await this.#said;
    await Deno.remove(this.#folder, { recursive: true });
  }
}

async function canConnect(port: number): Promise<boolean> {
  try {
    (await Deno.connect({ hostname: "127.0.0.1", port })).close();
    return true;
  } catch {
    return false;
  }
}

/** One that was free a moment ago: neither of them says which port it took when told 0. */
function freePort(): number {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  return port;
}
