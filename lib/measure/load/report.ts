import { STATUS, statusName } from "../../grpc/mod.ts";
import {
  type Histogram,
  picture,
  row,
  showCount,
  showCounted,
  showRoundTime,
  showTime,
} from "../report/mod.ts";
import type { Tally } from "./tally.ts";

/** Lateness of one call in a hundred from which on the latencies are more the generator's than the server's. */
const LATE_MS = 2;

/** Columns of a line. */
const WIDTH = 80;

/** A finished run in numbers. */
export interface LoadResult {
  readonly tally: Tally;
  readonly elapsedMs: number;
  readonly lateness: Histogram;
  /** Calls of the method that the backend counted meanwhile; undefined where none was there to ask. */
  readonly backendCalls: number | undefined;
}

/** The subject of a measurement, for a reader of the numbers. */
export interface LoadSubject {
  readonly address: string;
  readonly method: string;
  readonly callers: number;
  readonly keys: number;
  readonly connections: number;
  readonly deadlineMs: number | undefined;
  readonly callsPerSecond: number | undefined;
}

/** The result as text of at most 80 columns. */
export function loadText(subject: LoadSubject, result: LoadResult): string {
  const { tally, elapsedMs, backendCalls, lateness } = result;
  const lines = [
    `${subject.method} at ${subject.address}: ${howText(subject)}`,
    "",
    row("calls", `${showCount(tally.ended)} in ${showTime(elapsedMs)}, ${rateText(result)}`),
    row("statuses", statusText(tally)),
    ...messageRows(tally),
  ];
  if (tally.outcomes.size > 0) lines.push(row("outcomes", countsText(sorted(tally.outcomes))));
  if (backendCalls !== undefined) lines.push(row("backend", backendText(backendCalls, tally)));
  if (tally.latency.count > 0) lines.push(row("latency", latencyText(tally.latency)));
  if (lateness.percentile(99) > LATE_MS) {
    lines.push(
      row(
        "caution",
        `the calls were made late, p99 ${
          showTime(lateness.percentile(99))
        }: so much is not the server`,
      ),
    );
  }
  const bars = picture(tally.latency).map((line) => `  ${line}`);
  return [...lines, ...bars.length > 0 ? ["", ...bars] : []].join("\n");
}

/** The result as one JSON object. Times are milliseconds. */
export function loadJson(subject: LoadSubject, result: LoadResult): string {
  const { tally, elapsedMs, backendCalls, lateness } = result;
  return JSON.stringify({
    ...subject,
    deadlineMs: subject.deadlineMs ?? null,
    callsPerSecond: subject.callsPerSecond ?? null,
    calls: tally.ended,
    failed: tally.failed,
    seconds: elapsedMs / 1_000,
    answeredPerSecond: perSecond(tally.succeeded, elapsedMs),
    statuses: Object.fromEntries(sorted(tally.statuses).map(([code, n]) => [statusName(code), n])),
    outcomes: Object.fromEntries(sorted(tally.outcomes)),
    backendCalls: backendCalls ?? null,
    latencyMs: percentiles(tally.latency),
    latenessMs: subject.callsPerSecond === undefined ? null : percentiles(lateness),
  });
}

/** `p50 1.2 ms   p90 ...`, as it stands under every measurement. */
export function latencyText(latency: Histogram): string {
  const { p50, p90, p99, p999, max } = percentiles(latency);
  return [["p50", p50], ["p90", p90], ["p99", p99], ["p99.9", p999], ["max", max]]
    .map(([name, ms]) => `${name} ${showTime(Number(ms))}`).join("  ");
}

/** `hit 3, joined 2`. */
export function countsText(counts: readonly (readonly [string, number])[]): string {
  return counts.map(([name, count]) => `${name} ${showCount(count)}`).join(", ");
}

/** Keys and counts, the most frequent first. */
export function sorted<K>(counts: ReadonlyMap<K, number>): [K, number][] {
  return [...counts].sort(([, one], [, other]) => other - one);
}

/** `counted 1 call: one for 9,999 answers`. */
export function backendText(backendCalls: number, { succeeded }: Tally): string {
  const counted = `counted ${showCounted(backendCalls, "call")}`;
  if (backendCalls === 0 || backendCalls >= succeeded) return counted;
  return `${counted}: one for ${showCount(succeeded / backendCalls)} answers`;
}

function percentiles(histogram: Histogram) {
  return {
    mean: histogram.meanMs,
    p50: histogram.percentile(50),
    p90: histogram.percentile(90),
    p99: histogram.percentile(99),
    p999: histogram.percentile(99.9),
    max: histogram.maxMs,
  };
}

function howText(subject: LoadSubject): string {
  const { callers, keys, connections, deadlineMs, callsPerSecond } = subject;
  const parts = [
    callsPerSecond === undefined
      ? showCounted(callers, "caller")
      : `${showCounted(callsPerSecond, "call")} a second`,
    showCounted(keys, "key"),
    showCounted(connections, "connection"),
  ];
  if (deadlineMs !== undefined) parts.push(`deadline ${showRoundTime(deadlineMs)}`);
  return parts.join(", ");
}

function rateText({ tally, elapsedMs }: LoadResult): string {
  return `${showCount(perSecond(tally.succeeded, elapsedMs))} answered OK a second`;
}

function statusText(tally: Tally): string {
  return countsText(sorted(tally.statuses).map(([code, count]) => [statusName(code), count]));
}

/** The message that the first call of each failing status was told, a row each. */
function messageRows(tally: Tally): string[] {
  return [...tally.messages].filter(([code]) => code !== STATUS.ok).map(([code, message]) =>
    row("", `${statusName(code)}: ${oneLine(message)}`).slice(0, WIDTH)
  );
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ");
}

function perSecond(count: number, elapsedMs: number): number {
  return elapsedMs > 0 ? count / elapsedMs * 1_000 : 0;
}
