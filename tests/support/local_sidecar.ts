/**
 * A sidecar in this process, on free ports, in front of whatever a test starts.
 *
 * @module
 */

import { readSettings, type Settings } from "../../lib/config/mod.ts";
import { type Outcome, OUTCOMES } from "../../lib/observe/mod.ts";
import { type Sidecar, startSidecar } from "../../lib/sidecar/mod.ts";
import { createLogger, type Logger } from "../../lib/telemetry/mod.ts";
import { parseExposition } from "./exposition.ts";
import { get } from "./process.ts";
import { until } from "./waiting.ts";

export type Variables = Readonly<Record<string, string>>;

/** Settings as `collapser serve` reads them; the ports are free ones of the loopback address. */
export function settingsOf(variables: Variables): Settings {
  return readingOf(variables).settings;
}

function readingOf(variables: Variables) {
  const values: Variables = {
    GRPC_HOST: "127.0.0.1",
    GRPC_PORT: "0",
    METRICS_HOST: "127.0.0.1",
    METRICS_PORT: "0",
    ...variables,
  };
  const reading = readSettings((name) => values[name]);
  if ("problems" in reading) throw new Error(reading.problems.join("\n"));
  return reading;
}

/** A running sidecar whose log is kept as text. */
export class LocalSidecar implements AsyncDisposable {
  /** Lines of its log, as JSON. */
  readonly log: string[] = [];
  readonly sidecar: Sidecar;
  /** Comes before its own end, after that of its callers. */
  cutOffFirst: () => void = () => {};
  #stopped: Promise<number> | undefined;

  constructor(variables: Variables) {
    const { settings, ...background } = readingOf(variables);
    this.sidecar = startSidecar(settings, logInto(this.log), background);
  }

  /** Starts one in front of a backend; resolves when it is ready. */
  static async before(
    { port }: { readonly port: number },
    variables: Variables = {},
  ): Promise<LocalSidecar> {
    const local = new LocalSidecar({ BACKEND_ADDRESS: `127.0.0.1:${port}`, ...variables });
    await until(() => local.sidecar.proxy.readiness.ready, "a sidecar that is ready");
    return local;
  }

  get port(): number {
    return this.sidecar.grpcPort;
  }

  /** Calls by outcome, of all methods together. */
  get outcomes(): Record<Outcome, number> {
    const sum = { hit: 0, joined: 0, led: 0, passed: 0, stale: 0, rejected: 0 };
    for (const { outcomes } of this.sidecar.proxy.counters.all()) {
      for (const outcome of OUTCOMES) sum[outcome] += outcomes[outcome];
    }
    return sum;
  }

  /** GET of its admin listener; status 0 when nobody answers. */
  ask(path: string): Promise<{ status: number; text: string }> {
    return get(`http://127.0.0.1:${this.sidecar.metricsPort}${path}`);
  }

  /** The series of a scrape, by name and labels as they are written. */
  async scrape(): Promise<Map<string, number>> {
    return parseExposition((await this.ask("/metrics")).text);
  }

  /** As `Sidecar.stop`, once however often it is called. */
  stop(): Promise<number> {
    return this.#stopped ??= this.sidecar.stop();
  }

  /** Its callers go first: a grpc-js client in this process may not survive being told to. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#stopped === undefined) {
      await until(() => this.sidecar.proxy.counters.connections === 0, "callers that have gone");
    }
    this.cutOffFirst();
    await this.stop();
  }
}

/** A logger for those who read what was said. */
export function logInto(lines: string[]): Logger {
  return createLogger({
    level: "debug",
    format: "json",
    write: (line) => {
      lines.push(line);
      return Promise.resolve();
    },
  });
}
