import { FAILED, GOOD } from "./exit_codes.ts";

/**
 * A second signal within this time is the first one's echo: under `deno task`, Ctrl-C
 * reaches this process from the terminal and, a millisecond later, from the task runner.
 */
const ECHO_MS = 100;

export type StopSignal = "SIGTERM" | "SIGINT";

/** Where the request that the process end is heard. */
export interface Signals {
  /** Has `fn` hear the first signal and bring the end about. Returns how to unsubscribe. */
  onSignal(fn: (signal: StopSignal) => void): () => void;
  /** Has `fn` hear each SIGHUP, which then ends nothing. Returns how to unsubscribe. */
  onHangUp(fn: () => void): () => void;
}

/** What the handling of signals needs of the process; a test is its own. */
export interface SignalSource {
  addSignalListener(signal: StopSignal | "SIGHUP", listener: () => void): void;
  exit(code: number): void;
  nowMs(): number;
}

const PROCESS: SignalSource = {
  addSignalListener: (signal, listener) => Deno.addSignalListener(signal, listener),
  exit: (code) => Deno.exit(code),
  nowMs: () => performance.now(),
};

/**
 * Takes SIGTERM, SIGINT and SIGHUP over. As PID 1, which a container's program is, a process that
 * has no handler yet does not end on them but crashes, so this comes before all else.
 *
 * SIGHUP goes to whoever reads files anew. Where nobody does it is a terminal that was closed, and the end of those who
 * subscribed to that; before anybody has subscribed to anything it is not heeded.
 *
 * The first signal goes to whoever subscribed; while nobody has, nothing has begun that
 * must be finished, and the process ends at once, with 0. A second one ends it at once,
 * with 1, whatever the subscriber is doing.
 */
export function listenForSignals(source: SignalSource = PROCESS): Signals {
  const subscribers = new Set<(signal: StopSignal) => void>();
  const readers = new Set<() => void>();
  let firstAtMs: number | undefined;

  function hear(signal: StopSignal): void {
    if (firstAtMs !== undefined) {
      if (source.nowMs() - firstAtMs >= ECHO_MS) source.exit(FAILED);
      return;
    }
    firstAtMs = source.nowMs();
    if (subscribers.size === 0) source.exit(GOOD);
    for (const subscriber of subscribers) subscriber(signal);
  }

  function hangUp(): void {
    for (const reader of readers) reader();
    if (readers.size === 0 && subscribers.size > 0) hear("SIGTERM");
  }

  source.addSignalListener("SIGTERM", () => hear("SIGTERM"));
  source.addSignalListener("SIGINT", () => hear("SIGINT"));
  source.addSignalListener("SIGHUP", hangUp);
  return {
    onSignal(fn) {
      subscribers.add(fn);
      return () => void subscribers.delete(fn);
    },
    onHangUp(fn) {
      readers.add(fn);
      return () => void readers.delete(fn);
    },
  };
}
