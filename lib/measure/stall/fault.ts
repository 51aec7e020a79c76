/** The faults that can be brought about at a backend. */
export const FAULTS = [
  "stall",
  "sigstop",
  "blackhole",
  "slow-start",
  "reset",
  "latency",
  "none",
] as const;
export type FaultName = typeof FAULTS[number];

/** Each fault as it looks from outside. */
export const FAULT_TEXTS: Readonly<Record<FaultName, string>> = {
  stall: "its main thread stands still; the kernel alone still accepts",
  sigstop: "SIGSTOP to its process, and SIGCONT afterwards",
  blackhole: "it accepts and reads, never answers; then drops its connections",
  "slow-start": "it takes no connection for a fifth of the time, is slow, gets faster",
  reset: "it answers every call with RST_STREAM",
  latency: "each answer takes 100 ms longer",
  none: "nothing",
};

/** The faults that leave calls without any answer. */
export const SILENT_FAULTS: readonly FaultName[] = ["stall", "sigstop", "blackhole"];

/** A place that a fault can be brought about at, and taken away from. */
export interface Breakable {
  begin(fault: FaultName, durationMs: number): void;
  end(): void;
}

/** A process of the same user on this machine, stopped by signal. */
export class StoppedProcess implements Breakable {
  #pid: number;
  /** Lets the process go on: whoever ends the measurement early must not leave it standing. */
  #onUnload = () => this.end();

  constructor(pid: number) {
    this.#pid = pid;
  }

  begin(): void {
    Deno.kill(this.#pid, "SIGSTOP");
    globalThis.addEventListener("unload", this.#onUnload);
  }

  end(): void {
    globalThis.removeEventListener("unload", this.#onUnload);
    Deno.kill(this.#pid, "SIGCONT");
  }
}

/** A fault that somebody else brings about, who is told when. */
export class AnnouncedFault implements Breakable {
  #say: (line: string) => void;
  #name: string;

  constructor(name: string, say: (line: string) => void) {
    this.#name = name;
    this.#say = say;
  }

  begin(_fault: FaultName, durationMs: number): void {
    this.#say(`NOW: begin the fault at ${this.#name}; it is to last ${durationMs / 1_000} s`);
  }

  end(): void {
    this.#say(`NOW: end the fault at ${this.#name}`);
  }
}

/** The fault `none`. */
export const NO_FAULT: Breakable = { begin() {}, end() {} };
