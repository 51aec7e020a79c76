import { cautions, describeMethods, describeSettings } from "../config/mod.ts";
import { policyOf } from "./policy.ts";
import type { AdminSources } from "./sources.ts";
import { judgementOf } from "./status.ts";

/** The configuration in force, its secrets masked: what was set and by what, and what came of it for each method. */
export function configurationOf(sources: AdminSources): Record<string, unknown> {
  const { configuration, proxy, version, commit, adminToken } = sources;
  const { settings, origins, warnings } = configuration;
  return {
    version,
    commit,
    deno: Deno.version.deno,
    canPurge: adminToken() !== undefined,
    settings: describeSettings(settings).map(({ name, group, value }) => ({
      ...{ name, group, value },
      origin: origins.get(name) ?? null,
    })),
    warnings: [...warnings, ...cautions(settings)],
    policy: policyOf(sources),
    rule: describeMethods(settings),
    methods: proxy.inspection.methods().map(judgementOf),
  };
}
