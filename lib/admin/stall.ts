import type { Sample } from "./history.ts";

/** Samples over which rates are: one without an answer says so of as many seconds. */
const WINDOW_S = 5;

/** Times that the slowest in a hundred usually take, after which silence is longer than usual. */
const USUAL_TIMES = 3;

/** Silence that is long whatever was usual, where nothing is known of that. */
const LONG_S = 10;

/** A backend that has calls, and has answered none of them for longer than usual. */
export interface Stall {
  readonly name: string;
  readonly calls: number;
  readonly forS: number;
  /** What the slowest in a hundred took before; undefined where none was answered. */
  readonly usualMs: number | undefined;
}

/** The backend that is silent for longest; undefined where none is for longer than usual. `samples` are a second apart. */
export function stallOf(samples: readonly Sample[]): Stall | undefined {
  const stalls = (samples.at(-1)?.backends ?? [])
    .map(({ name }) => silenceOf(name, samples))
    .filter((stall) => stall !== undefined)
    .sort((a, b) => b.forS - a.forS);
  return stalls[0];
}

function silenceOf(name: string, samples: readonly Sample[]): Stall | undefined {
  const of = samples.map(({ backends }) => backends.find((one) => one.name === name));
  const lastWord = of.findLastIndex((one) => one === undefined || !isSilent(one));
  const silent = of.length - 1 - lastWord;
  if (silent === 0) return undefined;
  const usual = of.slice(0, lastWord + 1).map((one) => one?.p99Ms ?? 0);
  const usualMs = Math.max(0, ...usual) || undefined;
  const calls = of.at(-1)!.inflight;
  const forS = silent + WINDOW_S - 1;
  const longS = usualMs === undefined ? LONG_S : Math.max(WINDOW_S, USUAL_TIMES * usualMs / 1_000);
  return forS > longS ? { name, calls, forS, usualMs } : undefined;
}

function isSilent({ inflight, calls }: { inflight: number; calls: number }): boolean {
  return inflight > 0 && calls === 0;
}
