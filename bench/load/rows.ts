import type { RunOrder } from "./generator.ts";
import type { Sample } from "./measure.ts";

/** Streams of a closed loop: 4 connections of 25, enough to keep any side busy. */
const BUSY = { connections: 4, callers: 100 };

const JOIN = { connections: 20, callers: 2_000 };
const BURST = { connections: 100, callers: 10_000, calls: 10_000 };
const OPEN_LOOP = { connections: 16, callers: 1, callsPerSecond: 1_000 };
const WORKERS = { connections: 10, callers: 100 };
const WORKERS_MS = 10_000;
const WORKERS_QUICK_MS = 3_000;

/** What a row says of one sample, and how it compares with the direct call. */
export interface Figure {
  readonly name: string;
  /** undefined where the machine does not tell. */
  readonly of: (sample: Sample) => number | undefined;
  /** `ratio` divides by the direct call's, `added` takes it away; otherwise it stands alone. */
  readonly against?: "ratio" | "added";
  /** It says something of the sidecar's process alone. */
  readonly sidecarOnly?: true;
}

/** One line of thought: what is asked of both sides, and which figures come of it. */
export interface Row {
  readonly name: string;
  readonly about: string;
  readonly path: "GetEcho" | "GetSlow" | "Create";
  readonly connections: number;
  readonly load: Omit<RunOrder, "op" | "path">;
  /** Which sidecar: as it comes, without a cache, in front of the backend of bare frames, or on trial. */
  readonly sidecar: "usual" | "uncached" | "raw" | "shadow" | "verify";
  /** How long a measurement is, in units of `--seconds`; 0 where the calls are counted. */
  readonly length: number;
  /** Not measured in rounds and not against the direct call, but once and for so long. */
  readonly alone?: { readonly ms: number; readonly quickMs: number };
  readonly figures: readonly Figure[];
  /** Backend calls a request, at least and at most, that show that this path was the one taken. */
  readonly callsPerRequest: readonly [least: number, most: number];
}

const PER_SECOND: Figure = { name: "requests/s", of: (s) => s.perSecond, against: "ratio" };
const CPU: Figure = { name: "sidecar CPU µs/request", of: (s) => s.cpuUs, sidecarOnly: true };
const CALLS: Figure = { name: "backend calls/request", of: (s) => s.callsPerRequest };
const GENERATOR: Figure = { name: "load generator, cores", of: (s) => s.cores };

function latency(name: "p50" | "p90" | "p99"): Figure {
  return { name: `${name} µs`, of: (s) => s.latency[name] * 1_000, against: "added" };
}

const EACH_ONCE = [0.99, 1.01] as const;
const HARDLY_ANY = [0, 0.01] as const;

