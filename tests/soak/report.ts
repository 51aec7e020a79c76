import type { Histogram } from "../../lib/measure/mod.ts";
import { KINDS } from "./content.ts";
import { OUTCOMES } from "./judge.ts";
import { judgeMemory, type MemorySample } from "./memory.ts";
import type { SidecarResult } from "./site.ts";
import type { Progress, SoakResult } from "./soak.ts";

/** One line on how it goes. */
export function progressLine(
  { elapsedMs, calls, underWay, faultCount, residentBytes }: Progress,
  minutes: number,
): string {
  const perSecond = elapsedMs > 0 ? calls / elapsedMs * 1_000 : 0;
  const seconds = Math.floor(elapsedMs / 1_000);
  const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  return `${time} of ${minutes} min, ${calls} calls (${perSecond.toFixed()}/s), ${underWay} under way, ` +
    `${faultCount} faults, RSS ${residentBytes.map(mib).join(" ")} MiB`;
}

/** All figures, as text. */
export function reportOf({ tally, seconds, ...result }: SoakResult): string {
  const lines = [
    `${tally.total} calls in ${seconds.toFixed()} s, pauses included: ${
      (tally.total / seconds).toFixed()
    }/s; ` +
    `${result.backendCalls.join(" + ")} at the backend${
      result.backendCalls.length > 1 ? "s" : ""
    }` +
    (result.heldBack > 0
      ? `; ${result.heldBack} not made: no connection, or too many under way`
      : ""),
    `late by up to: this process ${ms(result.lateMs)}, the backend ${ms(result.backendLateMs)}`,
    `slowest: ${tally.slowest}`,
    ...tally.besideIll.count === 0 ? [] : [
      `${tally.besideIll.count} good calls of shards that were well while another was ill; ` +
      `beyond their own pauses they took ${percentiles(tally.besideIll)}`,
    ],
    "",
    ...table([
      ["calls", ...OUTCOMES],
      ...KINDS.map((kind) => [kind, ...OUTCOMES.map((one) => String(tally.counts[kind][one]))]),
    ]),
    "",
    ...result.sidecars.flatMap((sidecar) => [...sidecarLines(sidecar), ""]),
    "what went wrong on purpose:",
    ...[...result.mischief].sort().map(([what, count]) => `  ${String(count).padStart(6)} ${what}`),
  ];
  if (tally.faultCount > 0) {
    lines.push("", `FAULTS: ${tally.faultCount}`, ...tally.faults.map((why) => `  ${why}`));
  }
  return lines.join("\n");
}

function sidecarLines(sidecar: SidecarResult): string[] {
  const { transport, outcomes, memory, descriptors, leftovers, alarms, exitCode, excess } = sidecar;
  const { heapBytesPerMinute, residentBytesPerMinute } = judgeMemory(memory);
  const perMinute = (bytes: number) => `${(bytes / 1_024).toFixed(1)} KiB/min`;
  return [
    `sidecar for ${transport}: ${pairs(outcomes)}`,
    ...table([
      ["  at", ...memory.map((_, part) => `${(part + 1) * 100 / memory.length}%`)],
      ["  RSS MiB", ...memory.map(({ residentBytes }) => mib(residentBytes))],
      ["  heap taken MiB", ...memory.map(({ committedBytes }) => mib(committedBytes))],
      ["  buffers MiB", ...memory.map(({ externalBytes }) => mib(externalBytes))],
      ["  heap MiB", ...memory.map(({ heapBytes }) => mib(heapBytes))],
    ]),
    `  over the last two thirds: RSS without the heap ${perMinute(residentBytesPerMinute)}, heap ${
      perMinute(heapBytesPerMinute)
    }`,
    `  beyond their own pauses, good calls took ${percentiles(excess)}`,
    `  left out: ${pairs(sidecar.ejections)}; not sent: ${pairs(sidecar.refused)}`,
    `  descriptors: ${descriptors.atStart} at the start, ${descriptors.atEnd} at the end`,
    `  left at the end: ${pairs({ ...leftovers, alarms })}; exit code ${exitCode}`,
  ];
}

function percentiles(of: Histogram): string {
  return `p50 ${ms(of.percentile(50))}, p99 ${ms(of.percentile(99))}, at most ${ms(of.maxMs)}`;
}

function pairs(values: Readonly<Record<string, number>>): string {
  return Object.entries(values).map(([name, value]) => `${name} ${value}`).join(", ");
}

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map((row) =>
    row.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)
    ).join("  ")
  );
}

function ms(value: number): string {
  return `${value.toFixed(value < 10 ? 1 : 0)} ms`;
}

function mib(bytes: MemorySample["heapBytes"]): string {
  return (bytes / 2 ** 20).toFixed(1);
}
