import { freePort, get } from "../support/process.ts";
import { until } from "../support/waiting.ts";
import type { Json } from "./go_program.ts";

const MANIFESTS = new URL("../../manifests/", import.meta.url);
const CONFIG = new URL("overlays/kind/prometheus/prometheus.yaml", MANIFESTS);
const ALERTS = new URL("alerts/collapser.yaml", MANIFESTS).pathname;

/** Where the sidecars are, as the cluster would be asked; a build of Prometheus may lack the code for that. */
const ASKS_CLUSTER = /^ {4}kubernetes_sd_configs:\n(?: {6}.*\n)+/m;

/** Often, so that a rate over a minute has its two scrapes soon. */
const SCRAPE_INTERVAL = "500ms";

/** Any other than that of the metrics: two targets of one address would become one. */
const UNSCRAPED_PORT = 1;

/** Why Prometheus is not to be had here; "" when it is. */
export async function whyNoPrometheus(): Promise<string> {
  for (const name of ["prometheus", "promtool"]) {
    const { isThere } = await run(name, ["--version"]);
    if (!isThere) return `${name} is not installed`;
  }
  return "";
}

export interface Run {
  readonly isThere: boolean;
  readonly success: boolean;
  /** Its standard output and error. */
  readonly said: string;
}

/** Runs a program to its end. */
export async function run(name: string, args: readonly string[]): Promise<Run> {
  try {
    const { success, stdout, stderr } = await new Deno.Command(name, {
      args: [...args],
      stdin: "null",
    }).output();
    const decoder = new TextDecoder();
    return { isThere: true, success, said: decoder.decode(stdout) + decoder.decode(stderr) };
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return { isThere: false, success: false, said: "" };
  }
}

/**
 * The configuration of the kind overlay, with the alerts where they are here, and in place of the cluster's word on
 * its pods one pod, whose port `collapser-http` is at `port`, and whose port `grpc` must not be scraped.
 */
export async function configFor(port: number): Promise<string> {
  const text = await Deno.readTextFile(CONFIG);
  if (!ASKS_CLUSTER.test(text)) {
    throw new Error("Cannot find kubernetes_sd_configs in the configuration");
  }
  return text
    .replace(
      ASKS_CLUSTER,
      `    static_configs:\n${podPort("collapser-http", port)}${podPort("grpc", UNSCRAPED_PORT)}`,
    )
    .replaceAll(/(scrape|evaluation)_interval: 5s/g, `$1_interval: ${SCRAPE_INTERVAL}`)
    .replace("/etc/prometheus/rules/*.yaml", ALERTS);
}

/** What `promtool check config` says of it. */
export async function checkConfig(config: string): Promise<Run> {
  const path = await Deno.makeTempFile({ prefix: "collapser-test-", suffix: ".yaml" });
  try {
    await Deno.writeTextFile(path, config);
    return await run("promtool", ["check", "config", path]);
  } finally {
    await Deno.remove(path);
  }
}

/** One container port as Prometheus hears of it from Kubernetes. */
function podPort(name: string, port: number): string {
  const labels = {
    __meta_kubernetes_namespace: "collapser-demo",
    __meta_kubernetes_pod_name: "hello-1",
    __meta_kubernetes_pod_label_app_kubernetes_io_name: "hello",
    __meta_kubernetes_pod_container_name: "collapser",
    __meta_kubernetes_pod_container_port_name: name,
  };
  return `      - targets: ["127.0.0.1:${port}"]\n        labels: ${JSON.stringify(labels)}\n`;
}

/** A Prometheus of the test's own, which forgets everything at its end. */
export class Prometheus implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #folder: string;
  readonly #url: string;

  private constructor(child: Deno.ChildProcess, folder: string, url: string) {
    this.#child = child;
    this.#folder = folder;
    this.#url = url;
  }

  /** Starts one; resolves when it answers. */
  static async start(config: string): Promise<Prometheus> {
    const folder = await Deno.makeTempDir({ prefix: "collapser-test-" });
    await Deno.writeTextFile(`${folder}/prometheus.yaml`, config);
    const address = `127.0.0.1:${freePort()}`;
    const child = new Deno.Command("prometheus", {
      args: [
        `--config.file=${folder}/prometheus.yaml`,
        `--storage.tsdb.path=${folder}/data`,
        `--web.listen-address=${address}`,
      ],
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
    const prometheus = new Prometheus(child, folder, `http://${address}`);
    try {
      const isReady = async () => (await get(`http://${address}/-/ready`)).status === 200;
      await until(isReady, "a Prometheus that is ready");
      return prometheus;
    } catch (error) {
      await prometheus[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The data of an answer of its HTTP API; throws its words where it has none. */
  async ask(path: string, parameters: Readonly<Record<string, string>> = {}): Promise<Json> {
    const { text } = await get(`${this.#url}/api/v1/${path}?${new URLSearchParams(parameters)}`);
    const { status, data, error } = JSON.parse(text);
    if (status !== "success") throw new Error(`${path}: ${error}`);
    return data;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL"); // it has nothing to keep
    await this.#child.status;
    await Deno.remove(this.#folder, { recursive: true });
  }
}
