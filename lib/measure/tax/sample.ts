import type { Histogram } from "../report/mod.ts";
import type { Step } from "./schedule.ts";

/** Processor time, in ms. */
export interface CpuTime {
  readonly userMs: number;
  /** System time; undefined where it is not told apart and is part of `userMs`. */
  readonly systemMs: number | undefined;
}

/** The result of one measurement. */
export interface Sample {
  readonly step: Step;
  /** Latency of the calls that were answered with OK. */
  readonly latency: Histogram;
  readonly lateness: Histogram;
  readonly calls: number;
  readonly succeeded: number;
  readonly elapsedMs: number;
  /** The backlog in the end, as `LoadRun.backlogShare` tells it. */
  readonly backlogShare: number;
  readonly sentBytes: number;
  readonly receivedBytes: number;
  /** CPU time of the system under test meanwhile; undefined where it could not be read. */
  readonly cpu: CpuTime | undefined;
  /** CPU time of this process meanwhile. */
  readonly ownCpu: CpuTime;
  /** Calls that needed no call to the backend; undefined where nobody could tell. */
  readonly saved: number | undefined;
}

/** User and system time together. */
export function totalCpuMs({ userMs, systemMs = 0 }: CpuTime): number {
  return userMs + systemMs;
}
