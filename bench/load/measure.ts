import type { Backend } from "./backend.ts";
import type { Child } from "./child.ts";
import type { Order, RunAnswer } from "./generator.ts";
import type { Row } from "./rows.ts";

/** How much of a measurement's length goes before it, unmeasured. */
const WARM_UP_SHARE = 0.25;

/** After calls that were counted out and made once for warming up: longer than their result is stored. */
const FORGET_MS = 250;

/** Whom the calls of a measurement go to. */
export interface Side {
  readonly host: string;
  readonly port: number;
  /** The sidecar's process; undefined when it is the backend that is called. */
  readonly child: Child | undefined;
  /** Who counts the calls in the end. */
  readonly backend: Backend;
}

/** One measurement of one side. */
export interface Sample extends RunAnswer {
  readonly perSecond: number;
  readonly backendCalls: number;
  readonly callsPerRequest: number;
  /** Of the sidecar; undefined without one, or without /proc. */
  readonly cpuUs: number | undefined;
  readonly millicores: number | undefined;
  readonly rssMib: number | undefined;
}

/** The load generator's process, as seen from here. */
export class Generator {
  #child: Child;

  constructor(child: Child) {
    this.#child = child;
  }

  async do(order: Order): Promise<RunAnswer> {
    await this.#child.write(JSON.stringify(order));
    return JSON.parse(await this.#child.line());
  }
}

/** Measures one row at one side; `ms` is how long, where the calls are not counted. */
export async function measure(
  row: Row,
  { side, generator, ms }: { side: Side; generator: Generator; ms: number },
): Promise<Sample> {
  const { host, port, child, backend } = side;
  const path = `/bench.Echo/${row.path}`;
  await generator.do({ op: "open", host, port, connections: row.connections });
  await warmUp(row, { generator, path, ms });
  const callsBefore = await backend.calls();
  const cpuBefore = child?.cpuMs();
  const startMs = performance.now();
  const answer = await generator.do(
    row.load.calls === undefined
      ? { op: "run", path, ...row.load, durationMs: ms }
      : { op: "run", path, ...row.load },
  );
  const wallMs = performance.now() - startMs;
  const cpuAfter = child?.cpuMs();
  const backendCalls = await backend.calls() - callsBefore;
  const rssMib = child?.rssMib();
  await generator.do({ op: "close" });
  const cpuMs = cpuBefore === undefined || cpuAfter === undefined
    ? undefined
    : cpuAfter - cpuBefore;
  return {
    ...answer,
    perSecond: answer.calls / answer.elapsedMs * 1_000,
    backendCalls,
    callsPerRequest: backendCalls / Math.max(1, answer.calls),
    cpuUs: cpuMs === undefined ? undefined : cpuMs * 1_000 / Math.max(1, answer.calls),
    millicores: cpuMs === undefined ? undefined : cpuMs / wallMs * 1_000,
    rssMib,
  };
}

async function warmUp(
  { load }: Row,
  { generator, path, ms }: { generator: Generator; path: string; ms: number },
): Promise<void> {
  if (load.calls === undefined) {
    await generator.do({ op: "run", path, ...load, durationMs: ms * WARM_UP_SHARE });
  } else {
    await generator.do({ op: "run", path, ...load });
    await new Promise((resume) => setTimeout(resume, FORGET_MS));
  }
}

/** What is wrong with a sample, so that its figures mean something else than they say; "" when nothing is. */
export function faultOf(row: Row, sample: Sample): string {
  const [least, most] = row.callsPerRequest;
  if (sample.failed > 0) {
    return `${row.name}: ${sample.failed} calls failed: ${sample.message}`;
  }
  if (sample.callsPerRequest < least || sample.callsPerRequest > most) {
    return `${row.name}: ${sample.backendCalls} backend calls for ${sample.calls} requests: ` +
      `another path was taken`;
  }
  return "";
}
