import type { CollapserPolicy, NamedPolicy } from "../../../lib/downstream/mod.ts";
import { SETTING } from "../../../lib/wire/mod.ts";
import { WIDE } from "../../support/peer_end.ts";
import type { RigOptions } from "../../support/proxy_rig.ts";
import { Draws } from "../draws.ts";
import { entriesOf, type Hosts } from "./hosts.ts";

/** What is usual most of the time, so that calls get far, and one thing or another that is not. */
export function randomOptions(draws: Draws, hosts: Hosts): RigOptions {
  const seldom = <T>(usual: T, ...others: readonly T[]): T =>
    draws.chance(0.2) ? draws.pick(others) : usual;
  return {
    seed: draws.below(1_000) + 1,
    backends: entriesOf(hosts),
    backendKind: hosts.kind,
    backendRouting: hosts.routing,
    backendConnections: seldom(1, 2, 3),
    backendOutlierDetection: seldom(true, false),
    backendAdaptiveConcurrency: seldom(false, true),
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
    methods: seldom(["auto"], ["*"], ["/test.Service/GetItem"], ["schema"], [
      "auto",
      "!/test.Service/ListItems",
    ]),
    asksDescriptors: draws.chance(0.4),
    policies: draws.chance(0.3) ? randomPolicies(draws) : [],
    keyHeaders: seldom(undefined, ["authorization"]),
    mode: draws.chance(0.03) ? "off" : "collapse",
    joinMaxAgeMs: seldom(10_000, 20),
    maxFollowers: seldom(100_000, 1),
    maxMessageBytes: seldom(4 * 2 ** 20, 2_000),
  };
}

/** The options that are not the usual ones, in words. */
export function unusual(options: RigOptions, hosts: Hosts): string {
  const usual: Readonly<Record<string, unknown>> = { ...randomOptions(new Draws([]), hosts) };
  const told = Object.entries(options).filter(([name, value]) =>
    JSON.stringify(value) !== JSON.stringify(usual[name])
  );
  return `options ${JSON.stringify(Object.fromEntries(told))}`;
}

/** What a policy file may say, each name in one entry. */
export function randomPolicies(draws: Draws): readonly NamedPolicy[] {
  const names = [
    { service: "test.Service", method: "GetItem" },
    { service: "test.Service", method: "ListItems" },
    { service: "test.Service", method: "PutItem" },
    { service: "test.Service", method: "" },
    { service: "", method: "" },
  ];
  return names.filter(() => draws.chance(0.4)).map((name) => ({
    ...name,
    ...draws.pick([{}, { maxConcurrent: 1 }, { maxConcurrent: 3 }]),
    ...draws.pick([{}, { collapser: randomSettings(draws) }]),
  }));
}

function randomSettings(draws: Draws): CollapserPolicy {
  return {
    ...draws.pick([{}, { collapse: true }, { collapse: false }]),
    ...draws.pick([{}, { cacheDurationMs: 0 }, { cacheDurationMs: 1_000 }]),
  };
}
