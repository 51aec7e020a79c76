import { healthRequest, healthStatus, STATUS, statusName } from "../../grpc/mod.ts";
import { askHttp, type HttpAnswer } from "../../http/mod.ts";
import type { Address } from "../../transport/mod.ts";
import { type Client, openClient, type Reply } from "./client.ts";

const CHECK_PATH = "/grpc.health.v1.Health/Check";

/** HealthCheckResponse.ServingStatus, as words. */
const SERVING = 1;
const STATES = ["unknown", "serving", "not serving", "service unknown"];

/** Characters of an HTTP answer that are shown: a readiness page says why in its first line. */
const MAX_DETAIL_CHARS = 200;

const HTTP_OK = 200;

/** The service to ask, and over what. */
export type ProbeTarget =
  | { readonly over: "grpc"; readonly address: Address; readonly service: string }
  | { readonly over: "http"; readonly url: string };

export interface ProbeResult {
  readonly healthy: boolean;
  /** The answer in words, or why there was none. */
  readonly detail: string;
}

/**
 * Asks once whether a service is healthy: over grpc.health.v1, where only SERVING is, or with an HTTP GET, where only
 * 200 is. Takes at most `timeoutMs`, and never rejects.
 */
export async function probe(
  target: ProbeTarget,
  { timeoutMs }: { timeoutMs: number },
): Promise<ProbeResult> {
  try {
    return target.over === "grpc"
      ? await probeGrpc(target, timeoutMs)
      : await probeHttp(target.url, timeoutMs);
  } catch (error) {
    return { healthy: false, detail: error instanceof Error ? error.message : String(error) };
  }
}

async function probeGrpc(
  { address, service }: { address: Address; service: string },
  timeoutMs: number,
): Promise<ProbeResult> {
  const startMs = performance.now();
  const client = await openClient(address, { connectTimeoutMs: timeoutMs });
  try {
    const leftMs = Math.max(1, timeoutMs - (performance.now() - startMs));
    return verdict(await checkWithin(client, service, leftMs), { service, timeoutMs });
  } finally {
    await client.close();
  }
}

/** Asks once; undefined when no reply came in time: our own limit, which the other side may not know of. */
async function checkWithin(
  client: Client,
  service: string,
  leftMs: number,
): Promise<Reply | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(resolve, leftMs, undefined);
  try {
    const message = healthRequest(service);
    return await Promise.race([
      client.callOnce({ path: CHECK_PATH, message, deadlineMs: leftMs }),
      late,
    ]);
  } finally {
    clearTimeout(timer);
  }
}

function verdict(
  reply: Reply | undefined,
  { service, timeoutMs }: { service: string; timeoutMs: number },
): ProbeResult {
  if (reply === undefined) return { healthy: false, detail: `no answer within ${timeoutMs} ms` };
  if (reply.status === STATUS.notFound) {
    return { healthy: false, detail: `it does not know the service "${service}"` };
  }
  if (reply.status !== STATUS.ok) {
    return { healthy: false, detail: `${statusName(reply.status)}: ${reply.message}` };
  }
  const state = healthStatus(reply.body);
  if (state === undefined) return { healthy: false, detail: "its answer cannot be read" };
  return { healthy: state === SERVING, detail: STATES[state] ?? `state ${state}` };
}

async function probeHttp(url: string, timeoutMs: number): Promise<ProbeResult> {
  const { status, text } = await httpGet(new URL(url), { timeoutMs });
  const detail = text.trim().split("\n")[0]!.slice(0, MAX_DETAIL_CHARS);
  const said = detail === "" ? "" : `: ${detail}`;
  return { healthy: status === HTTP_OK, detail: `HTTP ${status}${said}` };
}

/** By a connection of its own, past every proxy, where that can be: a probe asks the machine that it names. */
export async function httpGet(
  url: URL,
  { timeoutMs, maxBytes }: { timeoutMs: number; maxBytes?: number },
): Promise<HttpAnswer> {
  if (url.protocol === "http:") {
    return await askHttp(url, { timeoutMs, ...(maxBytes !== undefined && { maxBytes }) });
  }
  const given = new AbortController();
  const timer = setTimeout(
    () => given.abort(new Error(`no answer within ${timeoutMs} ms`)),
    timeoutMs,
  );
  try {
    const answer = await fetch(url, { signal: given.signal, redirect: "manual" });
    return { status: answer.status, text: await answer.text() };
  } finally {
    clearTimeout(timer);
  }
}
