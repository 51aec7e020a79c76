import { showShare, showTime } from "../report/mod.ts";

/** Advice on what to do with a proxy. */
export type Advice = "keep" | "shrink" | "go direct";

export interface Verdict {
  readonly advice: Advice;
  /** The reasons, in sentences. */
  readonly why: string;
  /** The share of calls answered without the backend from which on the proxy pays. */
  readonly breakEven: { readonly time: BreakEven; readonly cpu: BreakEven };
}

/** A share of calls from 0 to 1, or that there is none, or why nobody can tell. */
export type BreakEven = number | "never" | "too close to call" | "not measured";

/** The facts that the rule looks at, all of a typical call, at a rate at which none waits for others. */
export interface VerdictFacts {
  /** Time that a call takes longer that goes through to the backend. */
  readonly addedMs: number;
  /**
   * Time that a repeat takes less than a direct call; null when that cannot be told from noise, undefined when it was
   * not measured.
   */
  readonly repeatGainMs: number | null | undefined;
  /** Share of the repeats that needed no backend call; undefined where nobody could tell. */
  readonly repeatsSaved: number | undefined;
  /** Share of the proxy's own callers' calls that needed none; undefined where it does not say. */
  readonly callersSaved: number | undefined;
  /** CPU time of a call that goes through, and of one that does not; undefined where it was not measured. */
  readonly proxyCpuMs: number | undefined;
  readonly repeatCpuMs: number | undefined;
  /** CPU time of a call at the backend. */
  readonly backendCpuMs: number | undefined;
}

/**
 * The rule. A proxy that answers nothing itself is all cost: go direct; and so is one that could answer every call and
 * would still cost more, in time and in CPU, than it saves. Any other pays from a share of calls that it answers
 * itself. Where its callers' share is known and is enough, in time and in CPU as far as both were measured: keep. Where
 * it is too small, or nobody knows it: shrink, that is, send it only what repeats.
 */
export function verdictOf(facts: VerdictFacts): Verdict {
  const time = timeBreakEven(facts);
  const cpu = cpuBreakEven(facts);
  const [advice, why] = decide(facts, { time, cpu });
  return { advice, why, breakEven: { time, cpu } };
}

function decide(
  facts: VerdictFacts,
  { time, cpu }: { time: BreakEven; cpu: BreakEven },
): [advice: Advice, why: string] {
  const { callersSaved, repeatsSaved } = facts;
  const saves = (callersSaved ?? 0) > 0 || (repeatsSaved ?? 0) > 0;
  if (!saves) return ["go direct", nothingSaved(facts)];
  const terms = `Of the calls so many must need no backend call before it pays: in time ${
    share(time, "never, for a repeat is no faster than a direct call")
  }, in CPU ${share(cpu, "never, for a call costs it more than it costs the backend")}`;
  if (time === "never" && cpu === "never") {
    return ["go direct", `${terms}.`];
  }
  if (callersSaved === undefined) {
    return [
      "shrink",
      `${terms}. How many of its callers' calls of this method do is not known (a collapser's --metrics ` +
      "tell it, once it has had 1,000): send it the methods whose calls repeat, the rest direct.",
    ];
  }
  const theirs = `${terms}. Of its callers' calls of this method ${
    showShare(callersSaved, 1)
  } needed none so far`;
  const known = [time, cpu].filter((from) => typeof from === "number" || from === "never");
  const pays = known.length > 0 &&
    known.every((from) => from !== "never" && callersSaved >= from);
  return pays
    ? ["keep", `${theirs}.`]
    : ["shrink", `${theirs}: send it only the methods that repeat, or keep results longer.`];
}

function timeBreakEven({ addedMs, repeatGainMs }: VerdictFacts): BreakEven {
  if (repeatGainMs === undefined) return "not measured";
  return repeatGainMs === null ? "too close to call" : breakEven(addedMs, repeatGainMs);
}

/** A repeat whose CPU was not told apart counts as much as any call, which is too dear. */
function cpuBreakEven(
  { proxyCpuMs, repeatCpuMs = proxyCpuMs, backendCpuMs }: VerdictFacts,
): BreakEven {
  if (proxyCpuMs === undefined || repeatCpuMs === undefined || backendCpuMs === undefined) {
    return "not measured";
  }
  return breakEven(proxyCpuMs, backendCpuMs - repeatCpuMs);
}

/** The share s at which s times the gain of a repeat is (1 - s) times the cost of any other call. */
function breakEven(cost: number, gain: number): BreakEven {
  if (cost <= 0) return 0;
  return gain <= 0 ? "never" : cost / (cost + gain);
}

function share(from: BreakEven, never: string): string {
  if (from === "never") return never;
  return typeof from === "number" ? showShare(from, 1) : from;
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
