import { showShare, showTime } from "../format.ts";

/** What to do with a proxy. */
export type Advice = "keep" | "shrink" | "go direct";

export interface Verdict {
  readonly advice: Advice;
  /** Why, in sentences. */
  readonly why: string;
  /** The share of calls that must need no backend call before it pays in time, and in CPU; null where it never does. */
  readonly breakEven: { readonly time: number | null; readonly cpu: number | null };
}

/** What the rule looks at. */
export interface VerdictFacts {
  /** What it adds to a call that goes through to the backend, on average, at the lowest rate. */
  readonly addedMs: number;
  /** How long a direct call takes, on average. */
  readonly directMs: number;
  /** How long a repeat takes through the proxy, on average; undefined when repeats were not measured. */
  readonly repeatMs: number | undefined;
  /** Share of the repeats that needed no backend call; undefined where nobody could tell. */
  readonly repeatsSaved: number | undefined;
  /** Share of its own callers' calls that needed none; undefined where it does not say. */
  readonly callersSaved: number | undefined;
  /** CPU time of a call at the proxy and at the backend; undefined where it was not measured. */
  readonly proxyCpuMs: number | undefined;
  readonly backendCpuMs: number | undefined;
}

/**
 * The rule. A proxy that answers nothing itself is all cost: go direct. One that does pays for itself when it saves
 * the backend more than it costs, in time and, where both were measured, in CPU; whether it does hangs on the share of
 * calls that it answers itself. Where its callers' share is known and is enough: keep. Where it is too small, or
 * nobody knows it: shrink, that is, send it only what repeats.
 */
export function verdictOf(facts: VerdictFacts): Verdict {
  const breakEven = { time: timeBreakEven(facts), cpu: cpuBreakEven(facts) };
  const { callersSaved, repeatsSaved } = facts;
  const saves = (callersSaved ?? 0) > 0 || (repeatsSaved ?? 0) > 0;
  if (!saves) return { advice: "go direct", why: nothingSaved(facts), breakEven };
  const costsCpu = facts.proxyCpuMs !== undefined && facts.backendCpuMs !== undefined;
  const needed = costsCpu ? hardest(breakEven.time, breakEven.cpu) : breakEven.time;
  const terms = needed === null
    ? "However many calls it answers itself, it does not make up for what it costs the others"
    : `It pays once ${percent(needed)} of the calls need no backend call${
      costsCpu ? ", in time and in CPU" : " (in time; the CPU of both was not measured)"
    }`;
  if (callersSaved === undefined) {
    const whose = "How many of your callers' do is not known (--metrics tells it for a collapser)";
    return {
      advice: "shrink",
      why: `${terms}. ${whose}: send it the methods whose calls repeat, the rest direct.`,
      breakEven,
    };
  }
  const share = `of its callers' calls ${percent(callersSaved)} needed none so far`;
  if (needed !== null && callersSaved >= needed) {
    return { advice: "keep", why: `${terms}; ${share}.`, breakEven };
  }
  return {
    advice: "shrink",
    why: `${terms}; ${share}: send it only the methods that repeat, or keep results longer.`,
    breakEven,
  };
}

/** The share s with s (direct - repeat) = (1 - s) added; null when even a repeat is slower than a direct call. */
function timeBreakEven({ addedMs, directMs, repeatMs }: VerdictFacts): number | null {
  const gainMs = directMs - (repeatMs ?? directMs);
  if (addedMs <= 0) return 0;
  return gainMs <= 0 ? null : addedMs / (addedMs + gainMs);
}

/** As if a call that it answers itself cost the proxy as much as one that goes through, which is too dear. */
function cpuBreakEven({ proxyCpuMs, backendCpuMs }: VerdictFacts): number | null {
  if (proxyCpuMs === undefined || backendCpuMs === undefined || backendCpuMs <= 0) return null;
  const share = Math.max(0, proxyCpuMs) / backendCpuMs;
  return share > 1 ? null : share;
}

function hardest(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : Math.max(one, other);
}

function nothingSaved({ addedMs, repeatsSaved, callersSaved }: VerdictFacts): string {
  const known = repeatsSaved !== undefined || callersSaved !== undefined;
  const cost = addedMs > 0 ? `each call waits ${showTime(addedMs)} longer` : "it adds no time";
  const found = known
    ? "It answered no call itself"
    : "Nothing says that it answered a call itself";
  return `${found}, and ${cost}. Keep it only for what is not measured here: TLS, ` +
    "authentication, retries, a wall around a slow backend.";
}

function percent(share: number): string {
  return showShare(share, 1);
}
