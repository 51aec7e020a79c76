import { type Sidecar, startSidecar } from "../../sidecar/mod.ts";
import { createLogger } from "../../telemetry/mod.ts";
import type { Address } from "../../transport/mod.ts";
import { type Client, keyBodies, openClient } from "../client/mod.ts";
import { type LoadPlan, LoadRun } from "../load/mod.ts";
import { type Screen, terminalScreen, withProgress } from "../report/mod.ts";
import { DemoReport, type DemoResult, isFlawless, type Part } from "./report.ts";

const GOOD = 0;
const FAILED = 1;

const LOOPBACK = "127.0.0.1";

/** The steady part: callers who ask again as soon as they are answered, and for how long. */
const STEADY_CALLERS = 100;
const STEADY_MS = 2_000;

/** The last part: how many share a question, and the most questions there are. */
const CALLERS_PER_KEY = 10;
const MAX_CROWD_KEYS = 1_000;

/** Before a part, so that nothing stored answers it: longer than a result is kept unless told otherwise. */
const PAUSE_MS = 150;

/** The burst that the demo sends. */
export interface DemoOptions {
  readonly callers: number;
  /** Distinct requests among the callers. */
  readonly keys: number;
  /** How long the backend takes over each answer. */
  readonly delayMs: number;
  readonly connections: number;
}

/** A backend that counts. */
export interface DemoBackend {
  readonly port: number;
  /** Calls that have reached it since its start. */
  readonly total: number;
  /** Closes it and cuts its connections. */
  kill(): void;
}

/** What the demo is put together from, since it can make neither itself. */
export interface DemoParts {
  /** Path of the backend's method that is called: unary, and its name begins with a reading verb. */
  readonly method: string;
  startBackend(options: { host: string; port: number; delayMs: number }): Promise<DemoBackend>;
  /** Settings of a sidecar on free ports of 127.0.0.1, in front of the backend. */
  settingsFor(backend: Address): Parameters<typeof startSidecar>[0];
  /** @default the terminal */
  readonly screen?: Screen;
  /** How long the steady part lasts. @default 2000 */
  readonly steadyMs?: number;
}

/** What a part sends. */
type Sent = Omit<LoadPlan, "method" | "bodyOf">;

/** Where the parts are played. */
interface Stage {
  readonly backend: DemoBackend;
  readonly sidecar: Client;
  readonly direct: Client;
  readonly screen: Screen;
  readonly method: string;
  readonly steadyMs: number;
}

/**
 * Shows what collapsing saves: starts a slow, counting backend and a sidecar in this process, sends the same burst
 * through the sidecar and past it, and prints what the backend counted. The exit code is 1 when a call failed.
 */
export async function runDemo(options: DemoOptions, parts: DemoParts): Promise<number> {
  const { screen = terminalScreen(), steadyMs = STEADY_MS, method } = parts;
  const backend = await parts.startBackend({ host: LOOPBACK, port: 0, delayMs: options.delayMs });
  const log = createLogger({ level: "error", format: "console" });
  let sidecar: Sidecar | undefined;
  const clients: Client[] = [];
  try {
    sidecar = startSidecar(parts.settingsFor({ host: LOOPBACK, port: backend.port }), log);
    for (const port of [sidecar.grpcPort, backend.port]) {
      clients.push(await openClient({ host: LOOPBACK, port }, options));
    }
    const [through, direct] = clients as [Client, Client];
    const result = await playAll(
      { backend, sidecar: through, direct, screen, method, steadyMs },
      options,
    );
    return Object.values(result).every(isFlawless) ? GOOD : FAILED;
  } finally {
    // The backend first, and cut off: told to go away in order, a node:http2 server on Deno 2.9 may end the process.
    backend.kill();
    for (const client of clients) await client.close();
    await sidecar?.stop();
    await log.flush();
  }
}

async function playAll(stage: Stage, options: DemoOptions): Promise<DemoResult> {
  const { callers, keys } = options;
  const report = new DemoReport(stage.screen);
  const atOnce = { callers, keys, calls: callers };
  const again = { callers: Math.min(callers, STEADY_CALLERS), keys: 1, durationMs: stage.steadyMs };
  const crowdKeys = Math.ceil(callers / CALLERS_PER_KEY);
  const apart = { ...atOnce, keys: Math.min(MAX_CROWD_KEYS, crowdKeys) };

  report.intro(options);
  const burst = await play(stage, stage.sidecar, atOnce);
  report.burst(burst, atOnce);
  const direct = await play(stage, stage.direct, atOnce);
  report.direct(direct, burst);
  const steady = await play(stage, stage.sidecar, again);
  report.steady(steady, again);
  const crowd = await play(stage, stage.sidecar, apart);
  report.crowd(crowd, apart);
  return { burst, direct, steady, crowd };
}

async function play(stage: Stage, client: Client, sent: Sent): Promise<Part> {
  const { backend, screen, method: path } = stage;
  await new Promise((resume) => setTimeout(resume, PAUSE_MS));
  const run = new LoadRun(client, {
    ...sent,
    method: client.method({ path, metadata: [["x-collapser-debug", "1"]] }),
    bodyOf: keyBodies(),
  });
  const before = backend.total;
  const line = () => `${run.tally.ended} answered, ${run.underWay} waiting`;
  await withProgress(screen, line, run.run());
  return {
    tally: run.tally,
    elapsedMs: run.elapsedMs,
    unanswered: run.underWay,
    backendCalls: backend.total - before,
  };
}
