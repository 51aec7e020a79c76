import process from "node:process";
import type { LoopLag } from "./loop_lag.ts";
import type { MetricSet } from "./registry.ts";

/** One entry for each descriptor that this process has open. Linux; Deno reads /proc with --allow-all alone. */
const DESCRIPTORS = "/proc/self/fd";

const MICROSECONDS = 1e6;

/**
 * The process under the names that every Prometheus client uses. prom-client has a collector of its own, but that
 * reads /proc, which the sidecar may not, and reports 0 where it failed.
 */
export function addProcessMetrics(metrics: MetricSet, lag: LoopLag): void {
  addCpuMetrics(metrics);
  metrics.gauge("process_resident_memory_bytes", {
    help: "Memory of the process that is in RAM, in bytes.",
    collect: (put) => put(Deno.memoryUsage().rss),
  });
  metrics.gauge("process_heap_bytes", {
    help: "JavaScript heap in use, in bytes; stored results are mostly outside it.",
    collect: (put) => put(Deno.memoryUsage().heapUsed),
  });
  metrics.gauge("process_start_time_seconds", {
    help: "When the process started, in seconds since 1970.",
    collect: (put) => put(performance.timeOrigin / 1_000),
  });
  if (canCountDescriptors()) {
    metrics.gauge("process_open_fds", {
      help: "File descriptors that are open: sockets mostly.",
      collect: async (put) => put(await countDescriptors()),
    });
  }
  metrics.gauge("collapser_event_loop_lag_seconds", {
    help: "Longest that the event loop kept a timer waiting since the last scrape, in seconds.",
    collect: (put) => put(lag.takeSeconds()),
  });
}

function addCpuMetrics(metrics: MetricSet): void {
  metrics.counter("process_cpu_user_seconds_total", {
    help: "CPU time spent in the program itself, in seconds.",
    collect: (put) => put(process.cpuUsage().user / MICROSECONDS),
  });
  metrics.counter("process_cpu_system_seconds_total", {
    help: "CPU time spent in the kernel for it, in seconds.",
    collect: (put) => put(process.cpuUsage().system / MICROSECONDS),
  });
  metrics.counter("process_cpu_seconds_total", {
    help: "CPU time spent in all, in seconds.",
    collect(put) {
      const { user, system } = process.cpuUsage();
      put((user + system) / MICROSECONDS);
    },
  });
}

/** Whether open descriptors can be counted: better no series than one that is always 0. */
function canCountDescriptors(): boolean {
  try {
    Deno.readDirSync(DESCRIPTORS);
    return true;
  } catch {
    return false; // not permitted, or not Linux
  }
}

async function countDescriptors(): Promise<number> {
  let count = 0;
  for await (const _ of Deno.readDir(DESCRIPTORS)) count++;
  return count;
}
