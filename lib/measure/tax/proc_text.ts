/** Processor time of a process, in the kernel's ticks. */
export interface Ticks {
  readonly user: number;
  readonly system: number;
}

/** Fields 14 and 15 of /proc/PID/stat, counted from the one after the name (proc(5)). */
const USER_FIELD = 11;
const SYSTEM_FIELD = 12;

/** Reads /proc/PID/stat. The name of the process is in brackets and may itself hold brackets and spaces. */
export function processTicks(stat: string): Ticks {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [user, system] = [Number(fields[USER_FIELD]), Number(fields[SYSTEM_FIELD])];
  if (Number.isNaN(user + system)) {
    throw new Error("Cannot read /proc/PID/stat: no processor times");
  }
  return { user, system };
}

/** VmRSS in /proc/PID/status; 0 where it has none, as a process that has ended. */
export function residentKiB(status: string): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
}
