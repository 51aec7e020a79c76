import process from "node:process";
import { STATUS } from "../../grpc/mod.ts";
import type { FrameLog } from "../../wire/mod.ts";
import { type BackendCount, type LoadPlan, LoadRun, poissonGaps, type Tally } from "../load/mod.ts";
import { type MessageTemplate, templateBody } from "./message_template.ts";
import type { TaxOptions } from "./options.ts";
import type { CpuTime, Sample } from "./sample.ts";
import type { Phase, Step } from "./schedule.ts";
import type { SubjectClient } from "./subject_client.ts";
import type { Usage } from "./usage.ts";

/** Pause before each measurement: whatever the one before left behind is done with by then. */
const PAUSE_MS = 30;

/** Longest that the backend may take to say what it counted. */
const COUNT_TIMEOUT_MS = 5_000;

/** `x-collapser` of calls that needed none to the backend. */
const SAVED_OUTCOMES = ["hit", "joined", "stale"];

const US_PER_MS = 1_000;
const MS_PER_SECOND = 1_000;

/** Everything that the measurements of a run share. */
export interface Bench {
  readonly options: TaxOptions;
  readonly template: MessageTemplate;
  readonly subjects: readonly SubjectClient[];
  /** The backend itself among them, which can be asked what it counted. */
  readonly direct: SubjectClient;
  readonly backendCount: BackendCount | undefined;
}

/** Makes measurements, one at a time. No two calls of a run ask the same, but for the repeats. */
export class Measurement {
  #bench: Bench;
  #nextNumber = 0;

  constructor(bench: Bench) {
    this.#bench = bench;
  }

  /** Makes one measurement; calls that were never answered are failures. */
  async take(step: Step): Promise<Sample> {
    const subject = this.#bench.subjects[step.system]!;
    await new Promise((resume) => setTimeout(resume, PAUSE_MS));
    const isRepeats = step.phase.kind === "repeats";
    const countBefore = isRepeats ? await this.#askBackend() : undefined;
    const usageBefore = await subject.readUsage();
    const { sentBytes, receivedBytes } = subject.wire;
    const ownBefore = process.cpuUsage();

    const run = new LoadRun(subject.client, this.#plan(step, subject));
    await run.run();

    const own = process.cpuUsage(ownBefore);
    const usageAfter = await subject.readUsage();
    const countAfter = isRepeats ? await this.#askBackend() : undefined;
    subject.callsMade += run.begun;
    return {
      step,
      latency: run.tally.latency,
      lateness: run.lateness,
      calls: run.begun,
      succeeded: run.tally.succeeded,
      elapsedMs: run.elapsedMs,
      backlogShare: run.backlogShare,
      sentBytes: subject.wire.sentBytes - sentBytes,
      receivedBytes: subject.wire.receivedBytes - receivedBytes,
      cpu: cpuBetween(usageBefore, usageAfter),
      ownCpu: { userMs: own.user / US_PER_MS, systemMs: own.system / US_PER_MS },
      saved: isRepeats ? savedCalls(run.tally, countBefore, countAfter) : undefined,
    };
  }

  #plan({ phase, round }: Step, subject: SubjectClient): LoadPlan {
    const { segmentMs, callers, keys, arrivals, seed } = this.#bench.options;
    const callsPerSecond = phase.kind === "saturation" ? undefined : phase.perSecond;
    const isRepeats = phase.kind === "repeats";
    return {
      method: isRepeats ? subject.askingMethod : subject.method,
      bodyOf: isRepeats ? this.#repeatedBodies(keys) : () => this.#nextBody(),
      keys: isRepeats ? keys : Infinity,
      callers,
      callsPerSecond,
      gapMs: callsPerSecond === undefined || arrivals === "even"
        ? undefined
        : poissonGaps(callsPerSecond, seedOf({ seed, round, phase })),
      durationMs: segmentMs,
    };
  }

  #nextBody(): FrameLog {
    return templateBody(this.#bench.template, this.#nextNumber++);
  }

  #repeatedBodies(keys: number): (key: number) => FrameLog {
    const bodies = Array.from({ length: keys }, () => this.#nextBody());
    return (key) => bodies[key]!;
  }

  async #askBackend(): Promise<number | undefined> {
    const { backendCount, direct, options } = this.#bench;
    if (backendCount === undefined) return undefined;
    const { status, body } = await direct.client.callOnce({
      path: backendCount.path,
      message: new Uint8Array(0),
      deadlineMs: COUNT_TIMEOUT_MS,
    });
    return status === STATUS.ok ? backendCount.callsOf(body, options.method) : undefined;
  }
}

/** The seed of a phase in a round, the same for all systems: they get the same gaps. */
function seedOf({ seed, round, phase }: { seed: number; round: number; phase: Phase }): number {
  const perSecond = phase.kind === "saturation" ? 0 : phase.perSecond;
  return seed + round * 1_000_003 + perSecond;
}

function cpuBetween(before: Usage | undefined, after: Usage | undefined): CpuTime | undefined {
  if (before === undefined || after === undefined) return undefined;
  const { systemSeconds } = after;
  return {
    userMs: (after.userSeconds - before.userSeconds) * MS_PER_SECOND,
    systemMs: systemSeconds === undefined || before.systemSeconds === undefined
      ? undefined
      : (systemSeconds - before.systemSeconds) * MS_PER_SECOND,
  };
}

/** Calls that the backend was spared, by what it counted, else by what the proxy said of each reply. */
function savedCalls(
  tally: Tally,
  before: number | undefined,
  after: number | undefined,
): number | undefined {
  if (before !== undefined && after !== undefined) {
    return Math.max(0, tally.ended - (after - before));
  }
  if (tally.outcomes.size === 0) return undefined;
  return SAVED_OUTCOMES.reduce((sum, name) => sum + tally.outcome(name), 0);
}
