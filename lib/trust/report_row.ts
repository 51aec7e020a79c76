import type { Compared, MethodSummary } from "./report_record.ts";

/** Calls and time of a method below which nothing is recommended. */
const MIN_CALLS = 1_000;
const MIN_COVERED_MS = 3_600_000;

/** Share of calls saved below which a method is not worth a setting. */
const MIN_SHARE = 0.05;

/** A longer result time is worth it only where it saves so many more calls; results get older by it. */
const TTL_GAIN = 0.1;

/** Comparisons below which their unstable share says nothing, and the share above which answers belong to a moment. */
const MIN_COMPARED = 50;
const MAX_UNSTABLE = 0.05;

/** Names that say who asks: to ignore one is never recommended, whatever it would save. */
const IDENTITY =
  /authori[sz]ation|cookie|token|secret|api-?key|user|tenant|account|session|org|subject|principal/;

/** What a row needs beside the numbers. */
export interface MethodSetting {
  /** `off`, `shadow`, `verify` or `collapse`, as it is in force. */
  readonly mode: string;
  /** How long results are kept, in ms. */
  readonly ttlMs: number;
}

/** A method in /api/report (INTERFACE: Trust). */
export interface ReportRow {
  readonly method: string;
  readonly mode: string;
  readonly calls: number;
  readonly wouldHit: number;
  readonly wouldJoin: number;
  /** Share of calls saved as configured, 0 to 1. */
  readonly share: number;
  readonly savedCallsPerS: number;
  /** Seconds of backend time saved each second. */
  readonly savedSecondsPerS: number;
  /** Mean time a caller waits, and would. */
  readonly waitNowMs: number;
  readonly waitThenMs: number;
  /** Different keys, and most calls with one answer; null where only shadow would know. */
  readonly keys: number | null;
  readonly largestGroup: number | null;
  readonly compared: Readonly<Compared>;
  /** Names that alone keep equal calls apart, most saving first. */
  readonly keptApartBy: readonly string[];
  /** Share of calls saved with results kept so long. */
  readonly ttl: Readonly<Record<"0" | "1s" | "10s", number | null>> & {
    readonly configured: number;
  };
  /** `too early`, `collapse`, `collapse with ttl`, `ignore NAME` or `leave`. */
  readonly recommendation: string;
  /** The policy to paste; undefined while it is too early, and for what is no single method. */
  readonly policy: unknown;
}

/** A method's row. Rates are over the time since its first call that is remembered, a second at least. */
export function reportRow(
  method: string,
  summary: MethodSummary,
  setting: MethodSetting,
): ReportRow {
  const { calls, wouldHit, wouldJoin, keys, largestGroup, compared } = summary;
  const of = (count: number) => calls === 0 ? 0 : count / calls;
  const seconds = Math.max(1, summary.coveredMs / 1_000);
  const saved = wouldHit + wouldJoin;
  const wouldBe = (count: number) => summary.rehearsed === 0 ? null : count / summary.rehearsed;
  const ttl = {
    "0": wouldBe(summary.savedInFlight),
    configured: of(saved),
    "1s": wouldBe(summary.savedAt1s),
    "10s": wouldBe(summary.savedAt10s),
  };
  const advice = advise(summary, ttl, setting);
  return {
    method,
    mode: setting.mode,
    calls,
    wouldHit,
    wouldJoin,
    share: ttl.configured,
    savedCallsPerS: saved / seconds,
    savedSecondsPerS: summary.savedMs / 1_000 / seconds,
    waitNowMs: of(summary.waitNowMs),
    waitThenMs: of(summary.waitThenMs),
    keys: keys === 0 ? null : keys,
    largestGroup: largestGroup === 0 ? null : largestGroup,
    compared,
    keptApartBy: summary.keptApartBy.map(([name]) => name),
    ttl,
    recommendation: advice.recommendation,
    policy: advice.settings === undefined ? undefined : policyOf(method, advice.settings),
  };
}

interface Advice {
  readonly recommendation: string;
  readonly settings?: Readonly<Record<string, unknown>>;
}

function advise(summary: MethodSummary, ttl: ReportRow["ttl"], setting: MethodSetting): Advice {
  const { calls, coveredMs, compared, keptApartBy } = summary;
  if (calls < MIN_CALLS || coveredMs < MIN_COVERED_MS) return { recommendation: "too early" };
  const leave = { recommendation: "leave", settings: { mode: "off" } };
  if (compared.mismatch > 0 || isUnstable(compared)) return leave;
  // One step at a time: what shadow recommends is verified before it is trusted.
  const mode = setting.mode === "shadow" || setting.mode === "off" ? "verify" : "collapse";
  const longer = longerTtl(ttl, setting.ttlMs);
  if (longer !== undefined) {
    return { recommendation: "collapse with ttl", settings: { mode, ttl: longer } };
  }
  if (ttl.configured >= MIN_SHARE) return { recommendation: "collapse", settings: { mode } };
  const splits = keptApartBy.find(([name, saves]) =>
    saves / calls >= MIN_SHARE && !IDENTITY.test(name)
  );
  if (splits === undefined) return leave;
  // Whether answers depend on the name is what shadow is to find out.
  const settings = { mode: "shadow", ignoreHeaders: [splits[0]] };
  return { recommendation: `ignore ${splits[0]}`, settings };
}

/** The shortest time that is longer than the one in force and saves much more; undefined when none does. */
function longerTtl(ttl: ReportRow["ttl"], configuredMs: number): "1s" | "10s" | undefined {
  const { "1s": at1s, "10s": at10s } = ttl;
  if (at1s === null || at10s === null) return undefined;
  const isWorthIt = (share: number) => share >= MIN_SHARE && share - ttl.configured >= TTL_GAIN;
  if (configuredMs < 1_000 && isWorthIt(at1s) && at10s - at1s < TTL_GAIN) return "1s";
  return configuredMs < 10_000 && isWorthIt(at10s) ? "10s" : undefined;
}

function isUnstable(compared: Readonly<Compared>): boolean {
  const all = Object.values(compared).reduce((sum, count) => sum + count, 0);
  return all >= MIN_COMPARED && compared.unstable / all > MAX_UNSTABLE;
}

function policyOf(path: string, settings: Readonly<Record<string, unknown>>): unknown {
  const [, service, method] = path.split("/");
  if (method === undefined) return undefined;
  return { methodConfig: [{ name: [{ service, method }], collapser: settings }] };
}
