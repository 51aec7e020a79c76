import type { Bench } from "./desk.ts";

/** How the sidecar is set: not at all, or to collapse every method. */
export type Mode = "default" | "star";

/** What the sidecar's environment has in each mode. */
export const MODES: Readonly<Record<Mode, Readonly<Record<string, string>>>> = {
  default: {},
  star: { COLLAPSER_METHODS: "*" },
};

/** Runs what is wanted of a suite in one mode, and says what came of each case. */
export type RunMode = (bench: Bench) => Promise<void>;

/** Cases that need the same programs. */
export interface Suite {
  readonly name: string;
  /** All its cases in a mode. Each of them must be judged when it is wanted. */
  cases(mode: Mode): readonly string[];
  /** Finds and builds what it needs. Throws {@linkcode Unavailable} where that cannot be had on this machine. */
  prepare(): Promise<RunMode>;
}

/** What a suite needs is not on this machine and cannot be fetched: its cases are skipped, with this reason. */
export class Unavailable extends Error {}
