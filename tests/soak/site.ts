import type { Histogram } from "../../lib/measure/mod.ts";
import { until, within } from "../support/waiting.ts";
import type { MemorySample } from "./memory.ts";
import { type Leftovers, leftoversOf, mismatchesOf, restOf, sumOf } from "./rest.ts";
import type { SidecarChild, Transport } from "./sidecar_child.ts";
import type { SoakCall } from "./soak_call.ts";
import type { Tally } from "./tally.ts";
import { Traffic } from "./traffic.ts";

/** Shares of the calls, and connections, by transport. */
const SHARES: Readonly<Record<Transport, { share: number; links: number }>> = {
  tcp: { share: 0.6, links: 6 },
  tls: { share: 0.2, links: 3 },
  unix: { share: 0.2, links: 3 },
};

/** No call lasts longer, on a machine that does its work: see BACKEND_TIMEOUT, and the backend ends what it begins within a second. */
const HANGS_MS = 60_000;

/** Longest that a sidecar may take to end when nobody is left. */
const END_LIMIT_MS = 30_000;

/** What one sidecar came to. */
export interface SidecarResult {
  readonly transport: Transport;
  readonly outcomes: Readonly<Record<string, number>>;
  /** How often each backend was left out, and calls that it was not sent. */
  readonly ejections: Readonly<Record<string, number>>;
  readonly refused: Readonly<Record<string, number>>;
  readonly memory: readonly MemorySample[];
  /** What good calls took beyond their own pauses. */
  readonly excess: Histogram;
  readonly descriptors: { readonly atStart: number; readonly atEnd: number };
  readonly leftovers: Leftovers;
  /** Alarms still set when it had stopped. */
  readonly alarms: number;
  readonly exitCode: number;
}

/** One sidecar under test, and its callers. */
export class Site {
  readonly sidecar: SidecarChild;
  readonly traffic: Traffic;
  readonly memory: MemorySample[] = [];
  readonly #tally: Tally;
  readonly #descriptorsAtStart: number;

  constructor(
    sidecar: SidecarChild,
    { tally, random, perSecond, shards, mayBeShut }: {
      tally: Tally;
      mayBeShut: () => boolean;
      random: () => number;
      perSecond: number;
      shards: readonly string[];
    },
  ) {
    const { transport, dial } = sidecar;
    const { share, links } = SHARES[transport];
    this.sidecar = sidecar;
    this.#tally = tally;
    this.#descriptorsAtStart = sidecar.descriptors;
    this.traffic = new Traffic({
      ...{ name: transport, dial, links, random, shards, mayBeShut },
      perSecond: perSecond * share,
      onEnd: (call) => tally.ended(call, transport),
      onTrouble: (why) => tally.fault(`${transport}: ${why}`),
    });
  }

  /** Throws when the sidecar is gone, or a call never ends. */
  expectsLife(nowMs: number): void {
    const { sidecar, traffic: { oldest } } = this;
    if (!sidecar.isRunning) {
      throw new Error(`Cannot go on: a sidecar ended: ${sidecar.errorLines.slice(-10).join("\n")}`);
    }
    if (oldest !== undefined && nowMs - oldest.startedMs > HANGS_MS) throw hanging(oldest);
  }

  /** Waits until nothing is under way; what the sidecar holds then is what it keeps. */
  async rest(startedMs: number): Promise<void> {
    const { sidecar, traffic } = this;
    try {
      await until(() => traffic.underWay === 0, "the end of all calls", HANGS_MS);
    } catch {
      throw hanging(traffic.oldest!);
    }
    await this.#tally.attempt(() => restOf(sidecar, () => traffic.links));
    const collected = await sidecar.collect();
    const { residentBytes } = sidecar;
    this.memory.push({ atMs: performance.now() - startedMs, residentBytes, ...collected });
  }

  /** Callers leave, the sidecar is told to end, and nothing may be left of either. */
  async end(): Promise<SidecarResult> {
    const { sidecar, traffic, memory } = this;
    const { transport } = sidecar;
    const tally = this.#tally;
    const atStart = this.#descriptorsAtStart;
    await within(traffic.close(), "the end of all connections", END_LIMIT_MS);
    await tally.attempt(() => restOf(sidecar, () => 0));
    const what = `${transport}: descriptors back at ${atStart}`;
    await tally.attempt(() => until(() => sidecar.descriptors <= atStart, what));
    const series = await sidecar.scrape();
    const descriptors = { atStart, atEnd: sidecar.descriptors };
    sidecar.signal("SIGTERM");
    const { code } = await sidecar.end(END_LIMIT_MS);
    const alarms = Number(sidecar.logged("Left behind")?.alarms ?? NaN);
    if (code !== 0) tally.fault(`${transport}: exit code ${code}`);
    const mismatches = mismatchesOf(series);
    if (mismatches > 0) tally.fault(`${transport}: ${mismatches} answers by who asks, of none`);
    if (alarms !== 0) tally.fault(`${transport}: ${alarms} alarms are left`);
    for (const line of sidecar.log.filter(({ level }) => level === "error")) {
      tally.fault(`${transport}: logged ${JSON.stringify(line)}`);
    }
    return {
      ...{ transport, memory, descriptors, alarms, exitCode: code },
      excess: tally.excessOf(transport),
      outcomes: outcomesOf(series),
      ejections: byLabel(series, "collapser_backend_ejections_total", "backend"),
      refused: byLabel(series, "collapser_backend_rejected_total", "reason"),
      leftovers: leftoversOf(series),
    };
  }
}

/** Calls by outcome as the sidecar counted them. */
function outcomesOf(series: ReadonlyMap<string, number>): Record<string, number> {
  const outcomes = ["hit", "joined", "led", "passed", "stale", "rejected"];
  const names = [...series].filter(([name]) => name.startsWith("collapser_calls_total{"));
  return Object.fromEntries(outcomes.map((outcome) => {
    const those = new Map(names.filter(([name]) => name.includes(`outcome="${outcome}"`)));
    return [outcome, sumOf(those, "")];
  }));
}

/** The sums of a metric by the values of one of its labels. */
function byLabel(
  series: ReadonlyMap<string, number>,
  metric: string,
  label: string,
): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const [name, value] of series) {
    if (!name.startsWith(`${metric}{`)) continue;
    const [, of = ""] = new RegExp(`${label}="([^"]*)"`).exec(name) ?? [];
    sums[of] = (sums[of] ?? 0) + value;
  }
  return sums;
}

function hanging({ choice, startedMs, replies }: SoakCall): Error {
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed();
  return new Error(
    `Cannot go on: a call hangs for ${seconds} s after ${replies} replies: ${
      JSON.stringify(choice)
    }`,
  );
}
