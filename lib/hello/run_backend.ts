import type { HelloBackend, HelloOptions } from "./hello_backend.ts";
import { startHello } from "./start_hello.ts";

/** How often the count on a terminal is brought up to date. */
const COUNT_EVERY_MS = 1_000;

/** Where a backend that is run by hand listens, and how slow it is: slow enough that callers meet. */
const DEFAULTS = { host: "127.0.0.1", port: 50051, delayMs: 50 } as const;

const STOP_SIGNALS = ["SIGTERM", "SIGINT"] as const;

/** What surrounds a run, so that a test can be it. */
export interface BackendSurroundings {
  /** Takes what is printed. @default standard output */
  readonly print?: (text: string) => void;
  /** Whether the output is a terminal, which gets a running count. */
  readonly isTerminal?: boolean;
  /** Calls back for each request to stop; returns how to unsubscribe. @default SIGTERM and SIGINT */
  readonly onStop?: (stop: () => void) => () => void;
}

/**
 * Runs a Hello backend until it is told to stop, and says so in words. Resolves with the exit code: 0 after it was
 * stopped, 1 when it could not listen or was told twice and so cut its calls off.
 */
export async function runBackend(
  options: HelloOptions = {},
  surroundings: BackendSurroundings = {},
): Promise<number> {
  const {
    print = printOut,
    isTerminal = Deno.stdout.isTerminal(),
    onStop = onStopSignal,
  } = surroundings;
  const given = { ...DEFAULTS, ...options };
  const told = Promise.withResolvers<void>();
  let stops = 0;
  let backend: HelloBackend | undefined;
  const unsubscribe = onStop(() => {
    if (++stops === 1) told.resolve();
    else backend?.kill();
  });
  try {
    backend = await startHello(given);
    print(banner(backend, given));
    const ticker = isTerminal ? showCount(backend, print) : undefined;
    await told.promise;
    clearInterval(ticker);
    await backend.stop();
    print(`${isTerminal ? "\r" : ""}Stopped after ${callsIn(backend.total)}\n`);
    return stops > 1 ? 1 : 0;
  } catch (error) {
    print(`${error instanceof Error ? error.message : error}\n`);
    return 1;
  } finally {
    unsubscribe();
  }
}

function banner(backend: HelloBackend, { delayMs }: { delayMs: number }): string {
  const reachable = backend.address.replace(/^(\[::\]|0\.0\.0\.0)(?=:\d+$)/, "localhost");
  return `Hello backend on ${backend.address}, ${delayMs} ms per answer: hello.v1.Hello, hello.v1.Stats, ` +
    `health and reflection. Try: grpcurl -plaintext -d '{"name":"Ada"}' ${reachable} hello.v1.Hello/GetGreeting\n`;
}

function showCount(backend: HelloBackend, print: (text: string) => void) {
  return setInterval(() => {
    const { total, inFlight, peakInFlight } = backend.report();
    print(`\r${callsIn(total)}, ${inFlight} in flight, ${peakInFlight} at most\x1b[K`);
  }, COUNT_EVERY_MS);
}

function callsIn(total: number): string {
  return total === 1 ? "1 call" : `${total} calls`;
}

function printOut(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(text));
}

function onStopSignal(stop: () => void): () => void {
  for (const signal of STOP_SIGNALS) Deno.addSignalListener(signal, stop);
  return () => {
    for (const signal of STOP_SIGNALS) Deno.removeSignalListener(signal, stop);
  };
}
