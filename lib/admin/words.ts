import type { BackendReport } from "../upstream/mod.ts";
import type { Sample } from "./history.ts";
import type { Stall } from "./stall.ts";

/** Above this share of calls that end in trouble, the sidecar is not called healthy, whoever's fault it is. */
const TROUBLED_SHARE = 0.05;

export interface Health {
  readonly state: "healthy" | "degraded" | "stalled" | "down" | "ending";
  /** How the sidecar is, in a sentence. */
  readonly words: string;
}

/** How the sidecar is, in words: what a person asks first. */
export function healthOf(
  backends: readonly BackendReport[],
  { ready, reason, last, stall }: {
    ready: boolean;
    reason: string;
    last: Sample | undefined;
    stall?: Stall | undefined;
  },
): Health {
  if (!ready && reason === "shutting down") return { state: "ending", words: "Shutting down" };
  if (!ready) return { state: "down", words: `Down: ${reason}` };
  if (stall !== undefined) return { state: "stalled", words: wordsOfStall(stall) };
  const unwell = backends.filter((backend) => troubleOf(backend) !== "");
  const count = backends.length;
  const reach = count === 1
    ? "the backend is reachable"
    : `${count - unwell.length} of ${count} backends take calls`;
  const [first] = unwell;
  if (first !== undefined) {
    return { state: "degraded", words: `Degraded: ${reach}; ${troubleOf(first)}` };
  }
  const share = last === undefined ? 0 : last.failed / Math.max(callsOf(last), 1e-9);
  if (share >= TROUBLED_SHARE) {
    const words = `Degraded: ${percent(share)} of calls fail; ${reach}`;
    return { state: "degraded", words };
  }
  return { state: "healthy", words: `Healthy: ${reach}` };
}

/** What is saved now, in a sentence. */
export function savingOf(last: Sample | undefined): string {
  if (last === undefined) return "No calls yet";
  const calls = callsOf(last);
  const { good, saved } = last;
  if (calls === 0) return "No calls in the last seconds";
  if (good === 0) return `${quantity(calls)} calls/s, and no good answers`;
  return `${quantity(good)} good answers/s, ${quantity(saved)} of them without a backend call: ` +
    `${percent(saved / good)} saved`;
}

function wordsOfStall({ name, calls, forS, usualMs }: Stall): string {
  const usual = usualMs === undefined
    ? ""
    : `; the slowest in a hundred took ${quantity(usualMs)} ms before`;
  const wait = calls === 1 ? "1 call waits" : `${quantity(calls)} calls wait`;
  return `Stalled: ${wait} at ${name}, and none was answered for ${forS} s${usual}`;
}

function troubleOf({ counters: { name }, trouble, standing, why }: BackendReport): string {
  if (trouble !== "") return `${name} cannot be reached: ${trouble}`;
  if (standing === "ejected") return `${name} is left out: ${why}`;
  return standing === "half-open" ? `${name} is being tried again: ${why}` : "";
}

function callsOf({ calls }: Sample): number {
  return Object.values(calls).reduce((sum, rate) => sum + rate, 0);
}

/** A share in percent, rounded down: what is nearly all is not all. */
function percent(share: number): string {
  return `${Math.floor(share * 1_000) / 10} %`;
}

function quantity(value: number): string {
  return value.toLocaleString("en-US", { maximumFractionDigits: value < 10 ? 1 : 0 });
}
