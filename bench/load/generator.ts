/**
 * The load generator: our own client (`lib/measure`), as a process of its own, so that neither side of a comparison
 * shares a processor's time with it unseen. Takes one JSON order a line on standard input, `open`, `run` or `close`,
 * and answers each with one JSON line.
 *
 * @module
 */

import process from "node:process";
import {
  type Client,
  type Histogram,
  keyBody,
  LoadRun,
  openClient,
} from "../../lib/measure/mod.ts";

/** Where the calls of the following runs go. */
export interface OpenOrder {
  readonly op: "open";
  readonly host: string;
  readonly port: number;
  readonly connections: number;
}

/** Calls to make. */
export interface RunOrder {
  readonly op: "run";
  readonly path: string;
  readonly callers: number;
  /** Every call asks something new, instead of all the same. */
  readonly distinct: boolean;
  readonly callsPerSecond?: number;
  readonly durationMs?: number;
  readonly calls?: number;
}

export type Order = OpenOrder | RunOrder | { readonly op: "close" };

/** What came of a run. Times are ms. */
export interface RunAnswer {
  readonly calls: number;
  readonly failed: number;
  /** What the first failure said. */
  readonly message: string;
  readonly elapsedMs: number;
  readonly latency: { readonly p50: number; readonly p90: number; readonly p99: number };
  /** How late the generator was, in an open loop: p99. */
  readonly lateMs: number;
  /** Processor time the generator took, in cores. */
  readonly cores: number;
}

/** So many keys that they never come round again. */
const ENDLESS = 2 ** 40;

let client: Client | undefined;
/** The first key of the next run that asks something new each time. */
let nextKey = 1;

if (import.meta.main) {
  let rest = "";
  for await (const text of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop()!;
    for (const line of lines) console.log(JSON.stringify(await carryOut(JSON.parse(line))));
  }
  await client?.close();
}

async function carryOut(order: Order): Promise<RunAnswer | Record<string, never>> {
  if (order.op === "run") return await run(client!, order);
  await client?.close();
  client = undefined;
  if (order.op === "open") client = await openClient(order, { connections: order.connections });
  return {};
}

async function run(client: Client, order: RunOrder): Promise<RunAnswer> {
  const firstKey = nextKey;
  const same = keyBody(0);
  const bodyOf = order.distinct ? (key: number) => keyBody(firstKey + key) : () => same;
  const method = client.method({ path: order.path });
  const load = new LoadRun(client, { ...order, method, bodyOf, keys: ENDLESS });
  const cpuBefore = process.cpuUsage();
  const startMs = performance.now();
  await load.run();
  const wallMs = performance.now() - startMs;
  const { user, system } = process.cpuUsage(cpuBefore);
  if (order.distinct) nextKey += load.begun;
  const { tally, elapsedMs, lateness, underWay } = load;
  return {
    calls: tally.succeeded,
    failed: tally.failed + underWay,
    message: [...tally.messages.values()][0] ?? (underWay > 0 ? "calls were not answered" : ""),
    elapsedMs,
    latency: percentiles(tally.latency),
    lateMs: lateness.percentile(99),
    cores: (user + system) / 1_000 / wallMs,
  };
}

function percentiles(latency: Histogram): RunAnswer["latency"] {
  return {
    p50: latency.percentile(50),
    p90: latency.percentile(90),
    p99: latency.percentile(99),
  };
}
