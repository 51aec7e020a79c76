import { type CommonSettings, SettingsCompiler } from "../../lib/downstream/mod.ts";
import type { Freshness } from "../../lib/freshness/mod.ts";

/** Nothing is kept, and nothing is private for longer than its flight. */
export const NOTHING_KEPT: Freshness = {
  cacheDurationMs: 0,
  staleDurationMs: 0,
  staleIfErrorMs: 0,
  ttlJitter: 0,
  hitForPassMs: 0,
  cacheErrors: false,
};

/** What holds for all methods, in tests that need no more than that something does. */
export const PLAIN_SETTINGS: CommonSettings = {
  ...NOTHING_KEPT,
  joinMaxAgeMs: 10_000,
  maxFollowers: 100,
  keyHeaders: undefined,
  ignoreHeaders: [],
  mode: "collapse",
  maxMessageBytes: 4 * 2 ** 20,
  invalidate: "service",
  verifyRatio: 0.01,
};

/** A compiler of {@linkcode PLAIN_SETTINGS}, some of them replaced. */
export function plainSettings(others: Partial<CommonSettings> = {}): SettingsCompiler {
  return new SettingsCompiler({ ...PLAIN_SETTINGS, ...others });
}
