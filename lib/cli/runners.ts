import type { HostPort, Settings } from "../config/mod.ts";
import type { Signals } from "./signals.ts";

/** What the demo's backend is and how slow. */
export interface BackendOptions {
  readonly host: string;
  readonly port: number;
  /** How long each answer takes. */
  readonly delayMs: number;
}

/** The burst that the demo sends. */
export interface DemoOptions {
  readonly callers: number;
  /** Distinct requests among the callers. */
  readonly keys: number;
  readonly delayMs: number;
  readonly connections: number;
}

/** What the load generator sends, and for how long. */
export interface LoadOptions {
  readonly address: HostPort;
  /** Path of the method. */
  readonly method: string;
  /** Calls kept under way at once. */
  readonly callers: number;
  /** Distinct requests among the calls. */
  readonly keys: number;
  readonly metadata: readonly (readonly [name: string, value: string])[];
  /** For each call; undefined sends none. */
  readonly deadlineMs: number | undefined;
  /** It ends after so long; undefined when the number of calls alone ends it. */
  readonly durationMs: number | undefined;
  /** It ends after so many; undefined when time alone ends it. */
  readonly calls: number | undefined;
  readonly connections: number;
  /** Calls begun in a second; undefined is as fast as the callers go. */
  readonly callsPerSecond: number | undefined;
  /** Print one JSON object instead of a table. */
  readonly json: boolean;
}

/** Whom the health probe asks. */
export type ProbeTarget =
  | { readonly over: "grpc"; readonly address: HostPort; readonly service: string }
  | { readonly over: "http"; readonly url: string };

export interface ProbeResult {
  readonly healthy: boolean;
  /** What was answered, or why nothing was. */
  readonly detail: string;
}

/**
 * The work behind the commands. It lives in other rooms, and `rooms.ts` fetches it from
 * there; here is only what the commands ask of it. Numbers that come back are exit codes.
 */
export interface Runners {
  /** Resolves when the process should end. */
  sidecar(
    settings: Settings,
    surroundings: { warnings: readonly string[]; signals: Signals },
  ): Promise<number>;
  /** Resolves when the process should end. */
  backend(options: BackendOptions, surroundings: { signals: Signals }): Promise<number>;
  demo(options: DemoOptions): Promise<number>;
  load(options: LoadOptions): Promise<number>;
  probe(target: ProbeTarget, options: { timeoutMs: number }): Promise<ProbeResult>;
}
