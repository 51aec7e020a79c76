import { SETTING } from "../../../lib/wire/mod.ts";
import { WIDE } from "../../support/peer_end.ts";
import type { RigOptions } from "../../support/proxy_rig.ts";
import type { Draws } from "../draws.ts";

/** What is usual most of the time, so that calls get far, and one thing or another that is not. */
export function randomOptions(draws: Draws): RigOptions {
  const seldom = <T>(usual: T, ...others: readonly T[]): T =>
    draws.chance(0.2) ? draws.pick(others) : usual;
  return {
    seed: draws.below(1_000) + 1,
    dialling: seldom("accepts", "refuses", "hangs"),
    backendSettings: seldom<RigOptions["backendSettings"] & object>(
      WIDE,
      [...WIDE, [SETTING.maxConcurrentStreams, draws.between(1, 4)]],
      [[SETTING.initialWindowSize, 2_000]],
      [...WIDE, [SETTING.maxHeaderListSize, draws.pick([100, 1_000])]],
    ),
    backendTimeoutMs: seldom(10_000, 300),
    backendConnectTimeoutMs: seldom(5_000, 100),
    backendMaxConcurrent: seldom(1_024, 1, 3),
    backendMaxPending: seldom(10_000, 0, 2),
    cacheDurationMs: draws.pick([100, 0, 5_000]),
    cacheErrors: draws.chance(0.2),
    maxCacheEntries: seldom(10_000, 1, 3),
    maxCacheBytes: seldom(64 * 2 ** 20, 300),
    invalidate: draws.pick(["service", "off"]),
    methods: seldom(["auto"], ["*"], ["/test.Service/GetItem"], [
      "auto",
      "!/test.Service/ListItems",
    ]),
    keyHeaders: seldom(undefined, ["authorization"]),
    mode: draws.chance(0.03) ? "off" : "collapse",
    joinMaxAgeMs: seldom(10_000, 20),
    maxFollowers: seldom(100_000, 1),
    maxMessageBytes: seldom(4 * 2 ** 20, 2_000),
  };
}
