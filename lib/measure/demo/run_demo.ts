import { type Client, keyBodies, openClient } from "../client/mod.ts";
import { type LoadPlan, LoadRun } from "../load/mod.ts";
import { type Screen, terminalScreen, withProgress } from "../report/mod.ts";
import { type DemoBackend, type EmbeddedParts, startEmbedded } from "./embedded.ts";
import { DemoReport, type DemoResult, isFlawless, type Part } from "./report.ts";

const GOOD = 0;
const FAILED = 1;

/** The steady part: callers who ask again as soon as they are answered, and for how long. */
const STEADY_CALLERS = 100;
const STEADY_MS = 2_000;

/** The last part: how many share a question, and the most questions there are. */
const CALLERS_PER_KEY = 10;
const MAX_CROWD_KEYS = 1_000;

/** Pause before a part, so that nothing stored answers it: longer than a result is kept unless told otherwise. */
const PAUSE_MS = 150;

/** The burst that the demo sends. */
export interface DemoOptions {
  readonly callers: number;
  /** Distinct requests among the callers. */
  readonly keys: number;
  /** Time that the backend takes over each answer. */
  readonly delayMs: number;
  readonly connections: number;
}

/** The parts that the demo is put together from. */
export interface DemoParts extends EmbeddedParts {
  /** Path of the backend's method that is called: unary, and its name begins with a reading verb. */
  readonly method: string;
  /** @default the terminal */
  readonly screen?: Screen;
  /** Length of the steady part. @default 2000 */
  readonly steadyMs?: number;
}

/** The calls of a part. */
type Sent = Omit<LoadPlan, "method" | "bodyOf">;

/** The stage that the parts are played on. */
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
  const embedded = await startEmbedded(parts, options);
  const { backend, proxied } = embedded;
  const clients: Client[] = [];
  try {
    for (const address of [proxied, embedded.direct]) {
      clients.push(await openClient(address, options));
    }
    const [sidecar, direct] = clients as [Client, Client];
    const stage: Stage = { backend, sidecar, direct, screen, method, steadyMs };
    const result = await playAll(stage, options);
    return Object.values(result).every(isFlawless) ? GOOD : FAILED;
  } finally {
    embedded.killBackend();
    for (const client of clients) await client.close();
    await embedded.stop();
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
