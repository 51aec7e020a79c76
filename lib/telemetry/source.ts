import type { ProxyCounters } from "../observe/mod.ts";

/** Where the metrics come from; read on every scrape. */
export interface MetricsSource {
  readonly counters: ProxyCounters;
  /** Flights under way. */
  inflight(): number;
  /** Callers waiting on flights. */
  waiters(): number;
  cachedResults(): number;
  cachedBytes(): number;
  /** Bytes held for peers. */
  bufferedBytes(): number;
  /** Paths of the methods that verify may take out, and whether it has. */
  methodsOff(): Iterable<readonly [path: string, isOff: boolean]>;
  /** What became of the policy file; undefined when there is none, and no series of it. */
  readonly policy: (() => PolicyFigures) | undefined;
  /** Version of collapser. */
  readonly version: string;
  /** Commit that collapser was built from. */
  readonly commit: string;
}

/** What is counted of the policy file. */
export interface PolicyFigures {
  /** Beginning of the SHA-256 of the text in force. */
  readonly hash: string;
  /** When that text was last found good, in ms since 1970. */
  readonly appliedAtMs: number;
  /** Whether the file, as it is now, is what is in force. */
  readonly isInForce: boolean;
  /** How often the file was found to have changed, and its text taken or refused. */
  readonly taken: number;
  readonly refused: number;
}
