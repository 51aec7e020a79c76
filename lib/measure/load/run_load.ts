import { STATUS } from "../../grpc/mod.ts";
import type { Address } from "../../transport/mod.ts";
import { authorityOf, type Client, keyBodies, openClient } from "../client/mod.ts";
import { type Screen, showCount, terminalScreen, withProgress } from "../report/mod.ts";
import { loadJson, type LoadResult, type LoadSubject, loadText } from "./report.ts";
import { LoadRun } from "./run.ts";

const GOOD = 0;
const FAILED = 1;

/** Longest that the backend may take to say what it counted. */
const COUNT_TIMEOUT_MS = 5_000;

/** Asks the sidecar to say in each reply's trailers how it came by it. */
const ASK_OUTCOME = ["x-collapser-debug", "1"] as const;

/** The calls that `collapser load` makes, and for how long. */
export interface LoadOptions {
  readonly address: Address;
  /** Path of the method. */
  readonly method: string;
  /** Calls kept under way at once, where `callsPerSecond` is not set. */
  readonly callers: number;
  /** Distinct requests among the calls. */
  readonly keys: number;
  readonly metadata: readonly (readonly [name: string, value: string])[];
  /** Deadline of each call; undefined sends none. */
  readonly deadlineMs: number | undefined;
  /** Length of the run; undefined when the number of calls alone ends it. */
  readonly durationMs: number | undefined;
  /** Calls in all; undefined when time alone ends the run. */
  readonly calls: number | undefined;
  readonly connections: number;
  /** Calls begun in a second, however many are under way; undefined is as fast as the callers go. */
  readonly callsPerSecond: number | undefined;
  /** Print one JSON object instead of text. */
  readonly json: boolean;
}

/** The way to ask a backend how many calls have reached it. */
export interface BackendCount {
  /** Path of the method that tells, for an empty request. */
  readonly path: string;
  /** Calls of `method` by the reply. */
  callsOf(reply: Uint8Array, method: string): number;
}

/** The surroundings of a run: whom it may ask, and where it shows its result. */
export interface LoadSurroundings {
  /** A backend that counts; unless given, nobody is asked. */
  readonly backendCount?: BackendCount;
  /** @default the terminal */
  readonly screen?: Screen;
}

/**
 * Makes calls as the options say and prints how they ended. The exit code is 0 when every call was answered with OK,
 * and 1 when one was not, for whatever reason (a deadline of our own choosing included), or none could be made.
 */
export async function runLoad(
  options: LoadOptions,
  { backendCount, screen = terminalScreen() }: LoadSurroundings = {},
): Promise<number> {
  let client: Client;
  try {
    client = await openClient(options.address, { connections: options.connections });
  } catch (error) {
    screen.complain(error instanceof Error ? error.message : String(error));
    return FAILED;
  }
  const before = await askCount(client, options, backendCount);
  const run = startRun(client, options);
  await withProgress(screen, () => progressLine(run), run.run());
  const after = await askCount(client, options, backendCount);
  await client.close(); // calls that were never answered are counted as cancelled by this
  const result: LoadResult = {
    tally: run.tally,
    elapsedMs: run.elapsedMs,
    lateness: run.lateness,
    backendCalls: before === undefined || after === undefined ? undefined : after - before,
  };
  screen.print((options.json ? loadJson : loadText)(subjectOf(options), result));
  return run.tally.failed === 0 && run.tally.ended > 0 ? GOOD : FAILED;
}

function startRun(client: Client, options: LoadOptions): LoadRun {
  const { method: path, metadata, deadlineMs } = options;
  return new LoadRun(client, {
    ...options,
    method: client.method({ path, metadata: [...metadata, ASK_OUTCOME], deadlineMs }),
    bodyOf: keyBodies(),
  });
}

/** Asks what the backend has counted so far; undefined when there is none that counts. */
async function askCount(
  client: Client,
  { method }: LoadOptions,
  backendCount: BackendCount | undefined,
): Promise<number | undefined> {
  if (backendCount === undefined) return undefined;
  const reply = await client.callOnce({
    path: backendCount.path,
    message: new Uint8Array(0),
    deadlineMs: COUNT_TIMEOUT_MS,
  });
  return reply.status === STATUS.ok ? backendCount.callsOf(reply.body, method) : undefined;
}

function subjectOf(options: LoadOptions): LoadSubject {
  const { address, method, callers, keys, connections, deadlineMs, callsPerSecond } = options;
  return {
    address: authorityOf(address),
    method,
    callers,
    keys,
    connections,
    deadlineMs,
    callsPerSecond,
  };
}

function progressLine({ tally, underWay }: LoadRun): string {
  const failed = tally.failed > 0 ? `, ${showCount(tally.failed)} failed` : "";
  return `${showCount(tally.ended)} calls ended${failed}, ${showCount(underWay)} under way`;
}