export const ROWS: readonly Row[] = [
  {
    name: "hit",
    about: "one key, stored for 100 ms, 4 connections x 25 streams",
    path: "GetEcho",
    connections: BUSY.connections,
    load: { callers: BUSY.callers, distinct: false },
    sidecar: "usual",
    length: 1,
    figures: [PER_SECOND, CPU, CALLS, GENERATOR],
    callsPerRequest: HARDLY_ANY,
  },
  {
    name: "join",
    about: "cache off, one key, 50 ms backend, 20 connections x 100 streams",
    path: "GetSlow",
    connections: JOIN.connections,
    load: { callers: JOIN.callers, distinct: false },
    sidecar: "uncached",
    length: 1.5,
    figures: [PER_SECOND, CPU, CALLS, GENERATOR],
    callsPerRequest: HARDLY_ANY,
  },
  {
    name: "lead",
    about: "every request another key, 4 x 25",
    path: "GetEcho",
    connections: BUSY.connections,
    load: { callers: BUSY.callers, distinct: true },
    sidecar: "usual",
    length: 1,
    figures: [PER_SECOND, CPU, GENERATOR],
    callsPerRequest: EACH_ONCE,
  },
  {
    name: "leadraw",
    about: "the same before a backend of bare frames, which costs next to nothing",
    path: "GetEcho",
    connections: BUSY.connections,
    load: { callers: BUSY.callers, distinct: true },
    sidecar: "raw",
    length: 1,
    figures: [PER_SECOND, CPU, GENERATOR],
    callsPerRequest: EACH_ONCE,
  },
  {
    name: "pass",
    about: "a method that is not eligible, 4 x 25",
    path: "Create",
    connections: BUSY.connections,
    load: { callers: BUSY.callers, distinct: true },
    sidecar: "usual",
    length: 1,
    figures: [PER_SECOND, CPU, GENERATOR],
    callsPerRequest: EACH_ONCE,
  },
  {
    name: "shadow",
    about: "lead's calls in shadow: to be compared with pass, 4 x 25",
    path: "GetEcho",
    connections: BUSY.connections,
    load: { callers: BUSY.callers, distinct: true },
    sidecar: "shadow",
    length: 1,
    figures: [PER_SECOND, CPU, GENERATOR],
    callsPerRequest: EACH_ONCE,
  },
  {
    name: "shadowhit",
    about: "hit's calls in shadow: each is made, and compared, 4 x 25",
    path: "GetEcho",
    connections: BUSY.connections,
    load: { callers: BUSY.callers, distinct: false },
    sidecar: "shadow",
    length: 1,
    figures: [PER_SECOND, CPU, GENERATOR],
    callsPerRequest: EACH_ONCE,
  },
  {
    name: "shadowrate",
    about: "rate's calls in shadow",
    path: "GetEcho",
    connections: OPEN_LOOP.connections,
    load: { callers: 1, callsPerSecond: OPEN_LOOP.callsPerSecond, distinct: true },
    sidecar: "shadow",
    length: 2.5,
    figures: [
      latency("p50"),
      latency("p90"),
      latency("p99"),
      { name: "sidecar CPU millicores", of: (s) => s.millicores, sidecarOnly: true },
      { name: "sidecar RSS MiB", of: (s) => s.rssMib, sidecarOnly: true },
      { name: "generator late p99 µs", of: (s) => s.lateMs * 1_000 },
    ],
    callsPerRequest: EACH_ONCE,
  },
  {
    name: "verify",
    about: "hit's calls with verify: one in a hundred backend calls is a re-run, and the first 20",
    path: "GetEcho",
    connections: BUSY.connections,
    load: { callers: BUSY.callers, distinct: false },
    sidecar: "verify",
    length: 1,
    figures: [PER_SECOND, CPU, CALLS, GENERATOR],
    callsPerRequest: HARDLY_ANY,
  },
  {
    name: "serial",
    about: "one stream, every request another key",
    path: "GetEcho",
    connections: 1,
    load: { callers: 1, distinct: true },
    sidecar: "usual",
    length: 1,
    figures: [latency("p50"), latency("p99")],
    callsPerRequest: EACH_ONCE,
  },
  {
    name: "rate",
    about: "1,000 requests a second whatever comes back, distinct keys, 16 connections",
    path: "GetEcho",
    connections: OPEN_LOOP.connections,
    load: { callers: 1, callsPerSecond: OPEN_LOOP.callsPerSecond, distinct: true },
    sidecar: "usual",
    length: 2.5,
    figures: [
      latency("p50"),
      latency("p90"),
      latency("p99"),
      { name: "sidecar CPU millicores", of: (s) => s.millicores, sidecarOnly: true },
      { name: "sidecar RSS MiB", of: (s) => s.rssMib, sidecarOnly: true },
      { name: "generator late p99 µs", of: (s) => s.lateMs * 1_000 },
    ],
    callsPerRequest: EACH_ONCE,
  },
  {
    name: "burst",
    about: "10,000 calls of one key at once on 100 connections, 50 ms backend",
    path: "GetSlow",
    connections: BURST.connections,
    load: { callers: BURST.callers, calls: BURST.calls, distinct: false },
    sidecar: "usual",
    length: 0,
    figures: [
      { name: "backend calls", of: (s) => s.backendCalls },
      { name: "errors", of: (s) => s.failed },
      { name: "wall ms", of: (s) => s.elapsedMs, against: "ratio" },
    ],
    callsPerRequest: [0.0001, 0.0002],
  },
  {
    name: "workers",
    about: "100 callers of one key, again and again, stored for 100 ms",
    path: "GetEcho",
    connections: WORKERS.connections,
    load: { callers: WORKERS.callers, distinct: false },
    sidecar: "usual",
    length: 0,
    alone: { ms: WORKERS_MS, quickMs: WORKERS_QUICK_MS },
    figures: [
      { name: "requests/s", of: (s) => s.perSecond },
      { name: "backend calls/s", of: (s) => s.backendCalls / s.elapsedMs * 1_000 },
      { name: "errors", of: (s) => s.failed },
    ],
    callsPerRequest: HARDLY_ANY,
  },
];
