import { processTicks, residentKiB } from "./proc_text.ts";
import { readMetrics, sumByName } from "./proxy_metrics.ts";

/** USER_HZ: what the kernel counts /proc/PID/stat in, on every Linux that Deno runs on. */
const TICKS_PER_SECOND = 100;

const BYTES_PER_KIB = 1_024;

/** The CPU time that a process has used since its start, and its memory. */
export interface Usage {
  readonly userSeconds: number;
  /** System time; undefined where the source does not tell it from `userSeconds`. */
  readonly systemSeconds: number | undefined;
  /** Resident memory; undefined where the source does not say. */
  readonly residentBytes: number | undefined;
}

/** The places where the usage of one process can be read. */
export interface UsageSource {
  /** Id of a process on this machine. */
  readonly pid?: number | undefined;
  /** URL of the process's own metrics, in Prometheus's text format. */
  readonly metricsUrl?: string | undefined;
}

/** A reading, or in words why there is none. */
export type UsageReading = { readonly usage: Usage } | { readonly missing: string };

/** Reads what a process has used: from /proc when its pid is known, else from its own metrics. Never rejects. */
export async function readUsage({ pid, metricsUrl }: UsageSource): Promise<UsageReading> {
  if (pid === undefined && metricsUrl === undefined) {
    return { missing: "neither its pid (--pid) nor its metrics (--metrics) were given" };
  }
  const found = pid === undefined ? undefined : await readProcess(pid);
  if (found !== undefined && ("usage" in found || metricsUrl === undefined)) return found;
  return await usageOfMetrics(metricsUrl!);
}

/** Usage of the process and all its children: nginx works in those. */
async function readProcess(pid: number): Promise<UsageReading> {
  let userTicks = 0;
  let systemTicks = 0;
  let residentBytes = 0;
  try {
    for (const each of await family(pid)) {
      const ticks = processTicks(await Deno.readTextFile(`/proc/${each}/stat`));
      userTicks += ticks.user;
      systemTicks += ticks.system;
      residentBytes += residentKiB(await Deno.readTextFile(`/proc/${each}/status`)) * BYTES_PER_KIB;
    }
  } catch (error) {
    return { missing: whyUnreadable(pid, error) };
  }
  return {
    usage: {
      userSeconds: userTicks / TICKS_PER_SECOND,
      systemSeconds: systemTicks / TICKS_PER_SECOND,
      residentBytes,
    },
  };
}

/** The process and what any of its threads has started, and so on. */
async function family(pid: number): Promise<number[]> {
  const found = [pid];
  for await (const thread of Deno.readDir(`/proc/${pid}/task`)) {
    for (const child of await childrenOf(`/proc/${pid}/task/${thread.name}`)) {
      found.push(...await family(child));
    }
  }
  return found;
}

/** Children of a thread; none where it has just ended, or the kernel does not say: the process counts alone then. */
async function childrenOf(thread: string): Promise<number[]> {
  try {
    const children = await Deno.readTextFile(`${thread}/children`);
    return children.split(" ").filter(Boolean).map(Number);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

function whyUnreadable(pid: number, error: unknown): string {
  if (error instanceof Deno.errors.NotCapable) {
    return `reading /proc/${pid} needs all permissions: run it from source, or give --metrics`;
  }
  if (error instanceof Deno.errors.NotFound) return `there is no /proc/${pid} on this machine`;
  return `/proc/${pid} cannot be read: ${error instanceof Error ? error.message : String(error)}`;
}

async function usageOfMetrics(url: string): Promise<UsageReading> {
  const read = await readMetrics(url);
  if ("missing" in read) return read;
  const metrics = sumByName(read.exposition);
  const residentBytes = metrics.get("process_resident_memory_bytes");
  const userSeconds = metrics.get("process_cpu_user_seconds_total");
  const systemSeconds = metrics.get("process_cpu_system_seconds_total");
  if (userSeconds !== undefined && systemSeconds !== undefined) {
    return { usage: { userSeconds, systemSeconds, residentBytes } };
  }
  const bothSeconds = metrics.get("process_cpu_seconds_total");
  if (bothSeconds === undefined) {
    return { missing: `${url} has no process_cpu_seconds_total: give its pid (--pid)` };
  }
  return { usage: { userSeconds: bothSeconds, systemSeconds: undefined, residentBytes } };
}
